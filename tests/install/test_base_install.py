"""What the base install does by itself: no extras, nothing of the development environment."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from support.command import Result, chat, lines
from support.installed import ROOT, clean_environment

pytestmark = pytest.mark.slow

RULES = "Name the quay, the time and the fare in every answer, and say where to ask for more.\n" * 40
PYTHON = f'''from datetime import datetime
from openai import OpenAI

RULES = """{RULES}"""

def ask(question):
    system = f"It is {{datetime.now():%H:%M}}. " + RULES
    messages = [{{"role": "system", "content": system}}, {{"role": "user", "content": question}}]
    return OpenAI().chat.completions.create(model="gpt-4o", messages=messages)
'''
SCRIPT = """import OpenAI from "openai";
export const ask = (rules: string, question: string) =>
  new OpenAI().chat.completions.create({
    model: "gpt-4o",
    messages: [{ role: "system", content: `It is ${Date.now()}. ` + rules }, { role: "user", content: question }],
  });
"""
TEMPLATE = "It is {{ now }}.\n" + RULES


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A log, a template, Python and TypeScript, each with a clock in front of its constant text."""
    system = ({"role": "system", "content": f"It is 2026-11-03 10:{minute:02}. {RULES}"} for minute in range(6))
    calls = (chat() | {"messages": [first, {"role": "user", "content": "Which quay?"}]} for first in system)
    (tmp_path / "calls.jsonl").write_bytes(lines(*calls))
    (tmp_path / "desk.prompt.j2").write_text(TEMPLATE)
    (tmp_path / "ask.py").write_text(PYTHON)
    (tmp_path / "ask.ts").write_text(SCRIPT)
    return tmp_path


@pytest.fixture
def run(base_install: Path, project: Path) -> Any:
    """Return a function that runs the installed program in the project."""

    def _run(*arguments: str, program: str = "prefixwise", **variables: str) -> Result:
        done = subprocess.run(
            [base_install / program, *arguments],
            cwd=project,
            env=clean_environment(project, **variables),
            capture_output=True,
            check=False,
            text=True,
            timeout=60,
        )
        return Result(done.returncode, done.stdout, done.stderr)

    return _run


def test_lint_finds_in_all_but_scripts_and_says_what_those_need(run: Any, project: Path) -> None:
    forms = _formats(run)
    reports = [f"--report={form}=report.{form}" for form in forms]
    result = run("lint", ".", "--json", *reports).check(1)
    found = {(finding["path"], finding["rule"]) for finding in result.json()["findings"]}
    assert found == {(name, "clock-in-prefix") for name in ("calls.jsonl", "desk.prompt.j2", "ask.py")}
    (note,) = [note for note in result.json()["notes"] if "extra" in note]
    assert note == (
        "1 script is not read: reading JavaScript and TypeScript needs the 'js' extra, which is not installed "
        "(pip install 'prefixwise[js]')"
    )
    assert all((project / f"report.{form}").stat().st_size > 100 for form in forms)
    schema = run("schema", "lint").check(0).json()
    Draft202012Validator(schema).validate(json.loads((project / "report.json").read_text()))


def _formats(run: Any) -> list[str]:
    """Return the formats that an error names."""
    said = run("lint", ".", "--output-format", "none-such").check(2).err
    names = said.partition("known:")[2].split()
    forms = [name.strip(",.") for name in names]
    assert {"text", "json", "sarif", "gitlab", "junit", "github", "rdjson", "markdown", "html", "csv"} <= set(forms)
    return forms


def test_every_command_has_help(run: Any) -> None:
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    names = [line[3:] for line in page.splitlines() if line.startswith("## ")]
    assert {"lint", "hitrate", "check", "init"} <= set(names)
    for name in names:
        assert f"prefixwise {name} " in run(*name.split(), "--help", COLUMNS="80").check(0).out


def test_pytest_finds_the_plug_in_by_itself(run: Any, project: Path) -> None:
    (project / "app.py").write_text("def build(user):\n    return 'Be brief. ' + user + str(len({user}))\n")
    (project / "test_app.py").write_text(
        "import time\nimport app\n\n"
        "def moving():\n    return f'It is {time.time()}'\n\n"
        "def test_stable(assert_stable_prefix):\n"
        "    assert_stable_prefix(app.build, 'Ada', knobs=('hash-seed',))\n\n"
        "def test_moves(assert_stable_prefix):\n"
        "    assert_stable_prefix(moving, knobs=('clock',))\n"
    )
    result = run("-q", "-p", "no:cacheprovider", program="pytest")
    assert result.code == 1, result.out + result.err
    assert "1 failed, 1 passed" in result.out
    assert "clock" in result.out.partition("test_moves")[2]
