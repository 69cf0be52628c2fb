"""Prompt files for tests of the analysis of templates."""

from __future__ import annotations

from prefixwise.analyzers.static.context import PromptContext
from prefixwise.analyzers.static.sources import Source
from prefixwise.analyzers.static.templates.found import TemplateFindings
from prefixwise.analyzers.static.templates.parts import Placeholder
from prefixwise.analyzers.static.templates.read import read_template

# Constant text of about 300 tokens.
RULES = "\n".join(
    f"{number}. A sailing that leaves quay {number} late is announced at once, and whoever waits is told why."
    for number in range(1, 15)
)


def found_in(text: str, path: str = "prompts/desk.md", **context: str) -> TemplateFindings:
    """Return the findings of a text, every span of which has to say what stands there."""
    source = Source(path, text)
    findings = read_template(source, PromptContext(**context))
    for found in (*findings.volatiles, *findings.stranded, *findings.traits):
        assert text[found.span.start : found.span.end] == found.quote
        assert source.offset(found.span.line, found.span.column) == found.span.start
        assert source.offset(found.span.end_line, found.span.end_column) == found.span.end
    return findings


def kinds_in(text: str, path: str = "prompts/desk.md", **context: str) -> list[tuple[str, str]]:
    """Return (kind, quote) of the values that change by themselves."""
    return [(found.kind.name.lower(), found.quote) for found in found_in(text, path, **context).volatiles]


def names_in(text: str, path: str = "prompts/desk.md", **context: str) -> list[str]:
    """Return the names of everything that is filled in, in cache order."""
    return [
        value.name
        for template in found_in(text, path, **context).templates
        for message in template.messages
        for part in message.parts
        if isinstance(part, Placeholder)
        for value in part.values
    ]
