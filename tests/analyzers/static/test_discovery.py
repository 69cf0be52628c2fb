"""Which files are linted, and why others are not."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from prefixwise.analyzers.static.discovery import Discovered, FileKind, discover
from prefixwise.core.errors import UserError

LOG = json.dumps({"model": "gpt-4o", "messages": [{"role": "user", "content": "When does the ferry leave?"}]}) + "\n"


def make(root: Path, **files: str) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def kinds(found: Discovered, root: Path) -> dict[str, str]:
    return {os.path.relpath(file.path, root): file.kind.value for file in found.found}


def test_a_folder_gives_prompts_code_and_logs(tmp_path: Path) -> None:
    make(
        tmp_path,
        **{
            "desk.prompt": "Be brief.",
            "prompts/desk.md": "Be brief.",
            "notes/readme.md": "About us.",
            "src/system_prompt.txt": "Be brief.",
            "chat_template.jinja": "{{ messages }}",
            "page.jinja": "<p>{{ name }}</p>",
            "app.py": "x = 1",
            "app.ts": "let x = 1",
            "logs/a.jsonl": LOG,
            "data.json": '{"a": 1}',
        },
    )
    assert kinds(discover([str(tmp_path)]), tmp_path) == {
        "app.py": "python",
        "app.ts": "script",
        "chat_template.jinja": "template",
        "desk.prompt": "template",
        "logs/a.jsonl": "log",
        "prompts/desk.md": "template",
        "src/system_prompt.txt": "template",
    }


def test_what_git_ignores_and_what_is_not_ours_is_left_out(tmp_path: Path) -> None:
    make(
        tmp_path,
        **{
            ".git/HEAD": "ref: refs/heads/main",
            ".gitignore": "made/\n*.gen.py\n!keep.gen.py\n",
            "made/a.py": "",
            "b.gen.py": "",
            "keep.gen.py": "",
            "sub/.gitignore": "c.py\n",
            "sub/c.py": "",
            "sub/d.py": "",
            "node_modules/x/i.js": "",
            ".hidden/e.py": "",
            "myenv/pyvenv.cfg": "",
            "myenv/f.py": "",
        },
    )
    found = discover([str(tmp_path)])
    assert kinds(found, tmp_path) == {"keep.gen.py": "python", "sub/d.py": "python"}
    assert {os.path.relpath(left.path, tmp_path): left.why for left in found.left_out}["sub/c.py"] == (
        "ignored by .gitignore"
    )
    assert kinds(discover([str(tmp_path / "sub")]), tmp_path) == {"sub/d.py": "python"}


def test_large_files_are_left_out_unless_named(tmp_path: Path) -> None:
    make(tmp_path, **{"big.py": "#" * 2_000_001})
    assert discover([str(tmp_path)]).found == ()
    assert discover([str(tmp_path / "big.py")]).found[0].kind is FileKind.PYTHON


def test_what_is_named_is_taken(tmp_path: Path) -> None:
    make(tmp_path, **{"a.txt": "Be brief.", "b.yaml": "x: 1", "c": LOG, "d.json": "{}"})
    names = [str(tmp_path / name) for name in ("a.txt", "b.yaml", "c", "d.json")]
    assert [file.kind.value for file in discover(names).found] == ["template", "template", "log", "log"]
    assert discover(["-"]).found[0].kind is FileKind.LOG


def test_links_in_a_circle_end(tmp_path: Path) -> None:
    make(tmp_path, **{"a/b.py": ""})
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    assert len(discover([str(tmp_path)]).found) == 1


def test_a_name_that_leads_nowhere_is_refused() -> None:
    with pytest.raises(UserError, match="no such file"):
        discover(["no/such/thing"])
