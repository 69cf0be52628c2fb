"""Writes several files into a folder of their own: all of them or none."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from prefixwise.core.errors import UserError
from prefixwise.core.whole_files import write_whole


def check_folder(path: Path, option: str) -> None:
    """Raise UserError where a folder cannot be written to: it holds something, or is a file."""
    if path.is_dir():
        if any(path.iterdir()):
            raise UserError("the folder is not empty", f"{option} {path}", "name a new one: nothing is overwritten")
    elif path.exists() or path.is_symlink():
        raise UserError("this is a file, not a folder", f"{option} {path}", "name a new folder")


def write_folder(path: Path, files: Mapping[str, bytes]) -> None:
    """Write files into a folder, which is made if it is not there. Raises UserError where not all could be written."""
    made = [folder for folder in (path, *path.parents) if not folder.exists()]
    done: list[Path] = []
    try:
        path.mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            write_whole(path / name, data)
            done.append(path / name)
    except BaseException as problem:
        for file in done:
            file.unlink(missing_ok=True)
        for folder in made:
            if folder.is_dir():
                folder.rmdir()
        if isinstance(problem, OSError):
            what = f"cannot write the files: {problem.strerror or problem}"
            raise UserError(what, str(path), "nothing was left there; check the folder's permissions") from problem
        raise
