"""The line of a source that fills in what moves in a log."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.log_sources import TAIL, located, named

from prefixwise.analyzers.origins.code_strings import Language, code_strings
from prefixwise.analyzers.origins.holes import holes
from prefixwise.core.report import Findings, Report
from prefixwise.reports.format import FORMATS

PROMPT = "You answer questions about ferries.\nIt is now @ at the harbour office.\nBe brief." + TAIL

HEAD = "You answer questions about ferries."
SOURCES = {
    "f-string": (
        "app.py",
        f'def build(now):\n    return f"""{HEAD}\nIt is now {{now:%H:%M:%S}} at the harbour office.\nBe brief."""\n',
        "{now:%H:%M:%S}",
    ),
    "f-string with quotes of its own kind inside": (
        "app.py",
        f'x = f"{HEAD}\\nIt is now {{data["now"]}} at the harbour office."\n',
        '{data["now"]}',
    ),
    "dedented text for format": (
        "app.py",
        f"from textwrap import dedent\nP = dedent('''\n    {HEAD}\n    It is now {{now}}"
        " at the harbour office.\n''')\n",
        "{now}",
    ),
    "positional format": ("app.py", 'p = "It is now {} at the harbour office.".format(now)\n', "{}"),
    "percent": ("app.py", 'p = "It is now %s at the harbour office." % now\n', "%s"),
    "side by side, continued, escaped": (
        "app.py",
        'p = ("You answer \\\nquestions about ferries.\\n"  # "no"\n'
        '     f"It is \\x6eow {now} at the harb\\u006fur office.")\n',
        "{now}",
    ),
    "concatenation": (
        "app.py",
        'p = SYSTEM + "\\nIt is now " + clock.now() + " at the harbour office."\n',
        "clock.now()",
    ),
    "end of a text": ("app.py", 'p = "You answer questions about ferries.\\nIt is now " + now\n', "now"),
    "half-written code": ("app.py", 'def f(:\n  return f"It is now {now} at the harbour office."\n  x = [\n', "{now}"),
    "javascript template": (
        "app.js",
        "// it's\nexport const p = (now) => `You answer questions about ferries.\n"
        "  It is now ${fmt(now, `${x}`)} at the harbour office.`;\n",
        "${fmt(now, `${x}`)}",
    ),
    "javascript concatenation": (
        "app.ts",
        "const p: string = 'It is now ' + new_time(now) + ' at the harbour' +\n  \" office.\";\n",
        "new_time(now)",
    ),
    "javascript escapes": (
        "app.mjs",
        "const p = 'It\\u0020is now {{now}} at the h\\x61rbour\\\n office.';\n",
        "{{now}}",
    ),
    "jinja with trimming": (
        "p.jinja",
        "{#- a note -#}\nYou answer questions about ferries.\n{% if now -%}\n  It is now {{ now | time }}"
        " at the harbour office.\n{%- endif %}\nBe brief.",
        "{{ now | time }}",
    ),
    "text": (
        "prompts/p.md",
        "You answer questions about ferries.\r\nIt is now {now} at the harbour office.\r\n",
        "{now}",
    ),
    "handlebars": ("p.hbs", "{{#if now}}It is now {{time now}} at the harbour office.{{/if}}", "{{time now}}"),
    "yaml block": (
        "prompts/p.yaml",
        "name: desk\nprompt: >-\n  You answer questions about ferries.\n"
        "  It is now {{ now }}\n  at the harbour office.\n",
        "{{ now }}",
    ),
    "json": (
        "prompts/p.json",
        json.dumps({"system": f"{HEAD}\nIt is now {{{{now}}}} at the harbour office."}).replace("har", "h\\u0061r"),
        "{{now}}",
    ),
    "toml": (
        "prompts/p.toml",
        '# it\'s\nprompt = """\nYou answer questions about ferries.\n'
        'It is now {{ now }} \\\n   at the harbour office."""\n',
        "{{ now }}",
    ),
    "notebook": (
        "desk.ipynb",
        json.dumps(
            {"cells": [{"cell_type": "code", "source": ["prompt = f'It is now {now} at the harbour office.'\n", "x"]}]}
        ),
        "{now}",
    ),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_the_place_between_constant_text_is_named(tmp_path: Path, kind: str) -> None:
    path, text, place = SOURCES[kind]
    finding = located(tmp_path, PROMPT, {path: text, "other.py": 'prompt = f"It is {late} at the office."\n'})
    assert named(tmp_path, finding) == [(path, place)]
    line = (tmp_path / "sources" / path).read_bytes().decode().split(place)[0].count("\n") + 1
    assert finding.flow[0].span.line == line
    assert f"the text around it stands in sources/{path}:{line}" in finding.evidence


APART = {
    "other text in front": 'prompt = f"It is soon {now} at the harbour office."\n',
    "other text behind": 'p = f"It is now {now} at the airport."\n',
    "the gap stands elsewhere": 'p = f"It is now at {place} the harbour office."\n',
    "no gap": 'p = "It is now at the harbour office."\n',
    "a comment": '# f"It is now {now} at the harbour office."\nprompt = 1\n',
    "bytes": 'prompt = b"It is now %s at the harbour office." % now\n',
    "too little text": 'prompt = f"is {now} a"\n',
}


@pytest.mark.parametrize("kind", APART)
def test_what_only_looks_like_it_is_not_named(tmp_path: Path, kind: str) -> None:
    finding = located(tmp_path, PROMPT, {"app.py": APART[kind] + "messages = []\n"})
    assert finding.flow == ()
    assert not [clause for clause in finding.evidence if "sources/" in clause]


def test_of_several_gaps_the_one_where_the_value_stands(tmp_path: Path) -> None:
    text = "prompt = f'Hello {name}, this is desk {desk}. It is now {now} at the {place} office.'\n"
    prompt = "Hello Ann, this is desk 4. It is now @ at the harbour office." + TAIL
    assert named(tmp_path, located(tmp_path, prompt, {"app.py": text})) == [("app.py", "{now}")]


def test_the_innermost_gap_is_named(tmp_path: Path) -> None:
    files = {
        "prompts/outer.j2": "You answer questions about ferries.\n{{ news }}\nBe brief.\n",
        "app.py": 'prompt = f"It is now {now} at the harbour office."\n',
    }
    assert named(tmp_path, located(tmp_path, PROMPT, files)) == [("app.py", "{now}")]


def test_a_value_of_many_lines_is_found_by_its_ends(tmp_path: Path) -> None:
    values = tuple(f"The 10:{n} to Ely.\nA bus, no. {n}.\nWeather: {word}." for n, word in enumerate("abcdef"))
    text = "You answer questions about ferries.\n<news>\n{{ news }}\n</news>\nBe brief.\n"
    finding = located(tmp_path, text.replace("{{ news }}", "@") + TAIL, {"prompts/p.md": text}, values)
    assert named(tmp_path, finding) == [("prompts/p.md", "{{ news }}")]


@pytest.mark.parametrize(("copies", "number"), [(2, 2), (3, 3), (4, 0)])
def test_of_copies_a_few_are_named_as_possible(tmp_path: Path, copies: int, number: int) -> None:
    text = 'prompt = f"It is now {now} at the harbour office."\n'
    finding = located(tmp_path, PROMPT, {f"app{n}.py": text for n in range(copies)})
    assert named(tmp_path, finding) == [(f"app{n}.py", "{now}") for n in range(number)]
    assert all("possibl" in clause or "may" in clause for clause in [step.note for step in finding.flow])
    assert [clause[:8] for clause in finding.evidence if "sources/" in clause] == (["possibly"] if number else [])


def test_the_copy_with_more_of_the_text_is_named(tmp_path: Path) -> None:
    files = {
        "a.py": 'prompt = f"It is now {now} at the harbour office."\n',
        "b.py": 'prompt = f"You answer questions about ferries. It is now {now} at the harbour office. Be brief."\n',
    }
    assert named(tmp_path, located(tmp_path, PROMPT, files)) == [("b.py", "{now}")]


def test_a_few_characters_are_only_possible(tmp_path: Path) -> None:
    finding = located(tmp_path, "Be brief.\nTimes: @" + TAIL, {"app.py": 'prompt = head + f"\\nTimes: {now}"\n'})
    assert named(tmp_path, finding) == [("app.py", "{now}")]
    assert finding.evidence[-1] == "possibly, it comes from sources/app.py:1: there is text like that around it"


@pytest.mark.parametrize("copies", [1, 2])
def test_reports_show_the_lines(tmp_path: Path, copies: int) -> None:
    text = 'prompt = f"It is now {now} at the harbour office."\n'
    finding = located(tmp_path, PROMPT, {f"app{n}.py": text for n in range(copies)})
    report = Report("prefixwise/lint", 1, "lint", "", (Findings("findings", "Findings", (finding,)),))
    assert "from: sources/app0.py:1" in FORMATS.get("text").render(report)
    (run,) = json.loads(FORMATS.get("sarif").render(report))["runs"]
    (result,) = run["results"]
    related = [one["physicalLocation"] for one in result["relatedLocations"]]
    shown = [(one["artifactLocation"]["uri"], one["region"]["startColumn"]) for one in related[:copies]]
    assert shown == [(f"sources/app{n}.py", 22) for n in range(copies)]
    ways = [flow["threadFlows"][0]["locations"] for flow in result["codeFlows"]]
    assert [len(way) for way in ways] == [2] * copies


@given(st.text(alphabet="'\"`{}$%\\\n#/+fr( ab", max_size=60), st.sampled_from(Language))
def test_no_code_is_too_broken(text: str, language: Language) -> None:
    for hole in holes(code_strings(text, language)):
        assert 0 <= hole.start < hole.end <= len(text)


def test_code_that_opens_everywhere_takes_no_longer_than_its_length() -> None:
    hostile = ("f'{" * 10_000, "`${" * 10_000, "'''\n" * 20_001, '"a" + ' * 20_000, "f'{" + "(" * 60_000)
    begin = time.process_time()
    for text in hostile:
        for language in Language:
            list(holes(code_strings(text, language)))
    assert time.process_time() - begin < 10


def test_what_git_ignores_is_not_looked_at(tmp_path: Path) -> None:
    files = {"app.py": 'prompt = f"It is now {now} at the harbour office."\n', ".gitignore": "app.py\n"}
    assert located(tmp_path, PROMPT, files).flow == ()
