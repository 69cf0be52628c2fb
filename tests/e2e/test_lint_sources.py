"""`prefixwise lint` on prompt files and code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

PROMPT = "Hello {{ user_name }}, it is {{ now }}.\n\n" + "Name the quay, the time and the fare in every answer.\n" * 40
BUILDER = '''from datetime import datetime
from openai import OpenAI

RULES = """%s"""

def ask(question):
    system = f"It is {datetime.now():%%H:%%M}. " + RULES
    return OpenAI().chat.completions.create(
        model="gpt-4o", messages=[{"role": "system", "content": system}, {"role": "user", "content": question}]
    )
''' % ("Name the quay, the time and the fare in every answer. " * 12)


def test_sources_and_logs_are_linted_together(run: Any, tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "desk.md").write_text(PROMPT)
    (tmp_path / "builder.py").write_text(BUILDER)
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi"}]}
    (tmp_path / "log.jsonl").write_text(json.dumps(body) + "\n")
    document = run(["lint", tmp_path, "--json"]).check(1).json()
    found = {(finding["path"], finding["span"]["line"], finding["rule"]) for finding in document["findings"]}
    assert found == {
        ("prompts/desk.md", 1, "user-data-first"),
        ("prompts/desk.md", 1, "clock-in-prefix"),
        ("builder.py", 7, "clock-in-prefix"),
    }
    assert {one["path"]: one["mode"] for one in document["inputs"]} == {
        "log.jsonl": "log",
        "prompts/desk.md": "static",
        "builder.py": "static",
    }
    for finding in document["findings"]:
        text, span = (tmp_path / finding["path"]).read_text(), finding["span"]
        assert text[span["start"] : span["end"]] == finding["from_text"]


def test_code_beside_prompts_is_followed(run: Any, tmp_path: Path) -> None:
    script = BUILDER.replace("{datetime.now():%H:%M}", "{at()}").replace(
        "from datetime import datetime", "from clock import at"
    )
    (tmp_path / "builder.py").write_text(script)
    (tmp_path / "clock.py").write_text("from datetime import datetime\n\ndef at():\n    return datetime.now()\n")
    document = run(["lint", tmp_path, "--json"]).check(1).json()
    assert [(one["path"], one["span"]["line"], one["rule"]) for one in document["findings"]] == [
        ("clock.py", 4, "clock-in-prefix")
    ]
    assert [one["path"] for one in document["inputs"]] == ["builder.py"]


def test_files_are_shown_with_why(run: Any, tmp_path: Path) -> None:
    (tmp_path / "builder.py").write_text(BUILDER)
    (tmp_path / "notes.json").write_text("{}")
    document = run(["lint", tmp_path, "--show-files", "--json"]).check(0).json()
    assert [one["path"] for one in document["values"]["found"]] == ["builder.py"]
    assert document["values"]["left_out"] == [
        {"path": "notes.json", "why": "no log of a recognised format", "named": False}
    ]


def test_nothing_to_lint_is_exit_code_3(run: Any, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    run(["lint", tmp_path / "empty"]).check(3)


def test_a_prefix_that_changed_under_its_version_fails_when_locked(run: Any, tmp_path: Path) -> None:
    prompt = tmp_path / "prompts" / "desk.md"
    prompt.parent.mkdir()
    text = "---\nversion: 1\n---\n" + "Name the quay, the time and the fare.\n" * 40 + "{{ question }}\n"
    prompt.write_text(text)
    run(["lock", "prompts"]).check(0)
    run(["lint", "prompts", "--locked"]).check(0)
    prompt.write_text(text.replace("fare", "price", 1))
    document = run(["lint", "prompts", "--locked", "--json"]).check(1).json()
    assert [finding["rule"] for finding in document["findings"]] == ["prompt-version-unbumped"]
    prompt.write_text(text.replace("fare", "price", 1).replace("version: 1", "version: 2"))
    run(["lint", "prompts", "--locked"]).check(0)


def test_a_hook_may_name_files_that_are_nothing_to_lint(run: Any, tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text('{"name": "desk"}')
    run(["lint", "package.json"]).check(2)
    result = run(["lint", "package.json", "--only-discovered"]).check(0)
    assert result.out == "nothing to lint\n"
    run(["lint", "gone.md", "--only-discovered"]).check(3)
    (tmp_path / "package.json").unlink()
    run(["lint", ".", "--only-discovered"]).check(0)
