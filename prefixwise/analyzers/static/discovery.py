"""From the paths of a command line to the files that lint reads, and why each was taken or left."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path

import msgspec
import pathspec

from prefixwise.core.errors import UserError
from prefixwise.corpus.dialect import SHAPE_ERRORS
from prefixwise.corpus.reader import ReadOptions, export_in, first_bytes, reader_for
from prefixwise.corpus.recognise import recognise
from prefixwise.corpus.records import raw_records
from prefixwise.corpus.sources import LOG_SUFFIXES, STDIN, is_readable, open_plain

_PYTHON = (".py", ".pyi", ".ipynb")
_SCRIPTS = (".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts")
_PROMPTS = (".prompt", ".prompty", ".prompt.md", ".prompt.txt", ".prompt.yaml", ".prompt.yml", ".prompt.json")
_TEXTS = (
    ".md",
    ".txt",
    ".jinja",
    ".jinja2",
    ".j2",
    ".hbs",
    ".handlebars",
    ".mustache",
    ".liquid",
    ".yaml",
    ".yml",
    ".xml",
)
_PROMPT_PATH = re.compile(r"(?i)(?:^|/)prompts?/|system[_-]?prompt|chat[_-]?template")
_LARGEST = 2_000_000
_LEFT_FOLDERS = frozenset(
    (
        "node_modules",
        "site-packages",
        "__pycache__",
        "venv",
        "env",
        "build",
        "dist",
        "target",
        "vendor",
        "bower_components",
    )
)


class FileKind(StrEnum):
    """What reads a file."""

    LOG = "log"
    TEMPLATE = "template"
    PYTHON = "python"
    SCRIPT = "script"


class Found(msgspec.Struct, frozen=True):
    """A file that is read: as what, and why it was taken."""

    path: str
    kind: FileKind
    why: str


class LeftOut(msgspec.Struct, frozen=True):
    """A file or folder that is not read, and why."""

    path: str
    why: str


class Discovered(msgspec.Struct, frozen=True):
    """All of it: what was named in the order in which it was named, what stands in folders by path."""

    found: tuple[Found, ...]
    left_out: tuple[LeftOut, ...]


def discover(arguments: Sequence[str]) -> Discovered:
    """Return the files to lint.

    A file that is named is taken whatever it is. In folders those are taken that hold prompts, build them, or are logs
    of a recognised format; what `.gitignore` names, environments, packages of others, hidden folders and large files
    are left out.

    Args:
        arguments: Files, folders, globs, or `-`.

    Raises:
        UserError: A name leads to nothing: exit code 3 where nothing else was named, else 2.
    """
    found: dict[str, Found] = {}
    left: list[LeftOut] = []
    missing = []
    for argument in arguments:
        if argument == STDIN or (argument and is_readable(Path(argument))):
            names = [argument]
        elif argument and Path(argument).is_dir():
            for thing in _in_folder(argument):
                if isinstance(thing, Found):
                    found.setdefault(_identity(thing.path), thing)
                else:
                    left.append(thing)
            continue
        else:
            names = sorted(name for name in glob.glob(argument, recursive=True) if Path(name).is_file())
            missing += [] if names else [argument]
        for name in names:
            found.setdefault(_identity(name), Found(name, _kind_of_named(name), "named"))
    if missing:
        what = "is a socket" if Path(missing[0]).is_socket() else "no such file"
        advice = "name a file, a folder, a glob, or - for standard input"
        raise UserError(what, missing[0] or '""', advice, exit_code=2 if found else 3)
    return Discovered(tuple(found.values()), tuple(left))


def _identity(path: str) -> str:
    return path if path == STDIN else os.path.realpath(path)


def _kind_of_named(path: str) -> FileKind:
    name = path.lower()
    if name.endswith(_PYTHON):
        return FileKind.PYTHON
    if name.endswith(_SCRIPTS):
        return FileKind.SCRIPT
    if path == STDIN or (name.endswith(LOG_SUFFIXES) and not name.endswith(_PROMPTS)):
        return FileKind.LOG
    if name.endswith((*_PROMPTS, *_TEXTS, ".toml")):
        return FileKind.TEMPLATE
    return FileKind.LOG if _is_log(path) else FileKind.TEMPLATE


def _in_folder(folder: str) -> Iterator[Found | LeftOut]:
    """Yield what stands below a folder, by path; links to folders are not followed."""
    above = _specs_above(Path(folder))
    specs: dict[str, list[tuple[str, pathspec.GitIgnoreSpec]]] = {}
    for place, folders, files in os.walk(folder):
        own = _spec_of(place)
        here = [*specs.get(os.path.dirname(place), above), *([(place, own)] if own is not None else [])]
        specs[place] = here
        kept = []
        for name in sorted(folders):
            path = os.path.join(place, name)
            why = _why_left(path, name, here)
            if why:
                yield LeftOut(_posix(path) + "/", why)
            else:
                kept.append(name)
        folders[:] = kept
        for name in sorted(files):
            thing = _of_file(os.path.join(place, name), name, here)
            if thing is not None:
                yield thing


def _of_file(path: str, name: str, specs: Sequence[tuple[str, pathspec.GitIgnoreSpec]]) -> Found | LeftOut | None:
    shown, lower = _posix(path), name.lower()
    code = lower.endswith((*_PYTHON, *_SCRIPTS))
    prompt = lower.endswith(_PROMPTS) or (lower.endswith(_TEXTS) and _PROMPT_PATH.search(shown) is not None)
    log = lower.endswith(LOG_SUFFIXES)
    if not (code or prompt or log):
        return None
    if _is_ignored(path, specs, folder=False):
        return LeftOut(shown, "ignored by .gitignore")
    if not Path(path).is_file():
        return LeftOut(shown, "not a regular file")
    if log and not prompt:
        return Found(shown, FileKind.LOG, "a log of a recognised format") if _is_log(path) else LeftOut(shown, "no log")
    if Path(path).stat().st_size > _LARGEST:
        return LeftOut(shown, "larger than 2 MB")
    if code:
        return Found(
            shown, FileKind.PYTHON if lower.endswith(_PYTHON) else FileKind.SCRIPT, "code that may build prompts"
        )
    return Found(shown, FileKind.TEMPLATE, "named like a prompt")


def _why_left(path: str, name: str, specs: Sequence[tuple[str, pathspec.GitIgnoreSpec]]) -> str:
    if name.startswith("."):
        return "a hidden folder"
    if name in _LEFT_FOLDERS or name.endswith(".egg-info"):
        return "packages of others, or made by a build"
    if os.path.exists(os.path.join(path, "pyvenv.cfg")):
        return "a virtual environment"
    if os.path.islink(path):
        return "a link to a folder"
    return "ignored by .gitignore" if _is_ignored(path, specs, folder=True) else ""


def _is_ignored(path: str, specs: Sequence[tuple[str, pathspec.GitIgnoreSpec]], *, folder: bool) -> bool:
    """Say whether the nearest `.gitignore` that speaks of a path ignores it."""
    for base, spec in reversed(specs):
        relative = os.path.relpath(path, base).replace(os.sep, "/") + ("/" if folder else "")
        said = spec.check_file(relative).include
        if said is not None:
            return said
    return False


def _spec_of(folder: str) -> pathspec.GitIgnoreSpec | None:
    try:
        with open(os.path.join(folder, ".gitignore"), encoding="utf-8", errors="replace") as file:
            return pathspec.GitIgnoreSpec.from_lines(file)
    except OSError:
        return None


def _specs_above(folder: Path) -> list[tuple[str, pathspec.GitIgnoreSpec]]:
    """Return the ignore files between a folder and the root of its repository, outermost first."""
    found = []
    top = folder.absolute()
    if (top / ".git").exists():
        return []
    for parent in top.parents:
        spec = _spec_of(str(parent))
        if spec is not None:
            found.append((str(parent), spec))
        if (parent / ".git").exists():
            return found[::-1]
    return []


def _is_log(path: str) -> bool:
    """Say whether a file is a log of a format that is recognised without options."""
    try:
        with open_plain(path) as stream:
            head = first_bytes(stream)
            reader = reader_for(path, head, ReadOptions())
            if "bodies" not in reader.names:
                return (
                    reader.kind == "text"
                    and not path.lower().endswith(_TEXTS)
                    and bool(export_in(head) or reader.signs)
                )
            record = next(iter(raw_records(stream)), None)
            return record is not None and recognise(msgspec.json.decode(record[2])) is not None
    except (UserError, *SHAPE_ERRORS):
        return False


def _posix(path: str) -> str:
    return Path(path).as_posix()
