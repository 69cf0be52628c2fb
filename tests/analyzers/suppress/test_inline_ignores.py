"""Comments in sources: which findings they are about in each kind of file, and what is said of the comments."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.silenced import CONSTANT, hidden, sift_folder, told

from prefixwise.core.finding import Severity

HEAD = f'''from datetime import datetime
from openai import OpenAI

RULES = """{CONSTANT}"""


'''
SEND = """
    return OpenAI().chat.completions.create(
        model="gpt-4o", messages=[{"role": "system", "content": system}, {"role": "user", "content": question}]
    )
"""
CLOCK = "clock-in-prefix"


def asking(body: str) -> str:
    """Return a module with a function whose body makes `system`."""
    lines = "".join(f"    {line}\n" if line else "\n" for line in body.split("\n"))
    return f"{HEAD}def ask(question):\n{lines}{SEND}"


@pytest.mark.parametrize(
    "body",
    [
        'system = f"It is {datetime.now():%H:%M}. " + RULES  # prefixwise: ignore[clock-in-prefix]',
        '# prefixwise: ignore[clock-in-prefix]\nsystem = f"It is {datetime.now():%H:%M}. " + RULES',
        '# prefixwise: ignore[PW101] by its code\n\n# another comment\nsystem = f"It is {datetime.now()}. " + RULES',
        '# prefixwise: ignore[clock-in-prefix]\nsystem = f"""\nIt is\n{datetime.now():%H:%M}. """ + RULES',
        'system = f"""\nIt is\n{datetime.now():%H:%M}. """ + RULES  # prefixwise: ignore[clock-in-prefix]',
        'system = (  # prefixwise: ignore[clock-in-prefix]\n    "It is "\n    f"{datetime.now()}. "\n    + RULES\n)',
        'system = "".join([\n    "It is ",\n    # prefixwise: ignore[clock-in-prefix]\n'
        '    f"""\n{datetime.now()}""",\n    RULES,\n])',
        'system = "".join([\n    "It is ",\n    f"{datetime.now()}",  # prefixwise: ignore[PW101]\n    RULES,\n])',
        'if question:  # no head\n    now = datetime.now()  # prefixwise: ignore[PW101]\nsystem = f"{now}" + RULES',
    ],
)
def test_a_python_comment_is_about_its_statement(tmp_path: Path, body: str) -> None:
    sifted = sift_folder(tmp_path, {"app.py": asking(body)})
    assert [line.partition(" ")[2] for line in hidden(sifted)] == [CLOCK]
    assert told(sifted.kept) == []


@pytest.mark.parametrize(
    "body",
    [
        '# prefixwise: ignore[PW101]\nquestion = question.strip()\nsystem = f"It is {datetime.now()}. " + RULES',
        'system = f"It is {datetime.now()}. " + RULES\n# prefixwise: ignore[clock-in-prefix]',
        'text = "# prefixwise: ignore[clock-in-prefix]"\nsystem = f"It is {datetime.now()}. " + RULES',
        'system = f"""# prefixwise: ignore[clock-in-prefix]\n{datetime.now()}""" + RULES',
        '# prefixwise: ignore[clock-in-prefix]\nif question:\n    now = datetime.now()\nsystem = f"{now}" + RULES',
        'system = "".join([\n    "It is",  # prefixwise: ignore[PW101]\n    f"{datetime.now()}",\n    RULES,\n])',
        '# prefixwise: ignore[user-data-first]\nsystem = f"It is {datetime.now()}. " + RULES',
    ],
)
def test_a_python_comment_is_about_nothing_else(tmp_path: Path, body: str) -> None:
    sifted = sift_folder(tmp_path, {"app.py": asking(body)}, {CLOCK, "user-data-first"})
    assert hidden(sifted) == []
    assert [line.partition(" ")[2] for line in told(sifted.kept)] == [CLOCK]


def test_a_comment_on_a_head_is_about_the_head_alone(tmp_path: Path) -> None:
    code = f"{HEAD}# prefixwise: ignore[clock-in-prefix]\ndef ask(\n    question,\n    now=datetime.now(),\n):\n"
    code += '    system = f"It is {now} {datetime.now()}. " + RULES\n' + SEND
    sifted = sift_folder(tmp_path, {"app.py": code}, {CLOCK})
    last = code[: code.index("{now}")].count("\n") + 1
    assert told(sifted.kept) == [f"app.py:{last} {CLOCK}"]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_line_ends_and_byte_order_marks_do_not_matter(tmp_path: Path, end: str, bom: str) -> None:
    body = '# prefixwise: ignore[clock-in-prefix] é\nsystem = f"""\n{datetime.now()}""" + RULES'
    text = "# prefixwise: ignore-file[user-data-first]\n" + asking(body)
    sifted = sift_folder(tmp_path, {"app.py": bom + text.replace("\n", end)})
    assert [line.partition(" ")[2] for line in hidden(sifted)] == [CLOCK]
    assert [finding.span.line for finding in sifted.kept if finding.span] == [1]


def test_a_file_is_ignored_from_its_top(tmp_path: Path) -> None:
    top = "#!/usr/bin/env python\n# A licence.\n\n# prefixwise: ignore-file[clock-in-prefix] all of it\n"
    body = 'system = f"It is {datetime.now()}. " + RULES'
    sifted = sift_folder(tmp_path, {"app.py": top + asking(body), "late.py": asking(body) + top})
    assert [line.partition(":")[0] for line in hidden(sifted)] == ["app.py"]
    assert sifted.hidden[0].suppression.line == 4
    assert sifted.hidden[0].suppression.justification == "all of it"
    rules = [finding.rule for finding in sifted.kept if finding.path == "late.py"]
    assert rules == [CLOCK, "unknown-ignore"]


def notebook(*cells: list[str]) -> str:
    said = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": lines} for lines in cells]
    return json.dumps({"cells": said, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)


def test_a_notebook_is_read_cell_by_cell(tmp_path: Path) -> None:
    body = '# prefixwise: ignore[clock-in-prefix]\nsystem = f"It is {datetime.now()}. " + RULES'
    other = 'system = f"It is {datetime.now()}. " + RULES\n# prefixwise: ignore[ttl-expired]'
    lines = asking(body).replace("ask(", "tell(").splitlines(keepends=True)
    text = notebook(lines, ["%time 1\n"], asking(other).removeprefix(HEAD).splitlines(keepends=True))
    sifted = sift_folder(tmp_path, {"desk.ipynb": text})
    shown = text.split("\n")
    assert [finding.rule for finding in sifted.kept] == [CLOCK, "unused-ignore"]
    for finding in (*sifted.kept, *(one.finding for one in sifted.hidden)):
        assert finding.span is not None
        assert ("ttl-expired" if finding.rule == "unused-ignore" else "datetime") in shown[finding.span.line - 1]
    assert len(sifted.hidden) == 1
    assert "ignore[clock-in-prefix]" in shown[(sifted.hidden[0].suppression.line or 0) - 1]


SCRIPT = f"""import OpenAI from "openai";
const client = new OpenAI();
const RULES = `{CONSTANT}`;

async function ask(question) {{
  %s
  return client.chat.completions.create({{
    model: "gpt-4o",
    messages: [{{ role: "system", content: system }}, {{ role: "user", content: question }}],
  }});
}}
"""


@pytest.mark.parametrize(
    ("line", "ignored"),
    [
        ("// prefixwise: ignore[clock-in-prefix]\nconst system = `It is ${new Date().toISOString()}. ` + RULES;", True),
        ("/* prefixwise: ignore[PW101] */ const system = `It is ${new Date().toISOString()}. ` + RULES;", True),
        (
            "const system = `\nIt is ${new Date().toISOString()}. ` + RULES; // prefixwise: ignore[clock-in-prefix]",
            True,
        ),
        (
            "/**\n * prefixwise: ignore[PW101] é\n */\nconst system = `\n${new Date().toISOString()}` + RULES;",
            True,
        ),
        (
            "const a = '// prefixwise: ignore[clock-in-prefix]', system = `\n${new Date().toISOString()}` + RULES;",
            False,
        ),
        (
            "// prefixwise: ignore[clock-in-prefix]\nlet system; {\nsystem = `${new Date().toISOString()}` + RULES; }",
            False,
        ),
    ],
)
def test_comments_of_scripts(tmp_path: Path, line: str, ignored: bool) -> None:
    sifted = sift_folder(tmp_path, {"ask.ts": SCRIPT % line}, {CLOCK})
    found = hidden(sifted) if ignored else told(sifted.kept)
    assert [one.partition(" ")[2] for one in found] == [CLOCK]
    assert len(sifted.kept) + len(sifted.hidden) == 1


TEXT = "Hello {{ user_name }}, it is {{ now }}.\n" + CONSTANT
BOTH = ["user-data-first", CLOCK]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.j2", "{# prefixwise: ignore[clock-in-prefix, user-data-first] #}\n" + TEXT),
        ("a.j2", "{#- prefixwise: ignore-file[PW101, PW106] -#}\n\n\n" + TEXT),
        ("a.j2", TEXT.replace(".\n", ".{# prefixwise: ignore[clock-in-prefix,PW106] #}\n", 1)),
        ("a.md", "{# prefixwise: ignore[clock-in-prefix, user-data-first] #}\n" + TEXT),
        ("a.hbs", "{{! prefixwise: ignore[clock-in-prefix, user-data-first] }}\n" + TEXT),
        ("a.hbs", "{{!-- prefixwise: ignore[clock-in-prefix, user-data-first] --}}\n" + TEXT),
        ("a.mustache", "{{! prefixwise: ignore-file[clock-in-prefix, user-data-first] }}\n" + TEXT),
        ("a.md", "---\n# prefixwise: ignore-file[clock-in-prefix, user-data-first]\nmodel: gpt-4o\n---\n" + TEXT),
        ("a.md", "---\nmodel: gpt-4o # prefixwise: ignore-file[clock-in-prefix, user-data-first]\n---\n" + TEXT),
        ("a.yaml", "# prefixwise: ignore[clock-in-prefix, PW106]\nsystem: |\n  " + TEXT.replace("\n", "\n  ")),
        ("a.yaml", "system: |  # prefixwise: ignore[clock-in-prefix, PW106]\n\n  " + TEXT.replace("\n", "\n  ")),
        ("a.yml", "messages:\n- role: system\n  # prefixwise: ignore[clock-in-prefix, PW106]\n  content: |\n    "
         + TEXT.replace("\n", "\n    ")),
        ("a.yml", "system: |\n  {# prefixwise: ignore[PW101, PW106] #}\n  " + TEXT.replace("\n", "\n  ")),
        ("a.toml", "# prefixwise: ignore[clock-in-prefix, user-data-first]\nsystem = '''\n" + TEXT + "'''\n"),
    ],
)  # fmt: skip
def test_comments_that_no_model_reads(tmp_path: Path, name: str, text: str) -> None:
    sifted = sift_folder(tmp_path, {f"prompts/{name}": text})
    assert [one.finding.rule for one in sifted.hidden] == BOTH
    assert sifted.kept == ()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.j2", "{% raw %}{# prefixwise: ignore[clock-in-prefix, user-data-first] #}{% endraw %}\n" + TEXT),
        ("a.j2", "{{ '{# prefixwise: ignore[clock-in-prefix] #}' }}\n" + TEXT),
        ("a.hbs", "\\{{! prefixwise: ignore[clock-in-prefix, user-data-first] }}\n" + TEXT),
        ("a.hbs", "{{{{raw}}}}{{! prefixwise: ignore[PW101, PW106] }}{{{{/raw}}}}\n" + TEXT),
        ("a.md", "```\n<!-- prefixwise: ignore[clock-in-prefix, user-data-first] -->\n```\n" + TEXT),
        ("a.md", "# prefixwise: ignore[clock-in-prefix, user-data-first]\n" + TEXT),
        ("a.txt", "<!-- prefixwise: ignore[clock-in-prefix, user-data-first] -->\n" + TEXT),
        ("a.yaml", "system: |\n  # prefixwise: ignore[clock-in-prefix, PW106]\n  " + TEXT.replace("\n", "\n  ")),
        ("a.yaml", "a: 'x # prefixwise: ignore[clock-in-prefix, PW106]'\nsystem: |\n  " + TEXT.replace("\n", "\n  ")),
        ("a.yaml", "# prefixwise: ignore[PW101, PW106]\nmessages:\n- role: system\n  content: |\n    "
         + TEXT.replace("\n", "\n    ")),
    ],
)  # fmt: skip
def test_text_that_looks_like_a_comment_hides_nothing(tmp_path: Path, name: str, text: str) -> None:
    sifted = sift_folder(tmp_path, {f"prompts/{name}": text}, BOTH)
    assert hidden(sifted) == []
    assert {finding.rule for finding in sifted.kept} >= {CLOCK}


def test_json_has_no_comments(tmp_path: Path) -> None:
    text = json.dumps({"system": "{# prefixwise: ignore-file[clock-in-prefix, user-data-first] #}" + TEXT})
    sifted = sift_folder(tmp_path, {"prompts/a.json": text}, BOTH)
    assert (hidden(sifted), len(sifted.kept)) == ([], 2)


@pytest.mark.parametrize("name", ["a.md", "a.xml"])
def test_a_comment_of_html_works_and_says_what_it_costs(tmp_path: Path, name: str) -> None:
    text = "<!-- prefixwise: ignore[clock-in-prefix, user-data-first] -->\n" + TEXT
    sifted = sift_folder(tmp_path, {f"prompts/{name}": text})
    assert [one.finding.rule for one in sifted.hidden] == BOTH
    (costly,) = sifted.kept
    assert (costly.rule, costly.severity) == ("costly-ignore", Severity.INFO)
    assert costly.span is not None
    assert text[costly.span.start : costly.span.end] == text.split("\n")[0]
    tokens = int(costly.message.split(": ")[1].split()[0])
    assert 12 <= tokens <= 25


def test_comments_that_do_nothing_are_told_of(tmp_path: Path) -> None:
    text = (
        "{# prefixwise: ignore[clock-in-prefix, nonsense-rule, compaction] #}\n" + CONSTANT
        + "{# prefixwise: ignore #}\n{# prefixwise: ignore-file[PW101] #}\n{# prefixwise: ignore[clok-in-prefix] #}\n"
    )  # fmt: skip
    sifted = sift_folder(tmp_path, {"prompts/a.j2": text})
    messages = [f"{finding.rule}: {finding.message}" for finding in sifted.kept]
    assert messages == [
        "unused-ignore: The rule clock-in-prefix finds nothing there.",
        "unknown-ignore: There is no rule `nonsense-rule`.",
        "unused-ignore: The rule compaction is seen in logs only.",
        "unknown-ignore: This comment ignores nothing: it names no rule: write `prefixwise: ignore[rule] reason`.",
        "unknown-ignore: This comment ignores nothing: `ignore-file` has to stand above everything but comments.",
        "unknown-ignore: There is no rule `clok-in-prefix`; did you mean clock-in-prefix?",
    ]
    for finding in sifted.kept:
        assert finding.span is not None
        assert text[finding.span.start : finding.span.end] == finding.from_text


def test_only_rules_that_ran_can_be_unused(tmp_path: Path) -> None:
    text = "{# prefixwise: ignore[clock-in-prefix, user-data-first] #}\n" + CONSTANT
    sifted = sift_folder(tmp_path, {"prompts/a.j2": text}, {CLOCK, "unused-ignore"})
    assert [finding.from_text for finding in sifted.kept] == [CLOCK]
    assert sift_folder(tmp_path, {"prompts/a.j2": text}, {CLOCK}).kept == ()
    assert sift_folder(tmp_path, {"prompts/a.j2": text}, judges=False).kept == ()


def test_what_is_said_of_comments_can_be_ignored_too(tmp_path: Path) -> None:
    text = "<!-- prefixwise: ignore-file[costly-ignore, unused-ignore] seen -->\n<!-- prefixwise: ignore[PW101] -->\n"
    sifted = sift_folder(tmp_path, {"prompts/a.md": text + CONSTANT})
    assert sifted.kept == ()
    assert [one.finding.rule for one in sifted.hidden] == ["costly-ignore", "costly-ignore", "unused-ignore"]
    assert {one.suppression.justification for one in sifted.hidden} == {"seen"}


def test_a_reason_is_masked(tmp_path: Path) -> None:
    text = "{# prefixwise: ignore-file[PW101, PW106] ask ines.aguirre@example.org #}\n" + TEXT
    sifted = sift_folder(tmp_path, {"prompts/a.j2": text})
    assert {one.suppression.justification for one in sifted.hidden} == {"ask [masked:email]"}
