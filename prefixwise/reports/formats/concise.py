"""`concise`: one line a finding, for editors, `grep` and long lists: `path#N: level rule: message`."""

from __future__ import annotations

from collections.abc import Iterator

from prefixwise.core.excerpt import visible
from prefixwise.core.finding import Finding, Level
from prefixwise.core.report import Findings, Report, Table, Text
from prefixwise.reports.finding_words import tally
from prefixwise.reports.format import FORMATS, Format

_STYLES = {Level.ERROR: "1;31", Level.WARNING: "33", Level.INFO: "36"}


def render(report: Report, *, width: int | None = None, colour: bool = False) -> str:
    """Return a line a finding, and how many there are; of a report without findings, its title and its prose.

    Lines are not wrapped: whoever takes them apart needs them whole.
    """
    del width
    blocks = [block for block in report.blocks if isinstance(block, Findings)]
    findings = [finding for block in blocks for finding in block.findings]
    counted = [*_statistics(report), tally(findings)]
    lines = [*(_line(finding, colour) for finding in findings), *counted] if blocks else list(_prose(report))
    return "".join(f"{line}\n" for line in lines)


def _line(finding: Finding, colour: bool) -> str:
    level = f"\x1b[{_STYLES[finding.level]}m{finding.level}\x1b[0m" if colour else finding.level
    # With its colon, for a file called `:` would make the line a command to a CI runner.
    place = visible(f"{finding.place}: ") if finding.place else ""
    return f"{place}{level} {visible(finding.rule)}: {visible(finding.message)}"


def _statistics(report: Report) -> Iterator[str]:
    """Yield how often each rule found something, where that was asked for."""
    for block in report.blocks:
        if isinstance(block, Table) and block.name == "statistics":
            yield from (
                f"{count:,} {visible(str(rule))} ({visible(str(code))})" for rule, code, count, *_ in block.rows
            )


def _prose(report: Report) -> Iterator[str]:
    yield visible(report.title)
    for block in report.blocks:
        if isinstance(block, Text):
            yield from map(visible, block.lines)


FORMATS.add("concise", Format("concise", "text/plain", ".concise.txt", render, carries_notes=False))
