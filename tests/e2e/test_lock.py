"""`prefixwise lock` as people run it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

PROMPT = (
    "---\nversion: 2\n---\n"
    + "Name the quay before the fare, and the fare before the time.\n" * 20
    + "{{ question }}\n"
)


def test_lock_writes_the_same_bytes_again_and_says_what_changed(run: Any, tmp_path: Path) -> None:
    folder = tmp_path / "prompts"
    folder.mkdir()
    (folder / "desk.md").write_text(PROMPT)
    (folder / "help.prompt").write_text(PROMPT)
    document = run(["lock", "prompts", "--json"]).check(0).json()
    assert [(one["path"], one["change"]) for one in document["values"]["prompts"]] == [
        ("prompts/desk.md", "new"),
        ("prompts/help.prompt", "new"),
    ]
    first = (tmp_path / "prefixwise.lock").read_bytes()
    assert json.loads(first)["schema"] == "prefixwise/lock"
    run(["lock", "prompts"]).check(0)
    assert (tmp_path / "prefixwise.lock").read_bytes() == first
    (folder / "desk.md").write_text(PROMPT.replace("version: 2", "version: 3"))
    (folder / "help.prompt").unlink()
    document = run(["lock", "prompts", "--json"]).check(0).json()
    assert [one["change"] for one in document["values"]["prompts"]] == ["changed", "removed"]
    assert (tmp_path / "prefixwise.lock").read_bytes() != first


def test_a_broken_lock_is_written_anew(run: Any, tmp_path: Path) -> None:
    (tmp_path / "desk.md").write_text(PROMPT)
    (tmp_path / "prefixwise.lock").write_text("<<<<<<< ours\n")
    done = run(["lock", "desk.md"]).check(0)
    assert "the lock before could not be read" in done.err + done.out
    assert json.loads((tmp_path / "prefixwise.lock").read_bytes())["prompts"]


def test_what_cannot_be_locked_leaves_no_lock(run: Any, tmp_path: Path) -> None:
    assert "no such file" in run(["lock", "nowhere.md"]).check(3).err
    (tmp_path / "empty").mkdir()
    run(["lock", "empty"]).check(3)
    (tmp_path / "desk.md").write_text(PROMPT)
    run(["lock", "desk.md", "-o", "desk.md"]).check(2)
    run(["lock", "desk.md", "-o", "nowhere/prefixwise.lock"]).check(2)
    assert (tmp_path / "desk.md").read_text() == PROMPT
    assert not (tmp_path / "prefixwise.lock").exists()


def test_a_change_costs_once_and_every_month(run: Any, tmp_path: Path) -> None:
    (tmp_path / "desk.md").write_text(PROMPT)
    before = run(["lock", "desk.md", "--json"]).check(0).json()["values"]
    assert before["changes"] == []
    (tmp_path / "desk.md").write_text(PROMPT.replace("\nName", "\n{{ today }} Name", 1))
    asked = ["lock", "desk.md", "--calls", "1000", "--model", "claude-sonnet-4-5", "--json"]
    (change,) = run(asked).check(0).json()["values"]["changes"]
    lost = before["prompts"][0]["tokens"] - change["after"]
    assert change["month_tokens"] == 1000 * lost > 0
    assert abs(change["month_usd"] - 1000 * lost * (3 - 0.3) * 1e-6) < 1e-9
    assert "no price" in run([*asked[:-2], "a-model-of-tomorrow"]).check(2).err
