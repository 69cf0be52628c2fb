"""Syntaxes in which placeholders are all there is: `{{ name }}`, `{name}`, `%(name)s`, `${name}`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from prefixwise.analyzers.static.templates.code_regions import Regions
from prefixwise.analyzers.static.templates.jinja.expressions import Tokens
from prefixwise.analyzers.static.templates.jinja.lexer import ChunkKind, chunks
from prefixwise.analyzers.static.templates.jinja.values import Printed
from prefixwise.analyzers.static.templates.parts import Part, Placeholder, Syntax, Text, UnreadableTemplateError, Value
from prefixwise.analyzers.static.templates.views import View

_PATH = r"[^\W\d]\w*(?:\.\w+|\[[\w'\"]+\])*"
_BRACES = re.compile(r"\{\{[-~]?[ \t]*((?:[^{}\n'\"]|'[^'\n]*'|\"[^\"\n]*\"){1,300}?)[ \t]{0,40}[-~]?\}\}")
_SPEC = r"(?:[^{}\n%:]?[<>=^])?[-+ ]?#?0?\d*[_,]?(?:\.\d+)?[bcdeEfFgGnosxX%]?|[^{}\n]*%[A-Za-z][^{}\n]*"
_FORMAT = re.compile(rf"\{{\{{|\}}\}}|\{{(\$?{_PATH})(?:![rsa])?(?::({_SPEC}))?\}}")
_F_STRING = re.compile(r"""\b(?:f|rf|fr)\\?(?:"[^"\n]*|'[^'\n]*)\Z""", re.IGNORECASE)
"""The beginning of a line of code that is shown in a prompt, up to what Python would fill in there."""
_QUERY = re.compile(r"[?&][\w-]+=$")
_EXAMPLE = re.compile(r"(?i)\be\.g\.|\bfor (?:example|instance)\b|\bsuch as\b|\bexample:")
_SENTENCE_END = re.compile(r"[.!?]\s")
_PERCENT = re.compile(rf"%%|%\(({_PATH})\)[-#0 +]*\d*(?:\.\d+)?[diouxXeEfFgGcrsa]")
_DOLLAR = re.compile(r"\$\$|\\\$|\$\{([^{}\n]+)\}")
_LEADING_PATH = re.compile(rf"(?:new\s+)?({_PATH}(?:\(\))?(?:\.\w+(?:\(\))?)*)")
# What a double brace holds in texts that say nothing of their syntax: a path, perhaps with arguments and filters.
_EXPRESSION = re.compile(rf"[$#@.]{{0,2}}{_PATH}\s*(?:\([^()]*\)\s*)?(?:\.\w+\s*(?:\([^()]*\)\s*)?)*(?:\|.*)?#?")

_Found = tuple[int, int, str, tuple[str, ...]]


def simple_parts(view: View, syntax: Syntax, literal: Regions) -> list[Part]:
    """Return the parts of a text whose placeholders have one of the simple syntaxes; what is literal stays text."""
    return list(_parts(view, _FINDERS[syntax](view.text), literal))


def simple_places(text: str, syntax: Syntax, literal: Regions) -> int:
    """Return how many placeholders of one of the simple syntaxes a text has outside what is literal."""
    return sum(not literal.cover(start) for start, *_ in _FINDERS[syntax](text))


def _parts(view: View, found: Iterator[_Found], literal: Regions) -> Iterator[Part]:
    last = 0
    for start, end, name, filters in found:
        if literal.cover(start):
            continue
        if last < start:
            yield Text(view.text[last:start], view.start(last), view.end(start))
        place = view.start(start), view.end(end)
        yield Placeholder((Value(name, filters, *place),), *place)
        last = end
    if last < len(view.text):
        yield Text(view.text[last:], view.start(last), view.end(len(view.text)))


def _braces(text: str) -> Iterator[_Found]:
    for match in _BRACES.finditer(text):
        if _EXPRESSION.fullmatch(match[1]) is None or _is_shown(text, match.start()):
            continue
        values = _values(match[0]) if "|" in match[1] or "(" in match[1] else []
        value = values[0] if values else Value(match[1].strip(" .#"), (), 0, 0)
        yield *match.span(), value.name, value.filters


def _is_shown(text: str, start: int) -> bool:
    """Say whether braces stand in an example that the text shows: quoted, behind `e.g.` in the same line."""
    before = text[max(start - 200, text.rfind("\n", 0, start) + 1, 0) : start]
    example = list(_EXAMPLE.finditer(before))
    if not example:
        return False
    quoted = before[example[-1].end() :]
    if _SENTENCE_END.search(quoted):
        return False
    return quoted.count('"') % 2 == 1 or quoted.count("`") % 2 == 1


def _values(tag: str) -> list[Value]:
    """Return what a tag prints, read as Jinja's."""
    try:
        (chunk,) = [chunk for chunk in chunks(tag) if chunk.kind is ChunkKind.OUTPUT]
        expression = Tokens(chunk.tokens, chunk.end - 2).expression()
    except (UnreadableTemplateError, ValueError):
        return []
    return Printed(View(tag), {}).of(expression)


def _format(text: str) -> Iterator[_Found]:
    for match in _FORMAT.finditer(text):
        if match[1] is None or _is_written_out(text, *match.span()):
            continue
        yield *match.span(), match[1].lstrip("$"), (f"format('{match[2]}')",) if match[2] else ()


def _is_written_out(text: str, start: int, end: int) -> bool:
    """Say whether braces are those of a shell, LaTeX, a directive, an f-string, or an address: `/users/{user_id}`."""
    before = text[max(start - 40, 0) : start]
    return (
        before.endswith(("$", "\\", "/", ":::", "```"))
        or text[end : end + 1] == "/"
        or _QUERY.search(before) is not None
        or _F_STRING.search(before) is not None
    )


def _percent(text: str) -> Iterator[_Found]:
    for match in _PERCENT.finditer(text):
        if match[1] is not None:
            yield *match.span(), match[1], ()


def _dollar(text: str) -> Iterator[_Found]:
    for match in _DOLLAR.finditer(text):
        path = _LEADING_PATH.match(match[1].strip()) if match[1] else None
        if path is not None:
            yield *match.span(), path[1], (match[1][path.end() :].strip(),)


_FINDERS: dict[Syntax, Callable[[str], Iterator[_Found]]] = {
    Syntax.BRACES: _braces,
    Syntax.FORMAT: _format,
    Syntax.PERCENT: _percent,
    Syntax.DOLLAR: _dollar,
}
