"""`prefixwise lint --fix`, `--unsafe-fixes`, `--diff` and `--fixed-copy`, as a user runs them."""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path
from typing import Any

import pytest

RULES = "Name the quay, the time and the fare in every answer.\n" * 40
PROMPT = f"Today is {{{{ now }}}}.\n\n{RULES}"
MOVED = f"{RULES.rstrip()}\n\nToday is {{{{ now }}}}.\n"
BUILDER = '''# -*- coding: utf-8 -*-
from openai import OpenAI

TOPICS = {"ferries", "buses", "Fähren 😀"}
RULES = """%s"""


def ask(question):
    system = "Topics: " + ", ".join(TOPICS) + RULES
    return OpenAI().chat.completions.create(
        model="gpt-4o", messages=[{"role": "system", "content": system}, {"role": "user", "content": question}]
    )
''' % ("Name the quay, the time and the fare in every answer. " * 12)
SORTED = BUILDER.replace("join(TOPICS)", "join(sorted(TOPICS))")


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "desk.md").write_bytes(b"\xef\xbb\xbf" + PROMPT.encode())
    (tmp_path / "builder.py").write_bytes(BUILDER.replace("\n", "\r\n").encode())
    (tmp_path / "builder.py").chmod(0o640)
    return tmp_path


def texts(folder: Path) -> tuple[str, str]:
    return (folder / "prompts" / "desk.md").read_bytes().decode(), (folder / "builder.py").read_bytes().decode()


def test_fix_makes_safe_edits_and_fails_for_what_is_left(run: Any, sources: Path) -> None:
    done = run(["lint", ".", "--fix", "--fail-on", "warning"]).check(1)
    assert texts(sources) == ("\ufeff" + PROMPT, SORTED.replace("\n", "\r\n"))
    assert stat.S_IMODE((sources / "builder.py").stat().st_mode) == 0o640
    assert "Fixes that were made" in done.out
    assert "clock-in-prefix" in done.out
    assert sorted(os.listdir(sources)) == ["builder.py", "prompts"]


def test_unsafe_fixes_move_too_and_a_second_time_changes_nothing(run: Any, sources: Path) -> None:
    done = run(["lint", ".", "--fix", "--unsafe-fixes", "--fail-on", "warning"]).check(0)
    assert texts(sources) == ("\ufeff" + MOVED, SORTED.replace("\n", "\r\n"))
    assert "hit rate" in done.out
    again = run(["lint", ".", "--fix", "--unsafe-fixes", "--fail-on", "warning"]).check(0)
    assert "Fixes" not in again.out


def test_diff_prints_a_patch_and_writes_nothing(run: Any, sources: Path) -> None:
    (sources / "prompts" / "desk.md").write_text(PROMPT)
    before = texts(sources)
    done = run(["lint", ".", "--diff", "--unsafe-fixes", "--fail-on", "warning"], timeout=60).check(0)
    assert texts(sources) == before
    assert done.out.startswith("--- a/builder.py\n+++ b/builder.py\n")
    assert [line[0] for line in done.out.splitlines() if line[:1] in "+-"].count("+") == 5
    assert run(["lint", ".", "--diff", "--fail-on", "warning"]).check(1).out.count("+++") == 1


def test_where_nothing_is_mended_it_is_said_what_could_be(run: Any, sources: Path) -> None:
    (sources / "builder.py").unlink()
    done = run(["lint", ".", "--diff"]).check(1)
    assert done.out == ""
    assert "nothing was mended: no finding has a safe fix that a tool can apply" in done.err
    assert "1 more has a fix that needs a look: --unsafe-fixes applies it" in done.err
    mended = run(["lint", ".", "--diff", "--unsafe-fixes"])
    assert (mended.code, "nothing was mended" in mended.err) == (0, False)


def test_findings_carry_their_edits_without_fix(run: Any, sources: Path) -> None:
    document = run(["lint", ".", "--json"]).check(1).json()
    fixes = {finding["path"]: finding["fix"] for finding in document["findings"]}
    assert [fix["safety"] for fix in fixes.values()] == ["safe", "unsafe"]
    for path, fix in fixes.items():
        text = (sources / path).read_bytes().decode()
        for edit in sorted(fix["edits"], key=lambda edit: -edit["start"]):
            text = text[: edit["start"]] + edit["text"] + text[edit["end"] :]
        assert edit["path"] == path
        assert text == {"prompts/desk.md": "\ufeff" + MOVED, "builder.py": SORTED.replace("\n", "\r\n")}[path]


def test_links_stay_links(run: Any, sources: Path) -> None:
    (sources / "builder.py").rename(sources / "real.txt")
    (sources / "code").mkdir()
    (sources / "code" / "builder.py").symlink_to("../real.txt")
    run(["lint", "code/builder.py", "--fix"]).check(0)
    assert (sources / "code" / "builder.py").is_symlink()
    assert (sources / "real.txt").read_bytes().decode() == SORTED.replace("\n", "\r\n")


def test_a_file_that_is_read_only_is_left_alone(run: Any, sources: Path) -> None:
    (sources / "builder.py").chmod(0o444)
    left = run(["lint", "builder.py", "--fix", "--json"]).check(0).json()
    assert [one["rule"] for one in left["findings"]] == ["unordered-iteration"]
    assert "builder.py: not mended: it is read-only" in left["notes"]
    assert texts(sources)[1] == BUILDER.replace("\n", "\r\n")


def test_what_is_not_asked_for_is_not_mended(run: Any, sources: Path) -> None:
    before = texts(sources)
    run(["lint", ".", "--fix", "--unsafe-fixes", "--select", "PW4"]).check(0)
    assert texts(sources) == before


def test_unsafe_fixes_alone_are_a_mistake(run: Any, sources: Path) -> None:
    assert "--fix" in run(["lint", ".", "--unsafe-fixes"]).check(2).err
    assert texts(sources)[0] == "\ufeff" + PROMPT


def log_of(folder: Path) -> Path:
    messages: list[dict[str, str]] = []
    lines = []
    for turn in range(4):
        messages = [*messages, {"role": "user", "content": f"Question {turn}: when does the ferry leave?"}]
        head = {"role": "system", "content": f"Now it is 2026-03-11 09:1{turn}. {RULES}"}
        lines.append(json.dumps({"request": {"model": "gpt-4o", "messages": [head, *messages]}, "odd": [turn]}))
        messages = [*messages, {"role": "assistant", "content": f"Answer {turn}: at half past."}]
    (folder / "log.jsonl").write_text("\n".join(lines) + "\n")
    return folder / "log.jsonl"


def test_fix_never_touches_logs_but_makes_a_copy(run: Any, tmp_path: Path) -> None:
    log = log_of(tmp_path)
    before = log.read_bytes()
    run(["lint", "log.jsonl", "--fix", "--unsafe-fixes"]).check(1)
    assert log.read_bytes() == before
    done = run(["lint", "log.jsonl", "--fixed-copy", "copy.jsonl", "--fail-on", "never"]).check(0)
    assert log.read_bytes() == before
    assert "clock-in-prefix" in done.out
    assert [json.loads(line)["odd"] for line in (tmp_path / "copy.jsonl").read_text().splitlines()] == [
        [0],
        [1],
        [2],
        [3],
    ]
    assert re.search(r"clock-in-prefix +4 +\d\.\d % +7\d\.\d % +yes", done.out)


def test_a_copy_never_goes_over_what_it_is_made_of(run: Any, tmp_path: Path) -> None:
    log = log_of(tmp_path)
    before = log.read_bytes()
    run(["lint", "log.jsonl", "--fixed-copy", "log.jsonl"]).check(2)
    (tmp_path / "link.jsonl").symlink_to("log.jsonl")
    run(["lint", "log.jsonl", "--fixed-copy", "link.jsonl"]).check(2)
    assert log.read_bytes() == before


def test_a_copy_needs_one_log_of_bodies_by_line_and_a_place_to_go(run: Any, tmp_path: Path) -> None:
    log_of(tmp_path)
    (tmp_path / "desk.md").write_text(PROMPT)
    assert "no log" in run(["lint", "desk.md", "--fixed-copy", "x.jsonl"]).check(2).err
    assert "cannot write" in run(["lint", "log.jsonl", "--fixed-copy", "no/x.jsonl"]).check(2).err
    (tmp_path / "second.jsonl").write_bytes((tmp_path / "log.jsonl").read_bytes())
    assert "one log" in run(["lint", "log.jsonl", "second.jsonl", "--fixed-copy", "x.jsonl"]).check(2).err
    assert not (tmp_path / "x.jsonl").exists()
