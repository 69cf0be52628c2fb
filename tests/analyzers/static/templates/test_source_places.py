"""Every span says what stands there, whatever the line ends, the characters and the syntax; nothing crashes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.quick import at_most
from support.templating import RULES, found_in

from prefixwise.analyzers.static.templates.parts import Placeholder, Text

WORDS = st.sampled_from(
    ["Be brief.", "日本語の文", "naïve", "😀👩‍🚀", "a\u2028b", "\ud83d", "100 %", "$5", '"q"', "it's", "x" * 30]
)
PIECES = {
    "a.md": [
        "{{ now }}",
        "{{user_name}}",
        "{{ thread_id | upper }}",
        "`{{ x }}`",
        "```\n{{ y }}\n```",
        "{z}",
        "<!-- {{ c }} -->",
    ],
    "a.txt": ["{now}", "{user_name}", "{now:%H:%M}", "{{literal}}", "{context}", "/x/{user_id}/"],
    "b.txt": ["${now}", "${user.name}", "${a.b()}", "$x"],
    "c.txt": ["%(now)s", "%(user_name)s", "%%", "100 %"],
    "a.j2": [
        "{{ now() }}",
        "{% if a %}{{ user_name }}{% endif %}",
        "{%- for d in documents -%}\n{{ d.text }}\n{%- endfor -%}",
        "{# {{ c }} #}",
        "{% set s = now().strftime('%H:%M') %}{{ s }}",
        "{{ 'at ' ~ today }}",
        "{% raw %}{{ r }}{% endraw %}",
    ],
    "a.hbs": [
        "{{now}}",
        "{{{user_name}}}",
        "{{#each documents}}{{text}}{{/each}}",
        "{{! c }}",
        "\\{{e}}",
        '{{date now "HH:mm"}}',
    ],
    "a.prompty": ["{{now}}", "\nsystem:\n", "\nuser:\n", "{{question}}", "{% if a %}{{ user_name }}{% endif %}"],
}
SIGNS = """
    {{ }} {% %} {# #} {{# {{/ {{^ {{{ }}} {{! {{> if endif for in endfor set else raw a . | ( ) [ ] { } : , ' " \\ - ~
    messages role loop.last now --- system: $ ${ %( )s ` ``` <!-- --> \\[ \\frac ! {% 漢
"""
LINE_ENDS = st.sampled_from(["\n", "\r\n", "\r"])


@st.composite
def prompts(draw, paths=tuple(PIECES)):
    path = draw(st.sampled_from(paths))
    pieces = draw(st.lists(WORDS | st.sampled_from(PIECES[path]) | st.just("\n"), min_size=1, max_size=12))
    text = (
        " ".join(pieces)
        + "\n"
        + RULES
        + draw(st.sampled_from(["", "\n{{ question }}"]) if path == "a.md" else st.just(""))
    )
    head = draw(st.sampled_from(["", "---\nmodel: gpt-4o\n---\n"])) if path.endswith((".md", ".prompty")) else ""
    text = (head + text).replace("\n", draw(LINE_ENDS))
    return path, draw(st.sampled_from(["", "\ufeff"])) + text


def parts_of(findings):
    for template in findings.templates:
        for message in template.messages:
            yield from message.parts


@settings(max_examples=300, deadline=None)
@given(prompts())
def test_spans_say_what_stands_there(prompt):
    path, text = prompt
    findings = found_in(text, path)  # asserts the spans of what is found
    assert findings.problems == ()
    last = -1
    for part in sorted(parts_of(findings), key=lambda part: part.start):
        assert last <= part.start <= part.end <= len(text)
        last = part.end
        said = text[part.start : part.end]
        if isinstance(part, Text):
            assert part.text == said
        else:
            assert said[0] in "{$%"
            assert said[-1] in "}s"


@settings(max_examples=100, deadline=None)
@given(prompts(("a.md", "a.txt", "a.j2")), st.booleans())
def test_a_prompt_inside_json_is_the_same_prompt(prompt, ascii_only):
    path, text = prompt
    syntax = {"a.md": "braces", "a.txt": "format", "a.j2": "jinja"}[path]
    text = text.removeprefix("\ufeff").replace("\ud83d", "?")
    inside = json.dumps({"messages": [{"role": "system", "content": text}]}, ensure_ascii=ascii_only)
    plain, nested = found_in(text, "a.md", syntax=syntax, role="system"), found_in(inside, "a.json", syntax=syntax)
    if text.startswith("---"):
        return  # front matter of a file is text in a message
    assert [found.kind for found in nested.volatiles] == [found.kind for found in plain.volatiles]
    for ours, theirs in zip(nested.volatiles, plain.volatiles, strict=True):
        assert json.loads(f'"{ours.quote}"') == theirs.quote


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from([*PIECES, "a.json", "a.yaml", "a.prompt", "a.mustache", "chat_template.jinja"]),
    st.lists(
        st.sampled_from(SIGNS.split()) | st.sampled_from([" ", "\n", "\r\n", "\ufeff"]),
        max_size=40,
    ),
)
def test_any_text_is_read_or_a_problem(path, pieces):
    text = "".join(pieces)
    findings = found_in(text, path)
    assert all(0 <= problem.start <= len(text) for problem in findings.problems)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.md", "{{ " * 50_000),
        ("a.md", "{{ now" + " " * 300_000),
        ("a.md", "`a" * 100_000 + "{{ now }}"),
        ("a.md", "\\[" * 100_000 + "{{ now }}"),
        ("a.md", "\\aa" + "{x}" * 100_000 + "{{ now }}"),
        ("a.md", "<!--" * 100_000 + "{{ now }}"),
        ("a.txt", "{" + "a." * 100_000 + "}"),
        ("a.txt", "{a:" * 100_000),
        ("a.j2", "{% if a %}" * 5_000),
        ("a.j2", "{{ " + "(" * 50_000),
        ("a.j2", "{{ " + "a ~ " * 20_000 + "a }}"),
        ("a.j2", "{% foo %}" * 20_000),
        ("a.j2", "{% set a = now() %}" + "{% set a = a ~ a %}" * 60 + "{{ a }}" + RULES),
        (
            "a.j2",
            "{% macro m0() %}{{ now() }}{% endmacro %}"
            + "".join(f"{{% macro m{n + 1}() %}}{{{{ m{n}() }}}}{{{{ m{n}() }}}}{{% endmacro %}}" for n in range(40))
            + "{{ m40() }}"
            + RULES,
        ),
        ("a.hbs", "{{#a}}" * 50_000),
        ("a.json", "[" * 100_000),
        ("a.yaml", "- " * 50_000),
        ("a.yaml", 'a: "' + '\\"' * 100_000),
        ("a.yaml", "a: [\n" * 10_000),
        ("a.prompty", "system:\n" * 50_000),
    ],
    ids=range(20),
)
def test_hostile_texts_take_no_time(path, text):
    with at_most(8):
        found_in(text, path)


def test_places_are_code_points():
    (found,) = found_in("\ufeff😀 {{ request_id }}\r\n" + RULES).volatiles
    assert (found.span.line, found.span.column, found.span.start) == (1, 4, 3)


def test_placeholders_of_a_file_stand_in_its_order():
    findings = found_in("{{ a }} b {{ c }}\n" + RULES)
    assert [part.start for part in parts_of(findings) if isinstance(part, Placeholder)] == [0, 10]
