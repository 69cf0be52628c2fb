"""Fixes of sources: what each case's edits do, that nothing else changes, and that a second time changes nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from support.fixing import FixedFolder, fix_folder

CASES = Path(__file__).parents[3] / "fixtures" / "cases"
RULES = "Name the quay, the time and the fare in every answer, and never promise a refund. " * 12

# What --fix mends in our labelled sources, what --unsafe-fixes does beside, and what no tool can do.
SAFE = """
    python-folder-listed-pydantic-ai python-json-of-table-built-from-set-bedrock python-set-joined-langchain
    python-tools-out-of-set-anthropic
""".split()  # noqa: SIM905 - one a line would be a page
UNSAFE = """
    prompt-clock-in-jinja-variable prompt-clock-in-langchain-yaml prompt-counter-in-mustache
    prompt-person-first-in-dollar-braces prompt-person-first-in-prompty prompt-rules-behind-question
    prompt-trace-id-in-dotprompt python-clock-in-helper-module-openai python-step-number-in-system-openai
    python-user-name-first-anthropic
""".split()  # noqa: SIM905
LESS_IS_LOST = {
    "prompt-clock-in-jinja-variable",  # the conversation stands behind it
    "python-clock-in-helper-module-openai",
}
SOURCES = [
    folder.name
    for folder in sorted(CASES.iterdir())
    if folder.is_dir() and json.loads((folder / "expected.json").read_text("utf-8"))["input"]["mode"] == "static"
]


def case(name: str, *, unsafe: bool) -> FixedFolder:
    answer = json.loads((CASES / name / "expected.json").read_text("utf-8"))
    texts = {path: (CASES / name / path).read_bytes().decode() for path in answer["input"]["files"]}
    return fix_folder(texts, unsafe=unsafe)


@pytest.mark.parametrize("name", SAFE)
def test_a_safe_fix_does_away_with_the_finding(name: str) -> None:
    outcome = case(name, unsafe=False)
    assert outcome.fixed.made
    assert outcome.fixed.refused == ()
    assert outcome.fixed.left == ()
    assert outcome.again.after == {}


@pytest.mark.parametrize("name", UNSAFE)
def test_a_move_does_away_with_the_finding_or_with_most_of_its_loss(name: str) -> None:
    outcome = case(name, unsafe=True)
    assert outcome.fixed.made
    lost = sum(one.tokens_lost.value for one in outcome.found if one.tokens_lost)
    left = sum(one.tokens_lost.value for one in outcome.fixed.left if one.tokens_lost)
    assert lost > 300
    assert left < 20
    assert (outcome.fixed.left == ()) == (name not in LESS_IS_LOST)
    assert all(gain.after.hit_rate > gain.before.hit_rate + 0.5 for gain in outcome.fixed.prompts)
    assert outcome.again.after == {}


@pytest.mark.parametrize("name", sorted(set(SOURCES) - set(SAFE)))
def test_nothing_else_is_taken_to_be_safe(name: str) -> None:
    assert case(name, unsafe=False).fixed.after == {}


@pytest.mark.parametrize("name", sorted(set(SOURCES) - set(SAFE) - set(UNSAFE)))
def test_what_no_tool_can_mend_is_left_alone(name: str) -> None:
    assert case(name, unsafe=True).fixed.after == {}


def fixed(path: str, text: str, *, unsafe: bool = False, others: Mapping[str, str] | None = None) -> str:
    """Return what a file is after its fixes, which must be all there is to do."""
    outcome = fix_folder({path: text, **(others or {})}, unsafe=unsafe)
    assert outcome.again.after == {}
    return outcome.fixed.after.get(path, text)


def built(body: str, head: str = "") -> str:
    """Return a module that sends a system prompt made by `system()`."""
    return (
        f"import json\nimport os\nfrom datetime import datetime\nfrom pathlib import Path\nfrom openai import OpenAI\n"
        f'{head}\nRULES = "{RULES}"\n\n\ndef system(user, words: set[str], found):\n{body}\n\n\n'
        "def ask(user, words, found, question):\n"
        '    messages = [{"role": "system", "content": system(user, words, found)}]\n'
        '    messages.append({"role": "user", "content": question})\n'
        '    return OpenAI().chat.completions.create(model="gpt-4o", messages=messages)\n'
    )


@pytest.mark.parametrize(
    ("body", "after"),
    [
        ('    return ", ".join({"a", "b"}) + RULES', '    return ", ".join(sorted({"a", "b"})) + RULES'),
        ('    return ", ".join(words) + RULES', '    return ", ".join(sorted(words)) + RULES'),
        (
            '    seen = set(found)\n    return "".join(f"- {w}" for w in seen) + RULES',
            '    seen = set(found)\n    return "".join(f"- {w}" for w in sorted(seen, key=str)) + RULES',
        ),
        (
            '    text = ""\n    for word in words:\n        text += word\n    return text + RULES',
            '    text = ""\n    for word in sorted(words):\n        text += word\n    return text + RULES',
        ),
        (
            "    return f\"Topics: {', '.join(words)}. {RULES}\"",
            "    return f\"Topics: {', '.join(sorted(words))}. {RULES}\"",
        ),
        (
            '    names = os.listdir("notes")\n    return "; ".join(names) + RULES',
            '    names = sorted(os.listdir("notes"))\n    return "; ".join(names) + RULES',
        ),
        (
            '    return "".join(path.name for path in Path("notes").iterdir()) + RULES',
            '    return "".join(path.name for path in sorted(Path("notes").iterdir())) + RULES',
        ),
        (
            '    return "".join(path.name for path in resources.files("notes").iterdir()) + RULES',
            '    return "".join(path.name for path in sorted(resources.files("notes").iterdir(), key=str)) + RULES',
        ),
        ('    return ", ".join(list(words)[:9]) + RULES', '    return ", ".join(sorted(words)[:9]) + RULES'),
        (
            '    return ", ".join(list(set(found))[:9]) + RULES',
            '    return ", ".join(sorted(set(found), key=str)[:9]) + RULES',
        ),
        (
            "    return json.dumps({word: len(word) for word in words}) + RULES",
            "    return json.dumps({word: len(word) for word in sorted(words)}) + RULES",
        ),
        ("    return json.dumps(vars(found)) + RULES", "    return json.dumps(vars(found), sort_keys=True) + RULES"),
        (
            "    text = RULES + json.dumps(\n        vars(found),\n        indent=1,\n    )\n    return text + RULES",
            "    text = RULES + json.dumps(\n        vars(found),\n        indent=1, sort_keys=True,\n    )\n"
            "    return text + RULES",
        ),
        (
            "    said = vars(found)\n    text = json.dumps(said)\n    return text + RULES",
            "    said = vars(found)\n    text = json.dumps(said, sort_keys=True)\n    return text + RULES",
        ),
    ],
)
def test_what_is_gone_through_in_no_order_is_sorted(body: str, after: str) -> None:
    assert fixed("app.py", built(body)) == built(after)


@pytest.mark.parametrize(
    "body",
    [
        '    return "all" + RULES if "a" in words else RULES',
        '    return ", ".join(sorted(words)) + RULES',
        '    return next(Path("notes").iterdir()).name + RULES',
        "    return str(words) + RULES",
    ],
)
def test_what_is_not_gone_through_is_left_alone(body: str) -> None:
    assert fixed("app.py", built(body)) == built(body)


@pytest.mark.parametrize(
    "names",
    [
        'names = {"b", "a"}\n    if user:\n        names = ["z", "a"]\n    return ", ".join(names) + RULES',
        'return ", ".join(words or user.names) + RULES',
        'return ", ".join(words if user else ["z", "a"]) + RULES',
        'return ", ".join(chosen(user)) + RULES',
        'return ", ".join(Desk(found).names) + RULES',
        'names = set(found)\n    for names in user:\n        pass\n    return ", ".join(names) + RULES',
    ],
)
def test_what_may_be_a_list_in_an_order_that_is_meant_is_left_alone(names: str) -> None:
    head = (
        'def chosen(user):\n    if user:\n        return ["z", "a"]\n    return {"b", "a"}\n\n\n'
        "class Desk:\n    def __init__(self, found):\n        self.names = set(found)\n\n"
        '    def usual(self):\n        self.names = ["z", "a"]\n'
    )
    assert fixed("app.py", built(f"    {names}", head)) == built(f"    {names}", head)


@pytest.mark.parametrize(
    ("made", "walked"),
    [
        ('{"b", "a"} | {1}', "sorted(seen, key=str)"),
        ('{"b", "a"}\n    seen.add(1)', "sorted(seen, key=str)"),
        ('{"b", "a"} if user else set()', "sorted(seen, key=str)"),
        ('{word.lower() for word in found} & {"a", "b"}', "sorted(seen, key=str)"),
    ],
)
def test_members_that_may_be_of_several_types_are_sorted_by_what_they_print(made: str, walked: str) -> None:
    text = '    seen = {}\n    return "".join(f"- {{one}}" for one in {}) + RULES'
    assert fixed("app.py", built(text.format(made, "seen"))) == built(text.format(made, walked))


def test_another_sorted_than_the_builtin_is_not_used() -> None:
    text = built('    return ", ".join(words) + RULES', head="from mine import sorted\n")
    assert fixed("app.py", text) == text


@pytest.mark.parametrize(
    ("body", "after"),
    [
        (
            '    return f"It is {datetime.now():%H:%M}.\\n\\n{RULES}"',
            '    return f"{RULES}\\n\\nIt is {datetime.now():%H:%M}."',
        ),
        (
            '    return f"It is {datetime.now():%H:%M}. {RULES}"',
            '    return f"It is {datetime.now():%H:%M}. {RULES}"',
        ),
        (
            '    return f"""It is {datetime.now():%H:%M}.\n{RULES}\nBe brief, and kind to those who miss a ferry."""',
            '    return f"""{RULES}\nBe brief, and kind to those who miss a ferry.\nIt is {datetime.now():%H:%M}."""',
        ),
        (
            '    return f"It is {datetime.now():%H:%M}.\\n" + RULES',
            '    return RULES + f"\\nIt is {datetime.now():%H:%M}."',
        ),
        (
            '    return "\\n".join([f"It is {datetime.now():%H:%M}.", RULES])',
            '    return "\\n".join([RULES, f"It is {datetime.now():%H:%M}."])',
        ),
        (
            '    lines = []\n    lines.append(f"It is {datetime.now():%H:%M}.")\n    lines.append(RULES)\n'
            '    return "\\n".join(lines)',
            '    lines = []\n    lines.append(RULES)\n    lines.append(f"It is {datetime.now():%H:%M}.")\n'
            '    return "\\n".join(lines)',
        ),
        (
            '    lines = [f"It is {datetime.now():%H:%M}."]\n    lines.append(RULES)  # of the quay\n'
            '    return "\\n".join(lines)',
            "    lines = []\n    lines.append(RULES)  # of the quay\n"
            '    lines.append(f"It is {datetime.now():%H:%M}.")\n    return "\\n".join(lines)',
        ),
        (
            '    now = datetime.now()\n    return (\n        f"It is {now:%H:%M}.\\n"\n        f"{RULES}\\n"\n    )',
            '    now = datetime.now()\n    return (\n        f"{RULES}\\n"\n        f"It is {now:%H:%M}."\n    )',
        ),
    ],
)
def test_the_part_with_a_clock_goes_behind_the_rules(body: str, after: str) -> None:
    assert fixed("app.py", built(body), unsafe=True) == built(after)


@pytest.mark.parametrize(
    "body",
    [
        '    return f"It is {(now := datetime.now())}.\\n{RULES} Until {now.year}."',
        '    return f"It is {datetime.now()}, {next(user)}.\\n{RULES} {next(user)}"',
        '    return "\\n".join([f"It is {datetime.now()}, {found.pop()}.", RULES, found.pop()])',
        '    lines = [f"It is {datetime.now()}.", str(user := 1)]\n    lines.append(RULES + str(user))\n'
        '    return "\\n".join(lines)',
        '    lines = [\n        f"It is {datetime.now()}.",  # by the clock of the quay\n        RULES,\n    ]\n'
        '    lines.append("Be brief.")\n    return "\\n".join(lines)',
    ],
)
def test_what_counts_on_its_order_or_would_lose_a_comment_stays(body: str) -> None:
    assert fixed("app.py", built(body), unsafe=True) == built(body)


def test_a_value_inside_a_marked_block_stays_for_the_block_changes_anyway() -> None:
    body = (
        '    return [{"type": "text", "text": f"[{datetime.now()}]\\n{RULES}", "cache_control": {"type": "ephemeral"}}]'
    )
    assert fixed("app.py", built(body), unsafe=True) == built(body)


def test_a_block_goes_behind_the_one_that_is_marked() -> None:
    clock = '{"type": "text", "text": f"It is {datetime.now():%H:%M}."}'
    rules = '{"type": "text", "text": RULES, "cache_control": {"type": "ephemeral"}}'
    text = built(f"    return [{clock}, {rules}]")
    assert fixed("app.py", text, unsafe=True) == built(f"    return [{rules}, {clock}]")


def test_a_listing_in_a_script_is_sorted() -> None:
    script = (
        'import { readdirSync } from "fs";\nimport OpenAI from "openai";\nconst RULES = `%s`;\n'
        'const names = readdirSync("notes")%s;\nconst client = new OpenAI();\n'
        "export const ask = (question: string) =>\n  client.chat.completions.create({\n"
        '    model: "gpt-4o",\n    messages: [{ role: "system", content: names.join(", ") + RULES },\n'
        '      { role: "user", content: question }],\n  });\n'
    )
    assert fixed("ask.ts", script % (RULES, "")) == script % (RULES, ".sort()")
    elsewhere = script.replace('readdirSync("notes")', 'readdirSync("notes", options)') % (RULES, "")
    assert fixed("ask.ts", elsewhere) == elsewhere


@pytest.mark.parametrize("path", ["prompts/desk.md", "prompts/desk.txt", "prompts/desk.j2"])
@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_line_moves_with_its_own_line_end_and_nothing_else(path: str, line_break: str, mark: str) -> None:
    rules = [f"- 规则 {number}: Name the quay 😀, the time and the fare in every answer." for number in range(40)]
    lines = ["You help at the ferry desk.", "Today is {{ current_date }}.", "", "## Rules", *rules, ""]
    after = [lines[0], "", "## Rules", *rules, "", lines[1], ""]
    text = mark + line_break.join(lines)
    assert fixed(path, text, unsafe=True) == mark + line_break.join(after)


@pytest.mark.parametrize(
    ("top", "bottom"),
    [
        ("Now: {{ now }}", "Now: {{ now }}"),
        ("<context>\nNow: {{ now }}\n</context>", "<context>\nNow: {{ now }}\n</context>"),
        ("## Time\nNow: {{ now }}", "## Time\nNow: {{ now }}"),
        ("What time it is:\n{{ now }}", "What time it is:\n{{ now }}"),
        ("- Time: {{ now }}\n- Who: {{ user_name }}", "- Time: {{ now }}\n- Who: {{ user_name }}"),
    ],
)
def test_what_belongs_to_a_line_goes_with_it(top: str, bottom: str) -> None:
    rules = "## Rules\n" + "Name the quay, the time and the fare in every answer.\n" * 40
    assert fixed("prompts/desk.md", f"{top}\n\n{rules}", unsafe=True) == f"{rules.rstrip()}\n\n{bottom}\n"


def test_of_several_sentences_only_the_one_with_the_value_moves() -> None:
    rules = "Name the quay, the time and the fare in every answer.\n" * 40
    text = f"You help at the ferry desk. It is {{{{ now }}}} at the quay. Be kind.\n\n{rules}"
    after = f"You help at the ferry desk. Be kind.\n\n{rules.rstrip()}\n\nIt is {{{{ now }}}} at the quay.\n"
    assert fixed("prompts/desk.md", text, unsafe=True) == after


@pytest.mark.parametrize(
    "top",
    [
        "1. It is {{ now }}.\n2. Be kind.",
        "- It is {{ now }}.\n- Be kind.",
        "<{{ user_name }}>\nBe kind.",
        "{% if open %}It is {{ now }}.{% endif %}",
        "You work for Dr. {{ user_name }} and her patients, as of {{ now }}, and. {{ x }}",
    ],
)
def test_what_is_not_plain_to_move_stays(top: str) -> None:
    text = f"{top}\n\n" + "Name the quay, the time and the fare in every answer.\n" * 40
    assert fixed("prompts/desk.j2", text, unsafe=True) == text


def test_mixed_line_ends_become_those_of_most_lines() -> None:
    text = "One\r\nTwo\r\nThree {name}\nFour\r\n"
    assert fixed("prompts/desk.txt", text) == "One\r\nTwo\r\nThree {name}\r\nFour\r\n"
    assert fixed("prompts/desk.txt", "One\nTwo\n") == "One\nTwo\n"


def test_blanks_at_the_ends_of_lines_go_but_for_line_breaks_of_markdown() -> None:
    text = "One \nTwo  \nthree\t\n{{ name }} \n\nFour   "
    assert fixed("prompts/desk.md", text) == "One\nTwo  \nthree\n{{ name }}\n\nFour   "
    assert fixed("prompts/desk.txt", text) == "One\nTwo\nthree\n{{ name }}\n\nFour   "
