"""What is filled in, by syntax, and what only looks as if it were."""

from __future__ import annotations

import pytest
from support.templating import found_in, names_in

from prefixwise.analyzers.static.templates.parts import Text

READ = {
    # path, text, names
    "double braces": (
        "a.prompt.md",
        "Hi {{ user_name }} at {{now}}, {{ a.b.c }} {{ x | upper }}",
        "user_name now a.b.c x",
    ),
    "an example that is shown": (
        "prompts/a.txt",
        'Name the goal (e.g. "look for {{ query }} and open it"), or `{{ x }}`. Do "{{ task }}" (for example).',
        "task",
    ),
    "a filter with an argument": ("a.md", 'It is {{ now | date("HH:mm") }}.', "now"),
    "a call": ("a.md", "It is {{ now() }} and {{ user.get_name() }}.", "now user.get_name"),
    "jinja": ("a.j2", "{{ a }}{% if b %}{{ c }}{% else %}{{ d }}{% endif %}", "a c d"),
    "jinja with a choice": ("a.j2", "{{ a if b else c }}{{ d or 'x' }}{{ e ~ f }}", "a c d e f"),
    "jinja tests and comparisons print nothing of what they ask": ("a.j2", "{{ a is defined }}{{ b == c }}", ""),
    "jinja sizes are not what is sized": ("a.j2", "{{ documents | length }}{{ a|count }}", ""),
    "jinja constants": ("a.j2", "{{ 'now' }}{{ 3 }}", ""),
    "jinja set": ("a.j2", "{% set x = now() %}{{ x }}{% set y = x | upper %}{{ y }}", "now now"),
    "jinja set block": ("a.j2", "{% set x %}at {{ now }}{% endset %}{{ x }}", "now"),
    "jinja with": ("a.j2", "{% with x = user.name %}{{ x }}{% endwith %}", "user.name"),
    "jinja loops": (
        "a.j2",
        "{% for d in documents %}{{ d.text }}{{ loop.index }}{% endfor %}{{ d }}",
        "documents.text loop.index d",
    ),
    "jinja loop over a filtered list": (
        "a.j2",
        "{% for k, v in facts.items() %}{{ k }}{{ v }}{% endfor %}",
        "facts facts",
    ),
    "jinja macros": (
        "a.j2",
        "{% macro m(a, b=2) %}{{ a.c }}{{ now }}{{ b }}{% endmacro %}x{{ m(who, b=1) }}",
        "who.c now",
    ),
    "jinja comments": ("a.j2", "{# {{ now }} #}{{ a }}", "a"),
    "jinja raw": ("a.j2", "{% raw %}{{ now }}{% endraw %}{{ a }}", "a"),
    "jinja guessed by a tag": ("a.txt", "{% if a %}{{ b }}{% endif %}", "b"),
    "handlebars": ("a.hbs", "{{a}} {{{b}}} {{&c}} {{! d }} {{!-- {{e}} --}} {{> f}} \\{{g}}", "a b c"),
    "handlebars helpers": (
        "a.hbs",
        '{{formatDate now "HH:mm"}} {{json user}} {{#if a}}{{b}}{{else}}{{c}}{{/if}}',
        "now user b c",
    ),
    "handlebars scopes": (
        "a.hbs",
        "{{#each docs}}{{title}} {{this.text}} {{../now}} {{@index}}{{/each}}{{#with user}}{{name}}{{/with}}",
        "docs.title docs.text now user.name",
    ),
    "handlebars raw": ("a.hbs", "{{{{raw}}}}{{now}}{{{{/raw}}}}{{a}}", "a"),
    "mustache": ("a.mustache", "{{#docs}}{{.}} {{title}}{{/docs}}{{^docs}}none{{a}}{{/docs}}", "docs docs.title a"),
    "mustache with other delimiters": ("a.mustache", "{{=<% %>=}}<% now %> {{ a }}", "now"),
    "handlebars guessed by a section": ("a.txt", "{{#if a}}{{b}}{{/if}}", "b"),
    "format": ("a.txt", "Hi {user_name}, {a.b} {c[d]} {e!r} {f:.2f} {now:%H:%M} {{g}}", "user_name a.b c[d] e f now"),
    "format of an index": ("a.txt", "Hi {0} {name}", "name"),
    "format beside a written set": ("a.txt", "Rooms: {{kitchen, bath}}. Answer: {room}", "room"),
    "percent": ("a.txt", "Hi %(user_name)s, 100%% of %(a)d", "user_name a"),
    "dollar": ("a.txt", "Hi ${user.name}, ${now()} $x $${a}", "user.name now()"),
}

TEXT = {
    "fenced code": ("a.md", "Write:\n```\n{{ now }}\n{user_id}\n```\nand more."),
    "fenced code that is not closed": ("a.md", "Write:\n~~~\n{{ now }}\n"),
    "inline code": ("a.md", "Use `{{ now }}` or ``{{ today }}`` or `{now}`."),
    "a comment": ("a.md", "<!-- {{ now }} -->\nBe brief."),
    "JSON": ("a.md", 'Answer with {"now": "x", "list": [{"a": 1}], "empty": {}}.'),
    "JSON in format": ("a.txt", 'Answer {{"name": "x"}} or {{"now": 1}}.'),
    "LaTeX": ("a.md", r"Write \frac{now}{today}, $x_{now}$, \text{now}, \[{now}\], \begin{align}{now}\end{align}."),
    "LaTeX with double braces": ("a.md", r"Write \frac{{now}}{{today}} and $$ {{ now }} $$ and x^{{now}}."),
    "f-strings that are shown": (
        "a.txt",
        '3: print(f"Hello, {user_name}!")\n4: "log(f\\"At {now}\\")"\n5: log(f\'{now}\')\n',
    ),
    "addresses": ("a.txt", "GET /users/{user_id}/orders/{order_id}?at={now} and {base_url}/x"),
    "shell": ("a.md", "Use\n```sh\necho ${now}\n```"),
    "CSS and code": ("a.txt", "a {color: red} function() { return now; }"),
    "a directive": ("a.md", ":::{now}\nRead on.\n:::"),
    "nothing": ("a.md", "Be brief. 100 % of it."),
    "a set": ("a.txt", "the set {a, b, now} and {}"),
    "sets, one of which has one member": ("a.txt", "Rooms: {kitchen,  bath room, hall}. Answer: {kitchen}"),
    "braces without a name": ("a.md", "{{ }} and {{ 'now' }} and {{ 1 + 2 }} and {{ two words }}"),
}


@pytest.mark.parametrize("case", READ)
def test_what_is_filled_in(case):
    path, text, names = READ[case]
    findings = found_in(text, path)
    assert findings.problems == ()
    assert names_in(text, path) == names.split()


@pytest.mark.parametrize("case", TEXT)
def test_what_is_text(case):
    path, text = TEXT[case]
    findings = found_in(text, path)
    assert (names_in(text, path), findings.problems) == ([], ())


@pytest.mark.parametrize(
    ("syntax", "text", "names"),
    [
        ("jinja", "`{{ now }}` {now}", ["now"]),
        ("format", "`{now}` {{ now }}", ["now"]),
        ("percent", "{now} %(now)s", ["now"]),
        ("dollar", "{now} ${now}", ["now"]),
        ("handlebars", "`{{now}}` {now}", ["now"]),
        ("none", "{{ now }} {now}", []),
    ],
)
def test_a_declared_syntax_is_taken_at_its_word(syntax, text, names):
    assert names_in(text, "a.md", syntax=syntax) == names


@pytest.mark.parametrize(
    ("path", "text", "said"),
    [
        ("a.j2", "x\n{% if a %}", "{% if %} does not end"),
        ("a.j2", "x\n{% endif %}", "{% endif %} closes nothing"),
        ("a.j2", "x\n{{ a", "a tag does not end"),
        ("a.j2", "x\n{# a", "a comment does not end"),
        ("a.j2", "x\n{% raw %}", "a raw block does not end"),
        ("a.j2", "x\n{% if a %}{% for b in c %}{% endif %}{% endfor %}", "{% endif %} closes nothing"),
        ("a.j2", "x\n{% if (a %}x{% endif %}", "'}' is unexpected"),
        ("a.hbs", "x\n{{#if a}}", "the section 'if' does not end"),
        ("a.hbs", "x\n{{/if}}", "a section is closed that was not opened"),
        ("a.hbs", "x\n{{a", "a tag does not end"),
        ("a.json", '{"a":\n', "JSON is not complete"),
        ("a.yaml", 'a: b\n"', "a line of YAML belongs to nothing"),
        ("a.md", "x\n{{ if .Tools }}{{ end }}", "templates of Go are not read"),
    ],
)
def test_what_cannot_be_read_is_one_problem(path, text, said):
    findings = found_in(text, path)
    (problem,) = findings.problems
    assert problem.what == said
    assert 0 <= problem.start <= len(text)
    assert findings.volatiles == ()


def test_white_space_that_tags_take_away_is_not_sent():
    (template,) = found_in("a  \n{%- if b -%}\n  c\n{%- endif %}\nd", "a.j2").templates
    (message,) = template.messages
    assert [part.text for part in message.parts if isinstance(part, Text)] == ["a", "c", "\nd"]


def test_constants_that_are_printed_are_text():
    (template,) = found_in("{{ 'Be\\nbrief' }}{{ a }}", "a.j2").templates
    assert template.messages[0].parts[0].text == "Be\nbrief"


@pytest.mark.parametrize("text", ["{{#if a}}", "{{/if}}", "{{a", "{{#a}}{{/a}}{{/b}}"])
def test_a_problem_is_where_it_stands_behind_front_matter(text):
    head = "---\nmodel: gpt-4o\n---\nBe brief. "
    (problem,) = found_in(head + text, "a.hbs").problems
    assert problem.start == len(head) + text.index("{{/b" if "{{/b" in text else "{{")
