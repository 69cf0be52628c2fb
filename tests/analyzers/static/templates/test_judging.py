"""What changes in front of constant text, and what does not or stands behind it."""

from __future__ import annotations

import json

import pytest
from support.templating import RULES, found_in, kinds_in

from prefixwise.analyzers.static.volatile import Frequency
from prefixwise.core.finding import Confidence, Where

# What stands on the first line, or in front of the constant text, and what it is.
IN_FRONT = {
    "a person": ("You help {{ traveller_name }}.", [("person", "{{ traveller_name }}")]),
    "a clock": ("Now it is {{ now | date('HH:mm') }}.", [("clock", "{{ now | date('HH:mm') }}")]),
    "an id": ("Thread: {{ thread_id }}", [("identifier", "{{ thread_id }}")]),
    "a notice": ("{{ bridge_notice }}", [("retrieved", "{{ bridge_notice }}")]),
    "memories": ("Known: {{ memories }}", [("retrieved", "{{ memories }}")]),
    "a counter": ("{{ tokens_left }} tokens are left.", [("counter", "{{ tokens_left }}")]),
    "a directory": ("You work in {{ cwd }}.", [("environment", "{{ cwd }}")]),
    "all at once": (
        "{{ user.name }}, {{ today }}, {{ request_id }}",
        [("person", "{{ user.name }}"), ("clock", "{{ today }}"), ("identifier", "{{ request_id }}")],
    ),
    "the same twice is one": ("{{ user.name }} and {{ user.email }}", [("person", "{{ user.name }}")]),
    "a version": ("Prompt {{ version }} for {{ model }} in {{ language }}", []),
    "nothing": ("You are the desk.", []),
    "a name that tells nothing": ("You write on {{ genre }}.", []),
    "a constant date": ("As of 2026-03-11, in line with rule 7.", []),
    "a year": ("It is {{ now | date('YYYY') }}.", []),
    "a date of something": ("Published {{ release_date }}.", []),
}


@pytest.mark.parametrize("case", IN_FRONT)
def test_in_front_of_constant_text(case):
    line, expected = IN_FRONT[case]
    assert kinds_in(f"{line}\n\n{RULES}\n\n{{{{ question }}}}") == expected


@pytest.mark.parametrize("case", IN_FRONT)
def test_behind_constant_text(case):
    line, _ = IN_FRONT[case]
    findings = found_in(f"{RULES}\n\n{line}\nReader: {{{{ question }}}}")
    assert (findings.volatiles, findings.stranded) == ((), ())


def test_what_is_said_of_a_value():
    (clock,) = found_in(f"---\nmodel: gpt-4o\n---\nNow {{{{ now | date('HH:mm') }}}}.\n{RULES}").volatiles
    assert (clock.span.line, clock.span.column, clock.name) == (4, 5, "now")
    assert (clock.precision, clock.frequency, clock.confidence) == ("minute", Frequency.CALL, Confidence.LIKELY)
    assert clock.area is Where.SYSTEM
    assert 250 < clock.stable_behind < 350
    assert clock.evidence[0] == "its name is a clock's"
    assert clock.evidence[1].endswith("tokens of constant text stand behind it")


def test_a_value_that_goes_through_variables():
    (clock,) = found_in(
        "{% set stamp = now().strftime('%H:%M') %}\n{% set head = 'At ' ~ stamp %}\n{{ head }}\n" + RULES, "a.j2"
    ).volatiles
    assert (clock.quote, clock.span.line, clock.precision) == ("now().strftime('%H:%M')", 1, "minute")
    assert [(step.note, step.span.line) for step in clock.flow] == [
        ("is kept as stamp", 1),
        ("is kept as head", 2),
        ("is printed", 3),
    ]


@pytest.mark.parametrize(
    ("printed", "precision"),
    [
        ("{{ now('utc', '%Y-%m-%d') }}", "day"),
        ("{{ datetime.now().date() }}", "day"),
        ("{{ datetime.utcnow().isoformat() }}", ""),
        ("{{ now | date: '%H:%M' }}", "minute"),
        ("{{ 'now' | date: '%B %d' }}", "day"),
        ("{% now 'utc', '%H:%M' %}", "minute"),
        ("{{ datetime.now().hour }}", "hour"),
    ],
)
def test_how_finely_a_clock_is_printed(printed, precision):
    (clock,) = found_in(f"It is {printed}.\n" + RULES, "a.j2").volatiles
    assert (clock.kind.name, clock.precision, clock.quote) == ("CLOCK", precision, printed)


@pytest.mark.parametrize("printed", ["{{ datetime.now().year }}", "{{ caller() }}", "{{ _('hi') }}", "{{ super() }}"])
def test_what_is_printed_and_is_no_loss(printed):
    findings = found_in(printed + "\n" + RULES, "a.j2")
    assert (findings.volatiles, findings.stranded) == ((), ())


def test_examples_that_are_drawn():
    text = "{% for e in examples | random_sample(3) %}{{ e.question }}{% endfor %}\n" + RULES
    assert kinds_in(text, "a.j2") == [("examples", "{% for e in examples | random_sample(3) %}")]
    assert kinds_in("{% for e in examples %}{{ e.question }}{% endfor %}\n" + RULES, "a.j2") == []


def test_a_variable_that_is_set_to_a_constant_is_one():
    assert kinds_in("{% set today = 'Monday' %}{{ today }}\n" + RULES, "a.j2") == []
    assert kinds_in("{% if not today %}{% set today = now() %}{% endif %}{{ today }}\n" + RULES, "a.j2") == [
        ("clock", "now()")
    ]


def test_a_loop_over_what_is_looked_up_is_one_finding():
    text = "{% for d in retrieved_docs %}\n{{ d.title }}: {{ d.text }} ({{ d.date }})\n{% endfor %}\n" + RULES
    assert kinds_in(text, "a.j2") == [("retrieved", "{% for d in retrieved_docs %}")]
    text = "{{#each retrieved_docs}}{{title}}: {{text}}{{/each}}\n" + RULES
    assert kinds_in(text, "a.hbs") == [("retrieved", "{{#each retrieved_docs}}")]


def test_items_of_a_list_are_not_the_clock():
    text = "{% for order in customer.orders %}{{ order.date }} {{ order.id }}\n{% endfor %}" + RULES
    assert kinds_in(text, "a.j2") == []
    assert kinds_in("{{#orders}}{{date}} {{now}}{{/orders}}\n" + RULES, "a.mustache") == [("clock", "{{now}}")]


def test_text_of_a_loop_or_an_alternative_is_not_counted():
    def behind(tail):
        (found,) = found_in("{{ request_id }}\n" + RULES + tail, "a.j2").volatiles
        return found.stable_behind

    plain = behind("")
    assert behind("{% for r in things %}" + RULES + "{% endfor %}") == plain
    assert plain < behind("{% if a %}" + RULES + "{% else %}" + RULES + "{% endif %}") < 2.1 * plain


def test_a_short_tail_is_no_loss():
    long = "\n".join([RULES] * 5)
    assert kinds_in(f"{long}\n{{{{ user_name }}}}\nAnswer {' politely' * 70}.") == []
    assert kinds_in(f"{RULES}\n{{{{ user_name }}}}\nAnswer {' politely' * 70}.") == [("person", "{{ user_name }}")]


def test_the_conversation_behind_a_clock_is_lost_with_it():
    assert kinds_in(RULES + "\n{{ now }}\n{{ history }}") == [("clock", "{{ now }}")]
    assert kinds_in(RULES + "\n{{ today }}\n{{ history }}") == []
    assert kinds_in(RULES + "\n{{ user_name }}\n{{ history }}") == []


def test_what_stands_behind_the_request_is_lost_anyway():
    text = "{{ question }}\n" + RULES + "\n{{ context }} {{ user_name }}\n" + RULES
    assert kinds_in(text) == []
    (clock,) = found_in("{{ task }}\n" + RULES + "\n{{ now }}\n" + RULES).volatiles
    assert clock.confidence is Confidence.POSSIBLE


class TestStranded:
    def test_the_request_in_front_of_the_rules(self):
        (found,) = found_in("Question: {{ question }}\n\n" + RULES).stranded
        assert (found.name, found.quote, found.confidence) == ("question", "{{ question }}", Confidence.LIKELY)
        assert found.tokens_before < 5 < 250 < found.tokens_behind
        assert found.minimum is None

    def test_a_name_that_tells_nothing_is_possible(self):
        (found,) = found_in("Genre: {{ genre }}\n\n" + RULES).stranded
        assert found.confidence is Confidence.POSSIBLE

    def test_what_is_fixed_strands_nothing(self):
        assert found_in("You are {{ agent_name }} {{ version }}\n\n" + RULES).stranded == ()

    def test_a_value_that_changes_by_itself_is_said_once(self):
        findings = found_in("{{ user_name }} {{ genre }}\n\n" + RULES)
        assert ([found.name for found in findings.volatiles], findings.stranded) == (["user_name"], ())

    def test_below_the_minimum_of_a_model_nothing_is_saved(self):
        text = "Question: {{ question }}\n\n" + RULES
        assert found_in(text, model="claude-sonnet-4-5").stranded == ()
        assert found_in(text, model="unheard-of").stranded != ()
        (found,) = found_in(text + "\n\n" + "\n".join([RULES] * 6), model="claude-sonnet-4-5").stranded
        assert found.minimum == 1024


class TestRoles:
    PROMPTY = "---\nmodel:\n  api: chat\n---\nsystem:\nNow it is {{now}}.\n{rules}\n\nuser:\n{{now}} {{question}}\n"

    def test_prompty(self):
        findings = found_in(self.PROMPTY.replace("{rules}", RULES), "a.prompty")
        (template,) = findings.templates
        assert [message.role for message in template.messages] == ["system", "user"]
        assert [(found.span.line, found.area) for found in findings.volatiles] == [(6, Where.SYSTEM)]

    def test_the_newest_message_may_say_what_it_likes(self):
        text = f"system:\n{RULES}\nuser:\n{{{{ now }}}} {{{{ user_name }}}}\n{RULES}\n"
        findings = found_in(text, "a.prompty")
        assert (findings.volatiles, findings.stranded) == ((), ())
        assert kinds_in("{{ now }}\n" + RULES, role="user") == []
        assert kinds_in("{{ now }}\n" + RULES, role="system") == [("clock", "{{ now }}")]

    def test_order_is_that_of_the_cache_and_not_of_the_file(self):
        text = f"user:\n{{{{ now }}}} {{{{ question }}}}\nsystem:\n{RULES}\n"
        assert kinds_in(text, "a.prompty") == []

    def test_an_earlier_message_is_part_of_the_prefix(self):
        text = (
            f"system:\nBe brief.\nuser:\n{{{{ request_id }}}}\n{RULES}\nassistant:\nYes.\nuser:\n{{{{ question }}}}\n"
        )
        (found,) = found_in(text, "a.prompty").volatiles
        assert found.area is Where.MESSAGES

    def test_dotprompt(self):
        text = (
            "---\nmodel: googleai/gemini-2.5-flash\ninput:\n  schema:\n    when: string, the current time\n---\n"
            '{{role "system"}}\nIt is {{when}}.\n' + RULES + '\n{{role "user"}}\n{{when}} {{question}}\n'
        )
        findings = found_in(text, "a.prompt")
        assert [(found.kind.name, found.span.line) for found in findings.volatiles] == [("CLOCK", 8)]
        assert findings.context.model == "googleai/gemini-2.5-flash"
        assert "declared" in findings.volatiles[0].evidence[0]

    def test_blocks_of_messages(self):
        text = (
            '<message role="system">\nIt is {{now}}.\n' + RULES + '\n</message>\n<message role="user">{{now}}</message>'
        )
        assert kinds_in(text, "a.hbs") == [("clock", "{{now}}")]
        text = "{{#system}}\nIt is {{now}}.\n" + RULES + "\n{{/system}}\n{{#user}}{{now}}{{/user}}"
        assert kinds_in(text, "a.hbs") == [("clock", "{{now}}")]
        text = '{% chat role="user" %}{{ now }}{% endchat %}{% chat role="system" %}' + RULES + "{% endchat %}"
        assert kinds_in(text, "a.j2") == []

    def test_a_role_on_a_line_of_other_prompts_is_text(self):
        (template,) = found_in("Example:\nuser:\nHi\nassistant:\nHello\n{{ question }}", "a.md").templates
        assert [message.role for message in template.messages] == [""]


class TestFiles:
    def test_yaml_of_messages(self):
        text = "model: gpt-4o\nmessages:\n  - role: user\n    content: '{{now}} {{question}}'\n"
        text += "  - role: system\n    content: |\n"
        text += "      It is {{now}}.\n" + "".join(f"      {line}\n" for line in RULES.splitlines())
        findings = found_in(text, "a.prompt.yaml")
        assert [(found.quote, found.span.line) for found in findings.volatiles] == [("{{now}}", 7)]
        assert findings.context.model == "gpt-4o"

    def test_json_of_messages(self):
        rules = RULES.replace("\n", "\\n")
        text = '{"messages": [{"role": "system", "content": "\\u2708 It is {now:%H:%M}.\\n' + rules + '"},'
        text += '{"role": "user", "content": [{"type": "text", "text": "{question}"}]}]}'
        (found,) = found_in(text, "a.json").volatiles
        assert (found.quote, found.precision) == ("{now:%H:%M}", "minute")

    def test_langchain(self):
        text = "_type: prompt\ninput_variables: [context, question]\npartial_variables:\n  today: Monday\ntemplate: |\n"
        text += "  {today} {context}\n" + "".join(f"  {line}\n" for line in RULES.splitlines()) + "  {question}\n"
        assert kinds_in(text, "a.yaml") == [("retrieved", "{context}")]

    def test_each_prompt_of_a_file_is_one_of_its_own(self):
        lines = "".join(f"  {line}\n" for line in RULES.splitlines())
        text = "ask: |\n  It is Monday.\n  {{ now }}\nrules: |\n" + lines
        assert kinds_in(text, "prompts.yaml") == []
        assert kinds_in("system: |\n  {{ now }}\n" + lines + "user: |\n  {{ now }}\n", "prompts.yaml") == [
            ("clock", "{{ now }}")
        ]

    def test_a_program_of_dspy_is_filled_in_by_nothing(self):
        text = '{"predict": {"signature": {"instructions": "{now} ' + "word " * 200 + '"}, "demos": [], "lm": null}}'
        assert found_in(text, "a.json").templates == ()

    def test_front_matter_is_not_sent(self):
        text = "---\nname: {{ now }}\nupdated: 2026-03-11\n---\n" + RULES
        assert kinds_in(text) == []

    def test_a_text_that_begins_with_a_rule_is_no_front_matter(self):
        assert kinds_in("---\nIt is {{ now }}.\n" + RULES) == [("clock", "{{ now }}")]

    def test_langchain_as_it_saves_its_prompts(self):
        def part(kind, text):
            template = {"lc": 1, "id": ["langchain", "PromptTemplate"], "kwargs": {"template": text}}
            return {"lc": 1, "id": ["langchain", f"{kind}MessagePromptTemplate"], "kwargs": {"prompt": template}}

        messages = [part("System", "{now}\n" + RULES), part("Human", "{now} {question}")]
        text = json.dumps({"lc": 1, "id": ["langchain", "ChatPromptTemplate"], "kwargs": {"messages": messages}})
        findings = found_in(text, "a.json")
        assert [message.role for message in findings.templates[0].messages] == ["system", "user"]
        assert [found.kind.name for found in findings.volatiles] == ["CLOCK"]

    def test_pairs_of_role_and_text(self):
        text = json.dumps([["human", "{now} {question}"], ["system", "{user_name}\n" + RULES]])
        assert kinds_in(text, "a.json") == [("person", "{user_name}")]

    def test_marks_of_a_chat(self):
        text = "<|im_start|>user\n{{ now }}<|im_end|>\n<|im_start|>system\n{{ user_name }}\n" + RULES + "<|im_end|>"
        assert kinds_in(text, "a.j2") == [("person", "{{ user_name }}")]

    def test_names_of_files(self):
        assert kinds_in("{{ now }}\n" + RULES, "prompts/user_prompt.md") == []
        assert kinds_in("{{ now }}\n" + RULES, "prompts/user_guide.md") == [("clock", "{{ now }}")]

    def test_variables_of_dify(self):
        assert kinds_in("{{#sys.now#}} {{#context#}}\n" + RULES, "a.md") == [
            ("clock", "{{#sys.now#}}"),
            ("retrieved", "{{#context#}}"),
        ]

    def test_prompty_with_another_syntax(self):
        text = "---\ntemplate:\n  format: mustache\n---\nsystem:\n{{now}}\n" + RULES + "\nuser:\n{{now}}\n"
        (template,) = found_in(text, "a.prompty").templates
        assert (template.syntax, [message.role for message in template.messages]) == ("mustache", ["system", "user"])

    def test_other_names_of_syntaxes(self):
        assert kinds_in("{now}\n" + RULES, syntax="f-string") == [("clock", "{now}")]
        assert kinds_in("{{ now }}\n" + RULES, syntax="Jinja2") == [("clock", "{{ now }}")]
        assert kinds_in("{{ now }}\n" + RULES, syntax="of the future") == [("clock", "{{ now }}")]
