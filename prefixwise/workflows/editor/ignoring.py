"""Comments that ignore a finding, put where they change as little as possible of what is sent."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

import msgspec

from prefixwise.analyzers.static.templates.parts import Syntax
from prefixwise.analyzers.suppress.inline import OWN_RULES
from prefixwise.core.finding import Finding, Span
from prefixwise.workflows.editor.positions import Positions, Unit

_MOST_TRIES = 6
_WIDEST = 120
_SCRIPTS = (".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts")
_DATA = (".yaml", ".yml", ".toml")
_WITHOUT = (".json", ".jsonl", ".txt", ".text", ".rst", ".ipynb")
"""Files in which comments are no comments to anybody."""
_COSTLY = "costly-ignore"
_INDENT = re.compile(r"[ \t]*")
_TEMPLATES = {
    Syntax.JINJA: ("{# ", " #}"),
    Syntax.HANDLEBARS: ("{{! ", " }}"),
    Syntax.MUSTACHE: ("{{! ", " }}"),
}


class Insertion(msgspec.Struct, frozen=True):
    """A comment to be inserted at an offset; `sent`: whether the model gets to read it."""

    offset: int
    text: str
    sent: bool = False


def ignoring(
    finding: Finding, path: str, text: str, syntax: Syntax, look: Callable[[str], tuple[Finding, ...]]
) -> Insertion | None:
    """Return the comment that ignores a finding, and nothing else; None where no comment does.

    Args:
        finding: What is to be ignored.
        path: The file.
        text: What it says.
        syntax: How placeholders are written in it, if it is a template.
        look: Returns the findings of another text in its place.
    """
    if finding.rule in OWN_RULES or finding.span is None:
        return None
    before = {one.fingerprint: one.rule for one in look(text)}
    said = f"prefixwise: ignore[{finding.rule}]"
    for number, insertion in enumerate(_candidates(finding.span, said, path, text, syntax)):
        if number >= _MOST_TRIES:
            break
        edited = text[: insertion.offset] + insertion.text + text[insertion.offset :]
        after = {one.fingerprint: one.rule for one in look(edited)}
        gone = [rule for fingerprint, rule in before.items() if fingerprint not in after]
        come = [rule for fingerprint, rule in after.items() if fingerprint not in before]
        meant = finding.fingerprint not in after and set(gone) == {finding.rule}
        if meant and set(come) <= ({_COSTLY} if insertion.sent else set()):
            return insertion
    return None


def _candidates(span: Span, said: str, path: str, text: str, syntax: Syntax) -> Iterator[Insertion]:
    """Yield comments to try, the best first."""
    name = path.lower()
    places = Positions(text, Unit.UTF_32)
    if name.endswith((".py", ".pyi")):
        yield from _in_code(span, f"# {said}", places, _statement_start(text, span.line))
    elif name.endswith(_SCRIPTS):
        yield from _in_code(span, f"// {said}", places, None)
    elif not name.endswith(_WITHOUT):
        if name.endswith(_DATA):
            yield from _above(span.start, f"# {said}", places)
        if syntax in _TEMPLATES:
            opening, closing = _TEMPLATES[syntax]
            yield _beside(span, f"{opening}{said}{closing}", places)
        elif not name.endswith(_DATA):
            start = places.line_start(span.start)
            yield Insertion(start, f"<!-- {said} -->{places.line_break}", sent=True)


def _in_code(span: Span, comment: str, places: Positions, statement: int | None) -> Iterator[Insertion]:
    end = places.line_end(span.start)
    if span.line == span.end_line and end - places.line_start(end) + len(comment) + 2 <= _WIDEST:
        yield Insertion(end, f"  {comment}")
    if statement is not None:
        yield from _above(places.offset_of_line(statement), comment, places)
    yield from _above(span.start, comment, places)


def _above(offset: int, comment: str, places: Positions) -> Iterator[Insertion]:
    """Yield the comment on a line of its own above that of an offset, and above each line that is indented less."""
    deepest: int | None = None
    start = places.line_start(offset)
    while True:
        line = places.text[start : places.line_end(start)]
        indent = _INDENT.match(line)
        width = len(indent[0]) if indent else 0
        if line.strip() and (deepest is None or width < deepest):
            deepest = width
            yield Insertion(start, f"{line[:width]}{comment}{places.line_break}")
        if not start or deepest == 0:
            return
        start = places.line_start(start - 1)


def _beside(span: Span, comment: str, places: Positions) -> Insertion:
    """Return a comment of a template next to a tag, where no line end and no indentation is trimmed with it."""
    text = places.text
    opened = max(text.rfind("{{", 0, span.start + 2), text.rfind("{%", 0, span.start + 2))
    closed = max(text.rfind("}}", 0, span.start), text.rfind("%}", 0, span.start))
    start = opened if opened > closed else span.start
    indented = text[places.line_start(start) : start]
    ends = [end + 2 for sign in ("}}", "%}") if (end := text.find(sign, max(span.end - 2, start))) >= 0]
    if indented and not indented.strip() and ends and min(ends) < places.line_end(start):
        return Insertion(min(ends), comment)
    return Insertion(start, comment)


def _statement_start(text: str, line: int) -> int | None:
    """Return the line on which the innermost statement around a line of Python begins, None where it has none."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    around = [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    return max(around, default=None)
