"""Comments of prompt files: those of the template language, of the file around it, and of Markdown and XML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from prefixwise.analyzers.static.context import Outside
from prefixwise.analyzers.static.sources import Source
from prefixwise.analyzers.static.templates.code_regions import Regions, literal_regions
from prefixwise.analyzers.static.templates.front_matter import split_front_matter
from prefixwise.analyzers.static.templates.jinja.lexer import chunks
from prefixwise.analyzers.static.templates.parts import Syntax, UnreadableTemplateError
from prefixwise.analyzers.static.templates.prompt_files import Prompt
from prefixwise.analyzers.static.templates.read import prompts_in
from prefixwise.analyzers.static.templates.recognise import Recognised, recognise
from prefixwise.analyzers.suppress.commented import Comment, Commented, Lines
from prefixwise.analyzers.suppress.comments.data_files import toml_comments, yaml_comments

_JINJA = re.compile(r"\{#[-+]?(?P<said>.*?)[-+]?#\}", re.DOTALL)
_RAW_NAME = re.compile(r"\{{4}\s*(\w+)")
_WITHOUT = (".json", ".jsonl", ".txt", ".text", ".rst")
"""Files in which HTML comments are no comments to anybody."""


def prompt_comments(source: Source, outside: Outside) -> Commented | None:
    """Return a prompt file with its comments, None where it cannot be read.

    Comments of HTML are sent to the model, all others are not.
    """
    name = source.path.lower()
    try:
        prompts = prompts_in(source)
    except (UnreadableTemplateError, RecursionError):
        return None
    if name.endswith(".json"):
        return Commented(source, ())
    found: list[Comment] = []
    units: list[Lines] = []
    head = 0
    if name.endswith((".yaml", ".yml")):
        found, units = yaml_comments(source, 0, len(source.text))
    elif name.endswith(".toml"):
        found, units = toml_comments(source)
    else:
        _, head = split_front_matter(source.text)
        found, units = yaml_comments(source, 0, head) if head > 1 else ([], [])
    for prompt in prompts:
        found += _of_templates(source, prompt, outside)
    if not name.endswith((*_WITHOUT, ".yaml", ".yml", ".toml")):
        found += _of_markup(source, head, found)
    return Commented(source, found, units, head)


def _of_templates(source: Source, prompt: Prompt, outside: Outside) -> Iterator[Comment]:
    """Yield the comments of the language that a prompt's placeholders are written in."""
    views = [piece.view for piece in prompt.pieces]
    whole = "\n".join(view.text for view in views)
    known = outside.asked.completed(prompt.about.context).completed(outside.assumed)
    about = msgspec.structs.replace(prompt.about, context=known)
    chat = Recognised(Syntax.JINJA) if prompt.chat else None
    how = chat or recognise(source.path, whole, about, literal_regions(whole))
    for view in views:
        literal = literal_regions(view.text) if how.guessed else []
        for place in _places(how.syntax, view.text, literal):
            start, end, body = view.start(place.start), view.end(place.end), view.start(place.body)
            yield Comment(start, end, body, view.text[place.body : place.stop])


class _Place(NamedTuple):
    """Where a comment stands, and what it says from `body` to `stop`."""

    start: int
    body: int
    stop: int
    end: int


def _places(syntax: Syntax, text: str, literal: list[tuple[int, int]]) -> Iterator[_Place]:
    """Yield the comments of a template language."""
    if syntax is Syntax.JINJA:
        yield from _of_jinja(text, literal)
    elif syntax in (Syntax.HANDLEBARS, Syntax.MUSTACHE):
        yield from _of_handlebars(text)


def _of_jinja(text: str, literal: list[tuple[int, int]]) -> Iterator[_Place]:
    try:
        said = [(chunk.start, chunk.end) for chunk in chunks(text, literal)]
    except UnreadableTemplateError:
        return
    edges = [0, *(edge for chunk in said for edge in chunk), len(text)]
    for gap in zip(edges[::2], edges[1::2], strict=True):  # what is neither text nor tag: comments and white space
        for match in _JINJA.finditer(text, *gap):
            yield _Place(match.start(), *match.span("said"), match.end())


def _of_handlebars(text: str) -> Iterator[_Place]:
    """Yield comments, tag by tag; what does not end ends the search."""
    start = text.find("{{")
    while start >= 0:
        inner = start + 2 + text.startswith("~", start + 2)
        raw = _RAW_NAME.match(text, start)
        if raw is not None:
            end = _behind(text, "}}}}", _behind(text, "{{{{/" + raw[1], raw.end()))
        elif text.startswith("!--", inner):
            stop = text.find("--", inner + 3)
            end = _behind(text, "}}", stop)
        else:
            stop = text.find("}}", inner)
            end = _behind(text, "}}", inner)
        if end < 0:
            return
        if raw is None and text[inner : inner + 1] == "!" and text[start - 1 : start] != "\\":
            yield _Place(start, inner + (3 if text.startswith("!--", inner) else 1), stop, end)
        start = text.find("{{", end)


def _behind(text: str, sign: str, position: int) -> int:
    """Return where the next `sign` ends, -1 where there is none, or no position."""
    found = text.find(sign, position) if position >= 0 else -1
    return found + len(sign) if found >= 0 else -1


def _of_markup(source: Source, head: int, others: list[Comment]) -> Iterator[Comment]:
    """Yield HTML comments that tell the linter something, but for those in code; all other ones are text."""
    regions = set(literal_regions(source.text[head:]))
    taken = Regions(sorted((comment.start, comment.end) for comment in others))
    start = source.text.find("<!--", head)
    while start >= 0:
        end = _behind(source.text, "-->", start + 4)
        if end < 0:
            return
        said = source.text[start + 4 : end - 3]
        if "prefixwise" in said and (start - head, end - head) in regions and not taken.cover(start):
            yield Comment(start, end, start + 4, said, sent=True)
        start = source.text.find("<!--", end)
