"""Jinja read by our parser and by Jinja itself: the same names, the same text, on real templates."""

from __future__ import annotations

from pathlib import Path

import jinja2
import jinja2.ext
import jinja2.nodes
import pytest
from support.vocabularies import FOLDER, needs_vocabularies

from prefixwise.analyzers.static.templates.jinja.nodes import Kind, Literal, expressions_of, walk
from prefixwise.analyzers.static.templates.jinja.parser import parse
from prefixwise.corpus.chat_template import _environment

REAL = sorted(FOLDER.glob("*.jinja"))
SNIPPETS = [
    "{{ a.b['c'].d[0](x, y=z) | f(1, 'x') | g is not none }}",
    "{{ a if b else c if d else e }}",
    "{{ not a and b or c in d and e not in f }}",
    "{{ -a ** 2 + b // c ~ d % e }}",
    "{{ (a, b)[1:c] }}{{ [a, b, {'x': c, d: e}] }}{{ () }}{{ a[b:] }}{{ a[:-1] }}{{ a[::2] }}",
    "{% for a, b in c.items() if d recursive %}{{ a }}{% else %}{{ e }}{% endfor %}",
    "{% set a, b = c, d %}{% set ns.x = y %}{% set e %}{{ f }}{% endset %}",
    "{%- if a == 'x}}' -%}\n{{ b }}\n{%- elif c is divisibleby 3 %}{{ d }}{% else %}{{ e }}{% endif -%}",
    "{% macro m(a, b=c) %}{{ a }}{{ b }}{% endmacro %}{% call m(x) %}{{ y }}{% endcall %}",
    "{% filter upper %}{{ a }}{% endfilter %}{% with a = b %}{{ a }}{% endwith %}",
    "{% for m in a %}{% if b %}{% continue %}{% endif %}{% break %}{% endfor %}",
    "{% generation %}{{ c }}{% endgeneration %}",
    "a {# {{ b }} #} c {% raw %}{{ d }}{% endraw %} {{ '{{' }} {{ \"it's\" }}",
    "{{ a\n  .b\r\n  | c }}",
]


def jinja_names(text: str) -> set[str]:
    tree = _environment(lambda _: "").parse(text)
    return {node.name for node in tree.find_all(jinja2.nodes.Name) if node.ctx == "load"}


def our_names(text: str) -> set[str]:
    return {
        inner.name
        for node in walk(parse(text))
        for expression in expressions_of(node)
        for inner in expression.walk()
        if inner.kind is Kind.NAME
    } - {"True", "False", "true", "false", "none", "None"}


@pytest.mark.parametrize("text", SNIPPETS)
def test_names_of_a_snippet(text):
    ours, theirs = our_names(text), jinja_names(text)
    # Default values of parameters are not read, names of namespaces that are set are no expressions.
    assert ours == theirs - {"c"} if "macro" in text else ours == theirs - {"ns"}


@needs_vocabularies
@pytest.mark.parametrize("path", REAL, ids=lambda path: path.stem)
def test_names_of_a_real_template(path: Path):
    text = path.read_text(encoding="utf-8")
    assert our_names(text) == jinja_names(text) - {"ns"} | (our_names(text) & {"ns"})


@needs_vocabularies
@pytest.mark.parametrize("path", REAL, ids=lambda path: path.stem)
def test_places_in_a_real_template(path: Path):
    text = path.read_text(encoding="utf-8").replace("\n", "\r\n")
    for node in walk(parse(text)):
        said = text[node.start : node.end]
        if isinstance(node, Literal):
            assert said == node.text
        else:
            assert said.startswith(("{{", "{%"))
            assert said.endswith(("}}", "%}"))
        for expression in expressions_of(node):
            for inner in expression.walk():
                if inner.kind is Kind.NAME:
                    assert text[inner.start : inner.end] == inner.name
