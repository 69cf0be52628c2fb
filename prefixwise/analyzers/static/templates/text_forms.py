"""What of a prompt file's text the eye does not see: line ends of two kinds, blanks at the ends of lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from prefixwise.analyzers.static.sources import Source
from prefixwise.analyzers.static.templates.found import TemplateTrait
from prefixwise.analyzers.static.templates.parts import Syntax, Template, Text
from prefixwise.core.finding import Severity

LINE_ENDS = "line-ending-drift"
TRAILING = "whitespace-drift"

_BREAK = re.compile(r"\r\n|\n|\r")
_BLANKS = re.compile(r"(?<![ \t])[ \t]++(?=[\r\n])")  # each run is tried once, however long
_MARKDOWN = (".md", ".mdx", ".markdown")
_NESTED = (".json", ".yaml", ".yml", ".toml")
_NAMES = {"\r\n": "CRLF", "\n": "LF", "\r": "CR"}


class Misfit(NamedTuple):
    """A stretch of a file, and what would stand there in a text of one form."""

    start: int
    end: int
    text: str


def mixed_line_ends(source: Source, templates: Sequence[Template]) -> tuple[Misfit, ...]:
    """Return the line ends of a prompt file that are not those of most of its lines.

    None of them where the file is no plain text, or a Jinja template, which is sent with line feeds whatever it holds.
    """
    if source.path.lower().endswith(_NESTED) or not templates or "\r" not in source.text:
        return ()
    if any(template.chat or template.syntax is Syntax.JINJA for template in templates):
        return ()
    found = list(_BREAK.finditer(source.text))
    counts = Counter(match[0] for match in found)
    if len(counts) < 2:
        return ()
    usual = max(counts, key=lambda kind: (counts[kind], kind == found[0][0]))
    return tuple(Misfit(*match.span(), usual) for match in found if match[0] != usual)


def trailing_blanks(source: Source, templates: Sequence[Template]) -> tuple[Misfit, ...]:
    """Return the blanks at the ends of lines of a prompt's constant text.

    Two or more at the end of a line of Markdown break the line, and those at the end of a text lead into the answer:
    they are not among them.
    """
    if source.path.lower().endswith(_NESTED):
        return ()
    found: dict[int, Misfit] = {}
    for template in templates:
        for message in template.messages if not template.chat else ():
            for part in message.parts:
                if isinstance(part, Text) and part.end - part.start == len(part.text):
                    found |= {one.start: one for one in _blanks_in(source, part)}
    return tuple(found[start] for start in sorted(found))


def _blanks_in(source: Source, part: Text) -> Iterator[Misfit]:
    text = source.text
    for match in _BLANKS.finditer(part.text):
        start, end = part.start + match.start(), part.start + match.end()
        line = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
        following = _BREAK.match(text, end)
        below = "" if following is None else text[following.end() : following.end() + 1]
        is_break = len(match[0]) > 1 and "\t" not in match[0] and text[line:start].strip() and below not in "\r\n"
        if source.path.lower().endswith(_MARKDOWN) and is_break:
            continue
        yield Misfit(start, end, "")


def text_traits(source: Source, templates: Sequence[Template]) -> Iterator[TemplateTrait]:
    """Yield what is to be said of the form of a prompt file, once for all its lines."""
    ends = mixed_line_ends(source, templates)
    if ends:
        usual, other = _NAMES[ends[0].text], _NAMES[source.text[ends[0].start : ends[0].end]]
        line = source.position(ends[0].start)[0]
        yield _trait(
            LINE_ENDS,
            source,
            ends,
            f"{_lines(ends)} with {other} and the others with {usual}: whoever saves the file the other way "
            "changes the prompt.",
            (f"the first is line {line}",),
        )
    blanks = trailing_blanks(source, templates)
    if blanks:
        message = f"{_lines(blanks)} in blanks that editors and hooks take away: then the prompt is another one."
        yield _trait(TRAILING, source, blanks, message, ())


def _lines(found: Sequence[Misfit]) -> str:
    return "1 line ends" if len(found) == 1 else f"{len(found):,} lines end"


def _trait(
    rule: str, source: Source, found: Sequence[Misfit], message: str, evidence: tuple[str, ...]
) -> TemplateTrait:
    span, quote = source.quote(found[0].start, found[0].end)
    return TemplateTrait(
        rule=rule,
        severity=Severity.INFO,
        path=source.path,
        span=span,
        quote=quote,
        message=message,
        evidence=evidence,
    )
