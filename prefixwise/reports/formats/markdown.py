"""`markdown`: for pull requests and job summaries (GitHub's flavour)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from prefixwise.core.excerpt import visible
from prefixwise.core.finding import Finding
from prefixwise.core.report import (
    Block,
    Findings,
    Histogram,
    InputFile,
    Page,
    Report,
    Requirement,
    Series,
    Table,
    Text,
    Tree,
    Unit,
)
from prefixwise.core.report import Waterfall as WaterfallBlock
from prefixwise.reports import charts
from prefixwise.reports import finding_words as words
from prefixwise.reports.brief import briefly
from prefixwise.reports.comment import fitting
from prefixwise.reports.format import FORMATS, Format
from prefixwise.reports.numbers import show, signed
from prefixwise.reports.tables import as_table

COMMENT = 65_536
"""The most characters of a comment that GitHub takes."""

_BAR = 20
_HEADING = re.compile(r"#{1,4} ")
_FENCE = re.compile(r" *(```|~~~)")
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;"})
# An underscore inside a word and a lone dollar are only themselves; two dollars are a formula.
_SPECIAL = re.compile(r"[\\`*\[\]|~]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|!(?=\[)")
_LEADING = re.compile(r"\A( *)([#=>]|[+-](?=[ +-]|\Z))|\A( *\d{1,9})([.)])(?=[ ]|\Z)")
# What GitHub turns into links, mentions and emoji after rendering, where a backslash no longer helps: a
# comment keeps it apart and does not show.
_LINKED = re.compile(
    r"(?<=@)(?=[\w/])|(?<=#)(?=\d)|(?<=\bGH-)(?=\d)|(?<=:)(?=//|[\w+-]+:)|(?<=mailto:)|(?<=xmpp:)|(?<=\bwww)(?=\.)",
    re.IGNORECASE,
)


def escape(text: str) -> str:
    """Return `text` on one line so that it renders as itself: no markup, table cell, link, mention or HTML."""
    shown = _LINKED.sub("\0", visible(text)).translate(_ENTITIES)
    shown = _SPECIAL.sub(r"\\\g<0>", shown)
    if shown.count("$") > 1:
        shown = shown.replace("$", "\\$")
    shown = _LEADING.sub(r"\1\3\\\2\4", shown)
    return shown.replace("\0", "<!-- -->")


def render(report: Report, **_layout: object) -> str:
    """Return the report as headings, pipe tables and lists; what is said of a finding unfolds.

    It fits a comment: what is more than GitHub takes of one is cut from the end, and said to be.
    """
    parts = [f"## {escape(report.title)}"]
    for block in report.blocks:
        if block.title:
            parts.append(f"### {escape(block.title)}")
        parts += _block(block)
        if note := getattr(block, "note", ""):
            parts.append(escape(note))
    closing = [*map(_requirement, report.requirements), *(f"- **note:** {escape(note)}" for note in report.notes)]
    closing += [_input(file) for file in report.inputs if file.broken or file.reason_skipped]
    document = "\n\n".join([*parts, "\n".join(closing)] if closing else parts) + "\n"
    return document if len(document) <= COMMENT else fitting(parts, closing, COMMENT)


def _block(block: Block) -> list[str]:
    if isinstance(block, Text):
        return ["\n\n".join(escape(line.lstrip(" ")) for line in block.lines)] if block.lines else []
    if isinstance(block, Page):
        return ["\n".join(map(visible, _page(block.markdown)))] if block.markdown else []
    if isinstance(block, Findings):
        return [*map(_finding, block.findings), words.tally(block.findings)] if block.findings else ["No findings."]
    if isinstance(block, Histogram):
        return [_histogram(block)]
    if isinstance(block, WaterfallBlock):
        return [_waterfall(block)]
    if isinstance(block, Tree):
        few, left_out = briefly(block)
        return [_tree(few), *([left_out] if left_out else [])]
    table, left_out = as_table(block), ""
    if isinstance(table, Table):
        table, left_out = briefly(table)
    if not isinstance(table, Table):
        raise TypeError(f"no way to write {type(block).__name__}")
    right = [isinstance(block, Series) or column.unit is not Unit.TEXT for column in table.columns]
    rows = [
        [escape(show(cell, column.unit)) for cell, column in zip(row, table.columns, strict=True)] for row in table.rows
    ]
    pipes = _pipes([escape(column.title) for column in table.columns], right, rows)
    return [pipes, *_unfolding(table), *([left_out] if left_out else [])]


def _unfolding(table: Table) -> list[str]:
    """Return what explains the rows as a list; all but its first line is folded away."""
    items = []
    for row, told in zip(table.rows, table.details, strict=False):
        if told:
            first, *more = (f"{escape(label)}: {escape(text)}" for label, text in told)
            first = first.removeprefix("what: ")
            items.append(f"- **{escape(show(row[0]))}** {first}")
            folded = [f"  - {line}" for line in more]
            items += ["  <details><summary>details</summary>", "", *folded, "", "  </details>"] if folded else []
    return ["\n".join(items)] if items else []


def _page(markdown: str) -> Iterator[str]:
    """Yield the page's lines, its headings two levels down: below the report's and the block's."""
    fence = ""
    for line in markdown.split("\n"):
        if mark := _FENCE.match(line):
            fence = "" if fence else mark[0]
        yield f"##{line}" if not fence and _HEADING.match(line) else line


def _tree(block: Tree) -> str:
    rows = []
    for depth, label, *cells in block.rows:
        indent = "&emsp;" * (depth if isinstance(depth, int) else 0)
        numbers = [escape(show(cell, column.unit)) for cell, column in zip(cells, block.columns, strict=True)]
        rows.append([indent + escape(show(label)), *numbers])
    titles = ["", *(escape(column.title) for column in block.columns)]
    return _pipes(titles, [False, *(column.unit is not Unit.TEXT for column in block.columns)], rows)


def _waterfall(block: WaterfallBlock) -> str:
    rows = [[escape(block.start[0]), f"**{escape(show(block.start[1], block.unit))}**"]]
    rows += [[escape(label), escape(signed(value, block.unit))] for label, value in block.steps]
    rows.append([escape(block.end[0]), f"**{escape(show(block.end[1], block.unit))}**"])
    return _pipes(["", block.unit.value], [False, True], rows)


def _histogram(block: Histogram) -> str:
    rows = [
        [
            escape(show(low, block.x.unit)),
            escape(show(high, block.x.unit)),
            f"{count:,}",
            charts.bar(count, max(block.counts), _BAR),
        ]
        for low, high, count in zip(block.edges[:-1], block.edges[1:], block.counts, strict=True)
    ]
    return _pipes([escape(block.x.title), "to", "count", ""], [True, True, True, False], rows)


def _finding(finding: Finding) -> str:
    place, loss = escape(finding.place), escape(words.loss(finding))
    at, cost = f" at {place}" if place else "", f", {loss}" if loss else ""
    lines = [f"- **{finding.level}** {escape(words.named(finding))}{at}{cost}: {escape(finding.message)}"]
    if details := list(_details(finding)):
        lines += ["  <details><summary>details</summary>", "", *details, "", "  </details>"]
    return "\n".join(lines)


def _details(finding: Finding) -> Iterator[str]:
    spot, texts = words.spot(finding), words.texts(finding)
    if spot:
        yield f"  - at: {escape(spot)}"
    if texts:
        indent = "    " if spot else "  "
        # Behind its sign no text can end the fence.
        yield from (f"{indent}{line}" for line in ("```diff", *(f"{s} {visible(text)}" for s, text in texts), "```"))
    if where := words.places(finding):
        yield f"  - in: {escape(where)}"
    yield from (f"  - from: {escape(step)}" for step in words.steps(finding))
    yield from (f"  - why: {escape(fact)}" for fact in finding.evidence)
    if remedy := words.remedy(finding):
        yield f"  - fix: {escape(remedy)}"
    if finding.also_rules:
        yield f"  - also: {escape(', '.join(finding.also_rules))}"


def _requirement(requirement: Requirement) -> str:
    return f"- **{requirement.state}:** {escape(requirement.expression)} ({requirement.found})"


def _input(file: InputFile) -> str:
    wrong = f"skipped: {escape(file.reason_skipped)}" if file.reason_skipped else f"{file.broken:,} broken"
    return f"- **input:** {escape(file.path)}: {file.records:,} records, {wrong}"


def _pipes(titles: Sequence[str], right: Sequence[bool], rows: Sequence[Sequence[str]]) -> str:
    rule = ["---:" if numbers else "---" for numbers in right]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (titles, rule, *rows))


FORMATS.add("markdown", Format("markdown", "text/markdown", ".md", render))
