"""What hides findings, as CI runs it: a baseline in a read-only checkout, and the lines of a branch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from support.repository import commit, git, repository
from support.silenced import CONSTANT, write

TEXT = "Hello {{ user_name }}, it is {{ now }}.\n" + CONSTANT
RULES = ["user-data-first", "clock-in-prefix"]
BASE = "prefixwise-baseline.json"


def test_a_baseline_is_written_whole_or_not_at_all(run: Any, tmp_path: Path) -> None:
    write(tmp_path, {"prompts/a.j2": TEXT})
    folder = tmp_path / "read-only"
    folder.mkdir()
    run(["lint", "prompts", "--write-baseline", f"read-only/{BASE}"]).check(0)
    before = (folder / BASE).read_bytes()
    write(tmp_path, {"prompts/a.j2": CONSTANT})
    folder.chmod(0o555)
    try:
        args = ["lint", "prompts", "--baseline", f"read-only/{BASE}"]
        run(args, ordinary_user=True).check(0)
        failed = run([*args, "--update-baseline"], ordinary_user=True).check(2)
    finally:
        folder.chmod(0o755)
    assert "the baseline cannot be written" in failed.err
    assert [path.name for path in folder.iterdir()] == [BASE]
    assert (folder / BASE).read_bytes() == before


def test_only_changed_lines_are_told(run: Any, tmp_path: Path) -> None:
    files = {"prompts/with spaçe.j2": TEXT, "old.j2": "{# prefixwise: ignore[PW101] #}\n" + CONSTANT}
    repository(tmp_path, {**files, ".gitignore": "*.jsonl\n"})
    git(tmp_path, "switch", "--quiet", "--create", "topic")
    times = (f"It is 2026-11-03 10:{number:02}. " + CONSTANT for number in range(6))
    talks = ([{"role": "system", "content": text}, {"role": "user", "content": "Which quay?"}] for text in times)
    write(tmp_path, {"log.jsonl": "".join(json.dumps({"model": "gpt-4o", "messages": one}) + "\n" for one in talks)})
    sources = ["lint", ".", "--since", "main", "--json"]
    document = run(sources).check(0).json()
    assert (_rules(document), document["suppressed"]) == ([], [])
    assert any("2 findings on lines that did not change since main" in note for note in document["notes"])
    assert _rules(run(["lint", "log.jsonl", "--since", "main", "--json"]).check(1).json()) == ["clock-in-prefix"]
    commit(tmp_path, {"prompts/with spaçe.j2": TEXT.replace("Hello", "Dear"), "prompts/new.j2": "{{ now }}" + CONSTANT})
    found = [(one["path"], one["rule"]) for one in run(sources).check(1).json()["findings"]]
    assert found == [("prompts/new.j2", "clock-in-prefix"), *(("prompts/with spaçe.j2", rule) for rule in RULES)]


def _rules(document: dict[str, Any]) -> list[str]:
    return [finding["rule"] for finding in document["findings"]]
