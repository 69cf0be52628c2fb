"""`github`: workflow commands that annotate the lines of a pull request."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from prefixwise.core.excerpt import UNSAFE, escaped, visible
from prefixwise.core.finding import Finding, Level
from prefixwise.core.report import Report
from prefixwise.reports import finding_words as words
from prefixwise.reports.finding_places import place_of
from prefixwise.reports.format import FORMATS, Format

SHOWN = 10
"""Annotations of one level that GitHub shows of a step."""
_COMMANDS = {Level.ERROR: "error", Level.WARNING: "warning", Level.INFO: "notice"}
_MARK = re.compile(r"##(?=\w*\[)")
_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = _DATA | str.maketrans({":": "%3A", ",": "%2C"})


def render(report: Report, **_layout: object) -> str:
    """Return a command a finding, the worst first, then one line that says how many there are.

    GitHub shows the first ten of each level; all of them stand in the step's log.
    """
    found = sorted(report.findings, key=lambda finding: finding.severity.rank)
    unmet = [requirement for requirement in report.requirements if not requirement.met]
    lines = [f"::error title=requirement {one.state}::{_data(visible(one.expression))}" for one in unmet]
    lines += map(_command, found)
    return "".join(f"{line}\n" for line in (*lines, _summary(found, len(unmet))))


def _command(finding: Finding) -> str:
    properties = ",".join(f"{name}={_property(value)}" for name, value in _properties(finding))
    return f"::{_COMMANDS[finding.level]} {properties}::{_data(words.plain(finding))}"


def _properties(finding: Finding) -> Iterator[tuple[str, str]]:
    """Yield file, place and title; columns only inside one line, for others GitHub does not take."""
    place = place_of(finding)
    if place.path:
        yield "file", place.path
    if place.line is not None:
        yield "line", str(place.line)
        if place.column is not None and place.end_line == place.line:
            yield "col", str(place.column)
        if place.end_line is not None:
            yield "endLine", str(place.end_line)
        if place.end_column is not None and place.end_line == place.line:
            yield "endColumn", str(place.end_column)
    yield "title", words.named(finding)


def _data(text: str) -> str:
    """Return a message of several lines that are visible each."""
    return text.translate(_DATA)


def _property(value: str) -> str:
    """Return a value as the runner reads it back, but for what must not get into a log."""
    safe = UNSAFE.sub(lambda match: match[0] if match[0] in "\r\n" else escaped(match[0]), value)
    return _MARK.sub(r"#\\x23", safe).translate(_PROPERTY)


def _summary(found: list[Finding], unmet: int) -> str:
    counts = Counter(finding.level for finding in found)
    counts[Level.ERROR] += unmet
    more = any(count > SHOWN for count in counts.values())
    failed = f"{unmet} requirement{'' if unmet == 1 else 's'} not met, " if unmet else ""
    return f"{failed}{words.tally(found)}{f'; GitHub shows the first {SHOWN} of each level' if more else ''}"


FORMATS.add("github", Format("github", "text/plain", ".github.txt", render, carries_notes=False))
