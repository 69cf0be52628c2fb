"""What `prefixwise why` refuses before it reads anything, and how it writes a folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from prefixwise.cli.app import run
from prefixwise.cli.folder import check_folder, write_folder
from prefixwise.core.errors import UserError

FILES = {"a.json": b"{}\n", "b.md": b"# B\n"}


def test_a_folder_is_made_with_all_its_files(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "inner"
    check_folder(folder, "--repro")
    write_folder(folder, FILES)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == FILES


def test_an_empty_folder_is_used(tmp_path: Path) -> None:
    check_folder(tmp_path, "--repro")
    write_folder(tmp_path, FILES)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(FILES)


@pytest.mark.parametrize("what", ["full folder", "file", "broken link"])
def test_nothing_is_overwritten(what: str, tmp_path: Path) -> None:
    target = tmp_path / "there"
    if what == "full folder":
        target.mkdir()
        (target / ".hidden").write_text("x")
    elif what == "file":
        target.write_text("x")
    else:
        target.symlink_to(tmp_path / "nowhere")
    with pytest.raises(UserError):
        check_folder(target, "--repro")


@pytest.mark.parametrize("made", [True, False])
def test_a_failure_leaves_nothing_behind(made: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "out" / "deep"
    if made:
        folder.mkdir(parents=True)

    def fail(path: Path, data: bytes) -> None:
        if path.name == "b.md":
            raise OSError(28, "No space left on device")
        path.write_bytes(data)

    monkeypatch.setattr("prefixwise.cli.folder.write_whole", fail)
    with pytest.raises(UserError, match="No space left"):
        write_folder(folder, FILES)
    assert folder.exists() is made
    assert (tmp_path / "out").exists() is made
    assert not made or os.listdir(folder) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "no log is named"),
        (["x.jsonl", "--repro", "d"], "of which request?"),
        (["x.jsonl", "--seed", "1"], "a seed is for --repro"),
        (["x.jsonl", "--all", "--request", "#1"], "one request or all of them"),
        (["x.jsonl", "--all", "--output-format", "csv"], "--all writes lines"),
        (["x.jsonl", "--all", "--report", "json=y.json"], "--all writes lines"),
        (["--request", "x.jsonl"], "a request is named by its record"),
        (["x.jsonl", "y.jsonl", "--request", "3"], "several files are read"),
        (["x.jsonl", "--request", "#1", "--under", "nothing:block=5"], "--under nothing"),
        (["x.jsonl", "--request", "#1", "--repro", "full"], "the folder is not empty"),
        (["x.jsonl", "--top", "0"], "--top"),
        (["nowhere.jsonl"], "no such file"),
    ],
)
def test_what_cannot_be_is_one_line(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("x")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["prefixwise", "why", *arguments])
    assert run() in (2, 3)
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert err.count("error:") == 1
