"""Every format from the command line: one document on stdout, one exit code, no secret, no command to a runner."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from junitparser import JUnitXml

from prefixwise.reports.format import FORMATS

KEY = "sk-ant-api03-Zq9{}xVb7LmN2pRt5WyU8cKd3FgH6jQs"
RULES = "Name the quay, the time and the fare in every answer. " * 60
BUILDER = f'''from datetime import datetime
from openai import OpenAI

RULES = """{RULES}"""

def ask(question):
    system = f"It is {{datetime.now():%H:%M}}. " + RULES
    return OpenAI().chat.completions.create(
        model="gpt-4o", messages=[{{"role": "system", "content": system}}, {{"role": "user", "content": question}}]
    )
'''


def record(number: int) -> str:
    """Return a call whose key, command-like text and address change each time."""
    system = f"Key {KEY.format(number)} of anna{number}@example.org\n::error::x{number}\n\n{RULES}"
    usage = {"prompt_tokens": 1500, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 0}}
    body = {
        "model": "gpt-4o",
        "messages": [{"role": "system", "content": system}, {"role": "user", "content": f"Question {number}?"}],
    }
    time = f"2026-03-02T09:14:{number:02}Z"
    return json.dumps({"start_time": time, "request": body, "response": {"model": "gpt-4o", "usage": usage}})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A log with broken records and hostile, private text, and a source with a clock, in paths with odd characters."""
    (tmp_path / "a b#c").mkdir()
    (tmp_path / "a b#c" / "bü%20.py").write_text(BUILDER)
    lines = [record(number) for number in range(6)]
    (tmp_path / "log 1.jsonl").write_text("\n".join((lines[0], "{broken", *lines[1:])) + "\n")
    return tmp_path


def parsed(form: str, document: str) -> Any:
    """Take a document apart in its own language; whatever else is on stdout breaks it."""
    if form in ("json", "sarif", "gitlab", "rdjson"):
        return json.loads(document)
    if form == "junit":
        return JUnitXml.fromstring(document.encode())
    if form == "csv":
        return list(csv.reader(io.StringIO(document)))
    if form == "html":
        assert document.startswith("<!doctype html>")
        assert document.endswith("</html>\n")
    if form == "github":
        assert all(line.startswith(("::error ", "::warning ", "::notice ")) for line in document.splitlines()[:-1])
    return document


@pytest.mark.parametrize("form", FORMATS.names())
def test_a_format_is_all_of_stdout_and_changes_no_exit_code(run: Any, folder: Path, form: str) -> None:
    result = run(["lint", folder, "--output-format", form]).check(1)
    parsed(form, result.out)
    assert "broken" in (result.out + result.err)
    assert "sk-ant" not in result.out + result.err
    assert "@example.org" not in result.out + result.err
    if form != "github":
        assert not any(line.lstrip().startswith(("::", "##[")) for line in result.out.splitlines())


def every_report() -> list[str]:
    return [part for form in FORMATS.names() for part in ("--report", f"{form}=report.{form}")]


def test_what_fails_a_run_is_the_same_with_every_format(run: Any, folder: Path) -> None:
    run(["lint", folder, *every_report(), "--fail-on", "never", "--output-format", "full"]).check(0)
    assert [parsed(form, (folder / f"report.{form}").read_text()) for form in FORMATS.names()]
    cases = JUnitXml.fromfile(str(folder / "report.junit"))
    assert (cases.failures, cases.skipped) == (0, cases.tests)


def test_a_report_without_findings_is_a_document_too(run: Any, good: Path, tmp_path: Path) -> None:
    run(["hitrate", good, *every_report(), "--require", "hit_rate>=2"]).check(1)
    documents = {form: parsed(form, (tmp_path / f"report.{form}").read_text()) for form in FORMATS.names()}
    assert documents["sarif"]["runs"][0]["results"] == documents["rdjson"]["diagnostics"] == documents["gitlab"] == []
    assert documents["junit"].failures == 1
    assert "hit_rate>=2" in documents["github"]


def test_sources_give_lines_and_columns_of_what_is_written(run: Any, folder: Path) -> None:
    reports = ["--report", "sarif=r.sarif", "--report", "rdjson=r.json", "--report", "gitlab=g.json"]
    run(["lint", "a b#c", *reports, "--output-format", "github"]).check(1)
    (result,) = json.loads((folder / "r.sarif").read_text())["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "a%20b%23c/b%C3%BC%2520.py"
    line = BUILDER.splitlines()[place["region"]["startLine"] - 1]
    assert "datetime.now()" in line[place["region"]["startColumn"] - 1 : place["region"]["endColumn"] - 1]
    (diagnostic,) = json.loads((folder / "r.json").read_text())["diagnostics"]
    spot = diagnostic["location"]["range"]
    assert "datetime.now()" in line.encode()[spot["start"]["column"] - 1 : spot["end"]["column"] - 1].decode()
    (issue,) = json.loads((folder / "g.json").read_text())
    assert issue["location"] == {"path": "a b#c/bü%20.py", "lines": {"begin": 7}}


def test_only_who_asks_for_it_gets_the_whole_text(run: Any, folder: Path) -> None:
    forms = ("text", "sarif", "junit", "github", "rdjson", "markdown", "html", "csv")
    for mode, shown in (("full", True), ("none", False)):
        run(["lint", "log 1.jsonl", *every_report(), "--excerpts", mode]).check(1)
        documents = [(folder / f"report.{form}").read_text() for form in forms]
        assert ["sk-ant-api03" in document for document in documents] == [shown] * len(forms)
        assert ["example.org" in document for document in documents] == [shown] * len(forms)
