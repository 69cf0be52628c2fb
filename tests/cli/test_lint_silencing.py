"""What hides findings, from the command line: baselines, changed lines, comments, and sources on standard input."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from support.command import Result
from support.repository import repository
from support.silenced import CONSTANT, write

from prefixwise.cli import app

TEXT = "Hello {{ user_name }}, it is {{ now }}.\n" + CONSTANT
RULES = ["user-data-first", "clock-in-prefix"]
BASE = "prefixwise-baseline.json"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Any:
    """Return a function that runs the command line in `tmp_path`, in this process."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)  # lines are told as they are, not broken for a terminal
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))

    def _run(args: Sequence[object], input: bytes = b"") -> Result:
        monkeypatch.setattr(sys, "argv", ["prefixwise", *map(str, args)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(input)))
        code = app.run()
        said = capfdbinary.readouterr()
        return Result(code, said.out.decode(), said.err.decode())

    return _run


def rules(document: dict[str, Any]) -> list[str]:
    return [finding["rule"] for finding in document["findings"]]


def test_a_baseline_from_its_writing_to_its_end(run: Any, tmp_path: Path) -> None:
    write(tmp_path, {"prompts/a.j2": TEXT, "prompts/b.j2": TEXT})
    run(["lint", "."]).check(1)
    run(["lint", ".", "--write-baseline", BASE]).check(0)
    base = (tmp_path / BASE).read_bytes()

    document = run(["lint", ".", "--baseline", BASE, "--json"]).check(0).json()
    assert (rules(document), document["summary"]["by_rule"]) == ([], {})
    assert [finding["rule"] for finding in document["suppressed"]] == RULES * 2
    why = {"kind": "baseline", "justification": "", "path": BASE, "line": None}
    assert document["suppressions"] == [why] * 4

    write(
        tmp_path,
        {"prompts/a.j2": "Be brief.\r\n" * 9 + TEXT.replace("\n", "\r\n"), "prompts/c.j2": "{{ now }}" + CONSTANT},
    )
    document = run(["lint", ".", "--baseline", BASE, "--json"]).check(1).json()
    assert [(finding["path"], finding["rule"]) for finding in document["findings"]] == [("prompts/c.j2", RULES[1])]

    write(tmp_path, {"prompts/b.j2": CONSTANT})
    (tmp_path / "prompts/c.j2").unlink()
    (tmp_path / BASE).chmod(0o444)
    told = run(["lint", ".", "--baseline", BASE]).check(0)
    assert f"{BASE}: 2 findings can be removed" in told.out
    assert (tmp_path / BASE).read_bytes() == base
    told = run(["lint", ".", "--baseline", BASE, "--update-baseline"]).check(0)
    assert f"{BASE}: 2 findings taken out" in told.out
    assert list(json.loads((tmp_path / BASE).read_text())["files"]) == ["prompts/a.j2"]
    assert "removed" not in run(["lint", ".", "--baseline", BASE]).check(0).out


def test_a_run_over_a_part_keeps_what_it_did_not_look_at(run: Any, tmp_path: Path) -> None:
    write(tmp_path, {"prompts/a.j2": TEXT, "prompts/b.j2": TEXT})
    run(["lint", ".", "--write-baseline", BASE]).check(0)
    write(tmp_path, {"prompts/a.j2": CONSTANT, "prompts/b.j2": "{{ now }}" + CONSTANT})
    run(["lint", "prompts/a.j2", "--baseline", BASE, "--update-baseline"]).check(0)
    assert list(json.loads((tmp_path / BASE).read_text())["files"]) == ["prompts/b.j2"]
    args = ["lint", "prompts/b.j2", "--select", "user-data-first", "--write-baseline", BASE]
    run(args).check(0)
    assert list(json.loads((tmp_path / BASE).read_text())["files"]["prompts/b.j2"]) == ["clock-in-prefix"]
    (tmp_path / "prompts/b.j2").unlink()
    run(["lint", "prompts/a.j2", "--baseline", BASE, "--update-baseline"]).check(0)
    assert json.loads((tmp_path / BASE).read_text())["files"] == {}


@pytest.mark.parametrize(
    ("args", "what"),
    [
        (["--baseline", "none.json"], "there is no baseline"),
        (["--baseline", "bad.json"], "this is no baseline"),
        (["--write-baseline", "bad.json"], "this is no baseline"),
        (["--update-baseline"], "no baseline to update"),
        (["--baseline", "bad.json", "--update-baseline", "--write-baseline", "x.json"], "not both"),
        (["--write-baseline", "x.json", "--since", "main"], "of a part"),
        (["--write-baseline", "prompts/a.j2"], "overwrite an input"),
        (["--baseline", "bad.json", "--report", "json=./bad.json"], "overwrite an input"),
        (["--write-baseline", "new.json", "--report", "json=./new.json"], "two outputs go to one file"),
        (["--fixed-copy", "new.json", "--report", "json=./new.json"], "two outputs go to one file"),
        (["--write-baseline", "no/such/folder.json"], "cannot be written"),
        (["--since", "main"], "no work tree of git"),
        (["--stdin-filename", "a.md"], "with - alone"),
    ],
)
def test_what_cannot_be_is_one_clear_error(run: Any, tmp_path: Path, args: list[str], what: str) -> None:
    write(tmp_path, {"prompts/a.j2": TEXT, "bad.json": "<<<<<<< ours"})
    failed = run(["lint", "prompts", *args]).check(2)
    assert what in failed.err
    assert (tmp_path / "prompts/a.j2").read_text() == TEXT


def test_the_configuration_may_name_the_baseline(run: Any, tmp_path: Path) -> None:
    write(tmp_path, {"prompts/a.j2": TEXT, "prefixwise.toml": f'baseline = "{BASE}"\n'})
    run(["lint", ".", "--write-baseline", BASE]).check(0)
    document = run(["lint", ".", "--json"]).check(0).json()
    assert len(document["suppressed"]) == 2
    write(tmp_path, {"prompts/a.j2": CONSTANT})
    run(["lint", ".", "--update-baseline"]).check(0)
    assert json.loads((tmp_path / BASE).read_text())["files"] == {}
    run(["lint", ".", "--isolated", "--update-baseline"]).check(2)


def talk(day: int) -> str:
    records = []
    for number in range(6):
        system = f"It is 2026-11-{day:02} 10:{number:02}. " + CONSTANT
        messages = [{"role": "system", "content": system}, {"role": "user", "content": f"Question {number}?"}]
        records.append({"model": "gpt-4o", "messages": messages, "timestamp": f"2026-11-{day:02}T10:{number:02}:00Z"})
    return "".join(json.dumps(record) + "\n" for record in records)


def test_the_log_of_another_day_is_known(run: Any, tmp_path: Path) -> None:
    write(tmp_path, {"log-03.jsonl": talk(3), "log-14.jsonl": talk(14)})
    run(["lint", "log-03.jsonl"]).check(1)
    run(["lint", "log-03.jsonl", "--write-baseline", BASE]).check(0)
    assert json.loads((tmp_path / BASE).read_text())["files"] == {}
    document = run(["lint", "log-14.jsonl", "--baseline", BASE, "--json"]).check(0).json()
    assert rules(document) == []
    assert {finding["path"] for finding in document["suppressed"]} == {"log-14.jsonl"}


def test_code_is_told_where_its_flow_was_touched(run: Any, tmp_path: Path) -> None:
    clock = "from datetime import datetime\n\ndef at():\n    return datetime.now()\n"
    send = (
        f'from openai import OpenAI\nfrom clock import at\n\nRULES = """{CONSTANT}"""\n\ndef ask(question):\n'
        '    system = f"It is {at()}. " + RULES\n    return OpenAI().chat.completions.create(\n'
        '        model="gpt-4o",\n'
        '        messages=[{"role": "system", "content": system}, {"role": "user", "content": question}],\n'
        "    )\n"
    )
    repository(tmp_path, {"clock.py": clock, "ask.py": send})
    assert rules(run(["lint", ".", "--since", "main", "--json"]).check(0).json()) == []
    write(tmp_path, {"ask.py": send.replace('model="gpt-4o"', 'model="gpt-4.1"')})
    document = run(["lint", ".", "--since", "main", "--json"]).check(1).json()
    assert [(one["path"], one["rule"]) for one in document["findings"]] == [("clock.py", "clock-in-prefix")]
    ignoring = clock.replace("now()", "now()  # prefixwise: ignore[clock-in-prefix] wanted")
    write(tmp_path, {"clock.py": ignoring})
    document = run(["lint", ".", "--json"]).check(0).json()
    assert document["suppressions"] == [{"kind": "inline", "justification": "wanted", "path": "clock.py", "line": 4}]
    assert rules(run(["lint", "clock.py", "--json"]).check(0).json()) == []


def test_a_source_on_standard_input_is_linted_as_its_file(run: Any, tmp_path: Path) -> None:
    write(tmp_path, {"prefixwise.toml": '[per-file-ignores]\n"drafts/" = ["clock-in-prefix"]\n'})
    args = ["lint", "-", "--json", "--stdin-filename"]
    document = run([*args, "prompts/unsaved.j2"], TEXT.encode()).check(1).json()
    assert [(one["path"], one["rule"]) for one in document["findings"]] == [
        ("prompts/unsaved.j2", one) for one in RULES
    ]
    assert rules(run([*args, tmp_path / "drafts" / "unsaved.j2"], TEXT.encode()).check(0).json()) == RULES[:1]
    text = "{# prefixwise: ignore[PW101, user-data-first] #}\n" + TEXT
    document = run([*args, "prompts/unsaved.j2"], text.encode()).check(0).json()
    assert (rules(document), len(document["suppressed"])) == ([], 2)
    write(tmp_path, {"prompts/saved.j2": CONSTANT})
    assert rules(run([*args, "prompts/saved.j2"], TEXT.encode()).check(1).json()) == RULES
    code = f'from datetime import datetime\n\nSYSTEM_PROMPT = f"It is {{datetime.now()}}. " + """{CONSTANT}"""\n'
    assert run([*args, "app.py"], code.encode()).check(0, 1).json()["inputs"][0]["format"] == "python"
    assert run([*args, "notes"], b"\xff\xfe\x00").check(0).json()["inputs"][0]["reason_skipped"] == "is not UTF-8 text"


def test_an_editor_gets_places_in_what_is_not_saved(run: Any, tmp_path: Path) -> None:
    write(tmp_path, {"prompts/saved.j2": "An older text.\n"})
    args = ["lint", "-", "--stdin-filename", "prompts/saved.j2", "--output-format", "rdjson"]
    shown = run(args, ("Be brief.\n" + TEXT).encode()).check(1).json()["diagnostics"]
    starts = [one["location"]["range"]["start"] for one in shown]
    assert starts == [{"line": 2, "column": 7}, {"line": 2, "column": 30}]


def test_a_log_on_standard_input_stays_a_log(run: Any, tmp_path: Path) -> None:
    for args in (["lint", "-", "--json"], ["lint", "-", "--json", "--stdin-filename", "logs/today.jsonl"]):
        document = run(args, talk(3).encode()).check(1).json()
        assert (rules(document), document["inputs"][0]["path"]) == (["clock-in-prefix"], "-")
    assert os.listdir(tmp_path) == []
    failed = run(["lint", "-", "--stdin-filename", "a.md", "--locked"], b"x").check(2)
    assert "only what stands in files" in failed.err


def names(counts: Path) -> list[str]:
    return list(json.loads(counts.read_text())["files"])


def test_each_project_has_its_own_baseline_and_says_itself_what_fails(run: Any, tmp_path: Path) -> None:
    configured = {
        "prefixwise.toml": f'baseline = "{BASE}"\nfail-on = "never"\n',
        "desk/prefixwise.toml": 'baseline = "known.json"\n',
        "ferry/prefixwise.toml": 'fail-on = "error"\n',
    }
    write(tmp_path, {f"{folder}prompts/a.j2": TEXT for folder in ("", "desk/", "ferry/")} | configured)
    assert "there is no baseline" in run(["lint", "."]).check(2).err
    document = run(["lint", ".", "--write-baseline", "desk/known.json", "--json"]).check(1).json()
    assert names(tmp_path / "desk/known.json") == ["prompts/a.j2"]
    assert [finding["path"] for finding in document["suppressed"]] == ["desk/prompts/a.j2"] * 2

    run(["lint", ".", "--write-baseline", BASE]).check(0)
    assert names(tmp_path / BASE) == ["ferry/prompts/a.j2", "prompts/a.j2"]
    document = run(["lint", ".", "--json"]).check(0).json()
    assert [(one["path"], len(document["suppressed"])) for one in document["suppressions"]] == [
        ("desk/known.json", 6), ("desk/known.json", 6), (BASE, 6), (BASE, 6), (BASE, 6), (BASE, 6),
    ]  # fmt: skip

    write(tmp_path, {f"{folder}prompts/b.j2": TEXT for folder in ("", "desk/")})
    run(["lint", "."]).check(0)  # the desk says nothing of failing, so that the working folder does
    write(tmp_path, {"ferry/prompts/b.j2": TEXT})
    run(["lint", "."]).check(1)
    run(["lint", ".", "--fail-on", "never"]).check(0)
    only = run(["lint", ".", "--baseline", "desk/known.json", "--json"]).check(1).json()
    assert {one["path"] for one in only["suppressions"]} == {"desk/known.json"}

    write(tmp_path, {f"{folder}prompts/{name}.j2": CONSTANT for folder in ("", "desk/", "ferry/") for name in "ab"})
    told = run(["lint", "."]).check(0)
    assert f"{BASE}: 4 findings can be removed" in told.out
    assert "desk/known.json: 2 findings can be removed" in told.out
    run(["lint", ".", "--update-baseline"]).check(0)
    assert (names(tmp_path / BASE), names(tmp_path / "desk/known.json")) == ([], [])


def test_what_was_written_to_a_baseline_is_the_headline(run: Any, tmp_path: Path) -> None:
    write(tmp_path, {"prompts/a.j2": TEXT, "prompts/b.j2": TEXT})
    first = run(["lint", ".", "--write-baseline", BASE]).check(0).out
    assert first.startswith(f"4 findings written to {BASE}\n")
    assert f"to be told only what is new, add --baseline {BASE}, or name it" in first
    write(tmp_path, {"prompts/b.j2": CONSTANT, "prompts/c.j2": TEXT, "prefixwise.toml": f'baseline = "{BASE}"'})
    again = run(["lint", ".", "--write-baseline", BASE]).check(0).out
    assert again.startswith(f"4 findings written to {BASE}, 2 of them new; 2 taken out\n")
    assert "from now on lint tells only what is new" in again


def test_every_finding_is_accounted_for_where_only_changed_lines_are_told(run: Any, tmp_path: Path) -> None:
    write(tmp_path, {"prompts/a.j2": TEXT})
    run(["lint", ".", "--write-baseline", BASE]).check(0)
    repository(tmp_path, {"prompts/b.j2": TEXT})
    write(tmp_path, {"prompts/c.j2": TEXT})
    told = run(["lint", ".", "--since", "main", "--baseline", BASE]).check(1)
    assert "left out: 4 findings on lines that did not change since main, 2 of them known or ignored anyway" in told.out
    assert len(rules(run(["lint", ".", "--since", "main", "--baseline", BASE, "--json"]).check(1).json())) == 2
