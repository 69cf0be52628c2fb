"""Comments of prompt files: those of the template language, of the file around it, and of Markdown and XML."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from prefixwise.analyzers.static.context import Outside
from prefixwise.analyzers.static.sources import Source
from prefixwise.analyzers.static.templates.code_regions import literal_regions
from prefixwise.analyzers.static.templates.front_matter import split_front_matter
from prefixwise.analyzers.static.templates.jinja.lexer import chunks
from prefixwise.analyzers.static.templates.parts import Syntax, UnreadableTemplateError
from prefixwise.analyzers.static.templates.prompt_files import Prompt
from prefixwise.analyzers.static.templates.read import prompts_in
from prefixwise.analyzers.static.templates.recognise import Recognised, recognise
from prefixwise.analyzers.suppress.commented import Comment, Commented, Lines
from prefixwise.analyzers.suppress.comments.data_files import toml_comments, yaml_comments

_MARKUP = re.compile(r"<!--(.*?)-->", re.DOTALL)
_JINJA = re.compile(r"\{#[-+]?(?P<said>.*?)[-+]?#\}", re.DOTALL)
_HANDLEBARS = re.compile(
    r"\{{4}\s*(?P<raw>\w+).*?\}{4}.*?\{{4}/(?P=raw)\s*\}{4}"  # a raw block
    r"|(?<!\\)\{\{~?!--(?P<long>.*?)--~?\}\}"
    r"|(?<!\\)\{\{~?!(?!--)(?P<short>.*?)~?\}\}",
    re.DOTALL,
)
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
        for match, group in _matches(how.syntax, view.text, literal):
            start, end = view.start(match.start()), view.end(match.end())
            yield Comment(start, end, view.start(match.start(group)), match[group])


def _matches(syntax: Syntax, text: str, literal: list[tuple[int, int]]) -> Iterator[tuple[re.Match[str], str]]:
    """Yield comments as matches, and the group that holds what they say."""
    if syntax is Syntax.JINJA:
        try:
            said = [(chunk.start, chunk.end) for chunk in chunks(text, literal)]
        except UnreadableTemplateError:
            return
        edges = [0, *(edge for chunk in said for edge in chunk), len(text)]
        for gap in zip(edges[::2], edges[1::2], strict=True):  # what is neither text nor tag: comments and white space
            yield from ((match, "said") for match in _JINJA.finditer(text, *gap))
    elif syntax in (Syntax.HANDLEBARS, Syntax.MUSTACHE):
        for match in _HANDLEBARS.finditer(text):
            if match["raw"] is None:
                yield match, "long" if match["long"] is not None else "short"


def _of_markup(source: Source, head: int, others: list[Comment]) -> Iterator[Comment]:
    """Yield HTML comments that tell the linter something, but for those in code; all other ones are text."""
    regions = set(literal_regions(source.text[head:]))
    inside = [(comment.start, comment.end) for comment in others]
    for match in _MARKUP.finditer(source.text, head):
        hidden = any(start <= match.start() < end for start, end in inside)
        if (match.start() - head, match.end() - head) in regions and "prefixwise" in match[1] and not hidden:
            yield Comment(match.start(), match.end(), match.start(1), match[1], sent=True)
