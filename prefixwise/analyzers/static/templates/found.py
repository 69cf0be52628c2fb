"""What the analysis of a template finds."""

from __future__ import annotations

import msgspec

from prefixwise.analyzers.static.context import PromptContext
from prefixwise.analyzers.static.templates.parts import Problem, Template
from prefixwise.analyzers.static.volatile import Volatile
from prefixwise.core.finding import Confidence, Severity, Span, Step


class Stranded(msgspec.Struct, frozen=True, kw_only=True):
    """A variable with constant text behind it that would be cached if the variable came later.

    Attributes:
        path, span, quote: The variable.
        name: What it is called.
        tokens_before, tokens_behind: Tokens of constant text in front of it and behind it.
        minimum: Fewest tokens that the model's provider caches, None where that is not known.
        confidence: `likely` where the variable is the request itself, `possible` where its name does not tell.
        evidence: Clauses.
    """

    path: str
    span: Span
    quote: str
    name: str
    tokens_before: int
    tokens_behind: int
    minimum: int | None
    confidence: Confidence
    evidence: tuple[str, ...] = ()


class TemplateTrait(msgspec.Struct, frozen=True, kw_only=True):
    """Something that a prompt file, or a model's chat template, does to prompts.

    Attributes:
        rule: Name of the kind.
        severity: How bad it is there.
        path, span, quote: Where.
        message: A sentence for a person.
        flow: The way of what moves to where it is printed.
        evidence: Clauses.
        tokens: Tokens of constant text that are computed again for it, None where that is not known.
    """

    rule: str
    severity: Severity
    path: str
    span: Span
    quote: str
    message: str
    flow: tuple[Step, ...] = ()
    evidence: tuple[str, ...] = ()
    tokens: int | None = None


class TemplateFindings(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about one prompt file.

    Attributes:
        context: What is known of it, from outside and from itself.
        templates: What it holds, one a prompt.
        volatiles: Values that change by themselves, in front of constant text.
        stranded: Other variables in front of constant text.
        traits: What a chat template does to prompts.
        problems: What could not be read, and where.
    """

    context: PromptContext
    templates: tuple[Template, ...] = ()
    volatiles: tuple[Volatile, ...] = ()
    stranded: tuple[Stranded, ...] = ()
    traits: tuple[TemplateTrait, ...] = ()
    problems: tuple[Problem, ...] = ()
