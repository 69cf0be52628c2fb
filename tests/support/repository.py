"""Throw-away git repositories."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

_SETTINGS = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_AUTHOR_NAME": "Ines",
    "GIT_AUTHOR_EMAIL": "ines@example.org",
    "GIT_COMMITTER_NAME": "Ines",
    "GIT_COMMITTER_EMAIL": "ines@example.org",
    "GIT_AUTHOR_DATE": "2026-11-30T10:00:00Z",
    "GIT_COMMITTER_DATE": "2026-11-30T10:00:00Z",
}


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder, without anybody's settings, and return what it says."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", *arguments]
    done = subprocess.run(
        command, cwd=folder, env={**inherited, **_SETTINGS}, check=True, capture_output=True, text=True
    )
    return done.stdout


def repository(folder: Path, files: dict[str, str]) -> Path:
    """Make a repository with one commit on the branch `main`, and return its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    commit(folder, files)
    return folder


def commit(folder: Path, files: dict[str, str | None], message: str = "A change") -> None:
    """Write files, delete those without text, and commit everything."""
    for name, text in files.items():
        path = folder / name
        if text is None:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", message)
