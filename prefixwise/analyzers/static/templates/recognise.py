"""How a prompt's placeholders are written: as it is declared, as its file is named, or as its text looks."""

from __future__ import annotations

import re
from typing import NamedTuple

from prefixwise.analyzers.static.templates.code_regions import Regions
from prefixwise.analyzers.static.templates.front_matter import About
from prefixwise.analyzers.static.templates.parts import Syntax, syntax_named
from prefixwise.analyzers.static.templates.simple import simple_places

_NAMES = (
    (re.compile(r"\.(?:jinja2?|j2|liquid)(?:\.\w+)?$"), Syntax.JINJA),
    (re.compile(r"\.(?:hbs|handlebars)(?:\.\w+)?$"), Syntax.HANDLEBARS),
    (re.compile(r"\.mustache(?:\.\w+)?$"), Syntax.MUSTACHE),
)
_STATEMENT = re.compile(r"\{%[-+]?\s*[a-z]\w*")
_COMMENT = re.compile(r"(?<!\{)\{#[-+]?\s[^{}#]*#\}")
_SECTION = re.compile(
    r"""\{\{\{?~?\s*(?:[#/^>!](?![\w.]+\#\}\})|else\b|role\s+["']|media\s+url|section\s+["'])"""
    r"""|\{\{[\w.]+(?:\s+(?:[\w.@]+|"[^"{}\n]*"|'[^'{}\n]*')){1,5}\s*\}\}|\{\{\{\s*[\w.]+\s*\}\}\}"""
)
_GO = re.compile(r"\{\{-?\s*(?:if|range|with|template|define|block)\s+[^{}]*\}\}|\{\{-?\s*end\s*-?\}\}")
_LISTED = re.compile(r"(?<!\{)\{[^\W\d][\w ]*(?:,\s*[\w ]+)+\}(?!\})")
"""A list in braces, which `format` would refuse: here braces are text."""
_SIMPLE = ((Syntax.BRACES, "{{"), (Syntax.DOLLAR, "${"), (Syntax.FORMAT, "{"), (Syntax.PERCENT, "%("))


class Recognised(NamedTuple):
    """A syntax; `guessed`: whether it is only guessed from the text; `problem`: why it cannot be read."""

    syntax: Syntax
    guessed: bool = False
    problem: str = ""


def recognise(path: str, text: str, about: About, literal: list[tuple[int, int]]) -> Recognised:
    """Say how the placeholders of a text are written.

    Args:
        path: File that it stands in.
        text: The text.
        about: What is declared of it.
        literal: Stretches of it in which braces are text.
    """
    declared = syntax_named(about.context.syntax)
    if declared is not None:
        return Recognised(declared)
    name = path.replace("\\", "/").rsplit("/", 1)[-1].lower()
    for pattern, syntax in _NAMES:
        if pattern.search(name):
            return Recognised(syntax)
    if name.endswith(".prompty"):
        return Recognised(Syntax.JINJA)
    if name.endswith(".prompt") and (about.is_dotprompt and "{{" in text and "{%" not in text):
        return Recognised(Syntax.HANDLEBARS)
    return _by_text(text, literal)


def _by_text(text: str, literal: list[tuple[int, int]]) -> Recognised:
    if ("{%" in text and _outside(_STATEMENT, text, literal)) or ("#}" in text and _outside(_COMMENT, text, literal)):
        return Recognised(Syntax.JINJA, guessed=True)
    if "{{" in text:
        if _outside(_GO, text, literal):
            return Recognised(Syntax.NONE, guessed=True, problem="templates of Go are not read")
        if _outside(_SECTION, text, literal):
            return Recognised(Syntax.HANDLEBARS, guessed=True)
    for candidate, sign in _SIMPLE:
        syntax = candidate
        places = simple_places(text, syntax, Regions(literal)) if sign in text else 0
        if places and syntax is Syntax.BRACES and text.count("{") > 2 * text.count("{{"):
            # In a text for `format` two braces are one that is meant.
            syntax = Syntax.FORMAT if simple_places(text, Syntax.FORMAT, Regions(literal)) > places else syntax
        if places and not (syntax is Syntax.FORMAT and _outside(_LISTED, text, literal)):
            return Recognised(syntax, guessed=True)
    return Recognised(Syntax.NONE, guessed=True)


def _outside(pattern: re.Pattern[str], text: str, literal: list[tuple[int, int]]) -> bool:
    regions = Regions(literal)
    return any(not regions.cover(match.start()) for match in pattern.finditer(text))
