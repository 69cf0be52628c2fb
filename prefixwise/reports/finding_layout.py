"""Findings on a terminal: a header, what is wrong, and under it what differs, where, why and how to mend it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from prefixwise.core.excerpt import visible
from prefixwise.core.finding import Finding, Level
from prefixwise.reports import finding_words as words
from prefixwise.reports.layout import GAP, nothing, prose

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

LEVEL_STYLES = {Level.ERROR: "bold red", Level.WARNING: "yellow", Level.INFO: "cyan"}
_SIGN_STYLES = {"-": "red", "+": "green"}
_INDENT = 2
_LABEL = 6
"""Cells of the column of labels."""


def finding_lines(findings: Sequence[Finding], width: int | None, *, brief: bool = False) -> list[RenderableType]:
    """Return the findings in their order, an empty line between them, and at last how many there are.

    Args:
        findings: In the order in which they are to be read.
        width: Of the terminal in cells.
        brief: Show what happened and where, without evidence, repair and count.
    """
    from rich.text import Text

    if not findings:
        return [nothing(words.tally(findings))]
    shown: list[RenderableType] = []
    for finding in findings:
        shown += [*_header(finding, width), prose(finding.message, width, indent=_INDENT)]
        shown += [
            prose(line, width, label=f"{label:{_LABEL}}", label_style="dim", indent=_INDENT)
            for label, line in (_briefly(finding) if brief else _details(finding))
        ]
        shown.append(Text())
    return shown[:-1] if brief else [*shown, Text(words.tally(findings))]


def _header(finding: Finding, width: int | None) -> Iterator[Text]:
    """Yield the header's lines: its parts are kept whole as long as one fits a line."""
    from rich.cells import cell_len
    from rich.text import Text

    parts = (
        Text(visible(finding.place), style="bold", overflow="fold"),
        Text(finding.level, style=LEVEL_STYLES[finding.level], overflow="fold"),
        Text(visible(words.named(finding)), overflow="fold"),
        Text(words.loss(finding), overflow="fold"),
    )
    line = Text(overflow="fold")
    for part in filter(None, parts):
        if width is not None and line and cell_len(line.plain) + GAP + cell_len(part.plain) > width:
            yield line
            line = Text(" " * _INDENT, overflow="fold")
        elif line:
            line.append(" " * GAP)
        line.append_text(part)
    yield line


def _details(finding: Finding) -> Iterator[tuple[str, str | Text]]:
    """Yield (label, text) of every line under the message; the label is empty where a line goes on."""
    if spot := words.spot(finding):
        yield "at:", spot
    for line in _differing(words.texts(finding)):
        yield "", line
    if where := words.places(finding):
        yield "in:", where
    for number, step in enumerate(words.steps(finding)):
        yield "" if number else "from:", step
    for number, fact in enumerate(finding.evidence):
        yield "" if number else "why:", fact
    if remedy := words.remedy(finding):
        yield "fix:", remedy
    if finding.also_rules:
        yield "also:", ", ".join(finding.also_rules)


def _briefly(finding: Finding) -> Iterator[tuple[str, str]]:
    """Yield where it shows, and what differs there, in one line."""
    where, texts = words.spot(finding), dict(words.texts(finding))
    change = f": {texts.get('-', '(nothing)')} → {texts.get('+', '(nothing)')}" if texts and where else ""
    line = "; ".join(filter(None, (words.places(finding), f"{where}{change}")))
    if line:
        yield "at:", line


def _differing(texts: Sequence[tuple[str, str]]) -> Iterator[Text]:
    """Yield the differing texts; what they do not share stands out where there is colour."""
    from rich.text import Text

    shown = [visible(text) for _, text in texts]
    head = _common(shown)
    tail = _common([text[head:][::-1] for text in shown])
    for (sign, _), text in zip(texts, shown, strict=True):
        style = _SIGN_STYLES[sign]
        end = len(text) - tail
        line = Text(f"{sign} ", style=style).append(text[:head])
        yield line.append(text[head:end], style=f"bold {style}").append(text[end:])


def _common(texts: Sequence[str]) -> int:
    """Return how many characters two texts begin with alike; none of a single text."""
    alike = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(*texts, strict=False))
    return sum(1 for _ in alike) if len(texts) == 2 else 0
