"""From the paths of a command line to the files that lint reads, and why each was taken or left."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from prefixwise.analyzers.static.file_contents import by_content
from prefixwise.analyzers.static.file_kinds import (
    LARGEST,
    FileKind,
    by_name,
    is_binary,
    is_text_name,
    may_build_prompts,
    of_included,
    of_named,
    of_unsaved,
    says_prompt,
)
from prefixwise.analyzers.static.ignored import IgnoreRules, Rules, patterns, rules_above
from prefixwise.analyzers.static.repositories import Repositories
from prefixwise.core.errors import UserError
from prefixwise.corpus.sources import STDIN, is_readable

_UNREADABLE = "cannot be read"
_LEFT_FOLDERS = {
    **dict.fromkeys(
        ("node_modules", "bower_components", "site-packages", "dist-packages", "vendor"), "packages of others"
    ),
    **dict.fromkeys(("__pycache__", "htmlcov", "build", "dist"), "made by a tool"),
    "venv": "a virtual environment",
}
_NEVER_INCLUDED = frozenset({".git", ".hg", ".svn", ".jj"})
_SIGNS = {
    "pyvenv.cfg": "a virtual environment",
    "conda-meta": "a virtual environment",
    "CACHEDIR.TAG": "a cache",
}
"""What stands in a folder that is none of the user's, and what such a folder is."""


class Found(msgspec.Struct, frozen=True):
    """A file to lint: its path as it was named or as it stands below what was named, with `/`; as what, and why."""

    path: str
    kind: FileKind
    why: str


class LeftOut(msgspec.Struct, frozen=True):
    """A file, or a folder with `/` at its end, that is not linted, and why; `named`: although it was named."""

    path: str
    why: str
    named: bool = False

    @property
    def unreadable(self) -> bool:
        """Whether it would have been looked at, but could not be read."""
        return self.why.startswith(_UNREADABLE)


class Discovered(msgspec.Struct, frozen=True):
    """What there is: files by path inside each argument, arguments in the order in which they were named.

    Attributes:
        found: Files to lint.
        beside: Code that builds no prompt itself; prompts may be built with it elsewhere.
        left_out: The others.
    """

    found: tuple[Found, ...]
    beside: tuple[Found, ...]
    left_out: tuple[LeftOut, ...]


class Selection(msgspec.Struct, frozen=True):
    """What the configuration says of files: patterns as in `.gitignore`.

    Attributes:
        base: Folder that they are relative to, absolute and with `/`; '' for the working folder.
        include: Texts to take though nothing says that they are prompts.
        exclude: Files and folders to leave out.
        force_exclude: Leave them, and what `.gitignore` names, out even where they are named.
    """

    base: str = ""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    force_exclude: bool = False


def discover(
    arguments: Sequence[str],
    selection: Callable[[str], Selection] | None = None,
    *,
    every_text: bool = False,
    only_discovered: bool = False,
) -> Discovered:
    """Return the files to lint.

    A file that is named is taken whatever it is, unless it is asked otherwise. In folders those are taken that are
    named or placed like prompts, code in which prompts may be built, and logs of a recognised format. Left out are what
    `.gitignore` names, environments, packages of others, hidden folders, binary files and files that are too large.

    Args:
        arguments: Files, folders, globs, or `-`.
        selection: What the configuration says of what stands directly in a folder, which is given absolute.
        every_text: Whether texts and templates are taken though nothing says that they are prompts.
        only_discovered: Whether of the files that are named only those are taken that would be found from the working
            folder.

    Raises:
        UserError: A name leads to nothing: exit code 3 where nothing else was named, else 2.
    """
    search = _Search(selection, every_text=every_text)
    name = search.sift if only_discovered else search.name
    missing = []
    for argument in arguments:
        if argument == STDIN or (argument and is_readable(Path(argument))):
            name(argument)
        elif argument and os.path.isdir(argument):
            search.folder(argument)
        else:
            names = sorted(found for found in glob.glob(argument, recursive=True) if os.path.isfile(found))
            missing += [] if names else [argument]
            for found in names:
                name(found)
    if missing:
        what = "is a socket" if Path(missing[0]).is_socket() else "no such file"
        advice = "name a file, a folder, a glob, or - for standard input"
        raise UserError(what, missing[0] or '""', advice, exit_code=2 if search.found else 3)
    return Discovered(
        tuple(search.found.values()),
        tuple(found for identity, found in search.beside.items() if identity not in search.found),
        tuple(left for identity, left in search.left.items() if identity not in search.found),
    )


def discover_unsaved(path: str, selection: Callable[[str], Selection] | None = None) -> Discovered:
    """Return the file whose text comes on standard input, as if it stood at `path`, whether it does or not.

    A log is read from standard input, as ever; whatever else is linted under its path.
    """
    search = _Search(selection)
    search.name(path, lambda shown, _: of_unsaved(shown))
    found = tuple(search.found.values())
    if found and found[0].kind is FileKind.LOG:
        found = (Found(STDIN, FileKind.LOG, "standard input"),)
    return Discovered(found, (), tuple(search.left.values()))


def taken_open(path: str, text: bytes, selection: Callable[[str], Selection] | None = None) -> bool:
    """Say whether a text that is open in an editor would be linted if its file stood in a folder that is linted.

    Args:
        path: Its file, which need not exist; relative to the working folder where it is below that.
        text: What it says now.
        selection: What the configuration says of what stands directly in a folder, which is given absolute.
    """
    return _Search(selection).takes(_slashed(path), text)


class _Patterns(NamedTuple):
    """What the configuration says of the files of a folder, to be matched."""

    include: Rules | None = None
    exclude: Rules | None = None
    force_exclude: bool = False

    @classmethod
    def of(cls, selection: Selection) -> _Patterns:
        """Return the patterns of a selection."""
        base = selection.base or _slashed(os.getcwd())
        include, exclude = selection.include, selection.exclude
        return cls(
            patterns(include, base) if include else None,
            patterns(exclude, base) if exclude else None,
            selection.force_exclude,
        )


class _Search:
    """Goes through what was named and keeps each file once."""

    def __init__(self, selection: Callable[[str], Selection] | None, *, every_text: bool = False) -> None:
        self._every_text = every_text
        self.found: dict[str, Found] = {}
        self.beside: dict[str, Found] = {}
        self.left: dict[str, LeftOut] = {}
        self._repositories = Repositories()
        self._selection = selection
        self._compiled: dict[Selection, _Patterns] = {}
        self._sifted: dict[str, tuple[IgnoreRules, str]] = {}

    def name(self, path: str, kind: Callable[[str, str], FileKind] = of_named) -> None:
        """Take a file that was named; `kind` says what it is, by path and name."""
        if path == STDIN:
            self.found.setdefault(STDIN, Found(STDIN, FileKind.LOG, "standard input"))
            return
        shown, absolute = _slashed(path), _slashed(os.path.abspath(path))
        if self._selection is not None:
            why = self._why_excluded(absolute)
            if why:
                self.left.setdefault(absolute, LeftOut(shown, why, named=True))
                return
        self.found.setdefault(_real(absolute), Found(shown, kind(path, shown.rpartition("/")[2]), "named"))

    def takes(self, shown: str, text: bytes) -> bool:
        """Say whether a file would be taken if it held this text and its folder were gone through."""
        absolute = _slashed(os.path.abspath(shown))
        kind, _, unsure = by_name(self._repositories.inside(absolute, shown))
        included = self._matches(self._patterns(_real(os.path.dirname(absolute))).include, absolute)
        if (kind in (None, FileKind.LOG) and not included) or is_binary(text) or len(text) > LARGEST:
            return False
        folders = [] if os.path.isabs(shown) else shown.split("/")[:-1]  # what is above a workspace says nothing of it
        if not included and any(name in _LEFT_FOLDERS or name.startswith(".") for name in folders):
            return False
        if self._why_excluded(absolute, named=False):
            return False
        if kind is not None and kind.is_code:
            return may_build_prompts(text)
        return included or not unsure or kind is not FileKind.TEMPLATE or says_prompt(text)

    def _why_excluded(self, absolute: str, *, named: bool = True) -> str:
        folder = _real(os.path.dirname(absolute))
        configured = self._patterns(folder)
        if named and not configured.force_exclude:
            return ""
        absolute = f"{folder.rstrip('/')}/{os.path.basename(absolute)}"
        above = [folder]
        while os.path.dirname(above[-1]) != above[-1]:
            above.append(os.path.dirname(above[-1]))
        exclude = configured.exclude
        if self._matches(exclude, absolute) or any(self._matches(exclude, one, folder=True) for one in above):
            return "excluded by the configuration"
        rules = rules_above(folder).within(folder)
        return "ignored by .gitignore" if rules.ignores(absolute) else ""

    def sift(self, path: str) -> None:
        """Take a file that was named if it would be found by who looks into the working folder."""
        shown, absolute = _slashed(path), _slashed(os.path.abspath(path))
        if path == STDIN or not os.path.isfile(path):
            self.name(path)
            return
        place, _, name = absolute.rpartition("/")
        rules, why = self._way_to(shown.rpartition("/")[0], place)
        if why:
            self._leave(absolute, shown, why)
            return
        place = _real(place)
        self._file(Path(path), f"{place}/{name}", shown, rules, self._patterns(place), named=True)

    def _way_to(self, shown: str, absolute: str) -> tuple[IgnoreRules, str]:
        """Return what is ignored in the folder of a file, and why the folder is left out on the way there, or ''."""
        if absolute not in self._sifted:
            above, _, name = shown.rpartition("/")
            place = _real(absolute)
            rules, why = rules_above(place).within(place), ""
            if shown and not os.path.isabs(shown):
                why = self._way_to(above, os.path.dirname(absolute))[1]
            if shown and not why and name not in ("", ".", ".."):
                why = self._why_folder_left(name, place, rules_above(place), self._patterns(os.path.dirname(place)))
            self._sifted[absolute] = rules, why
        return self._sifted[absolute]

    def folder(self, path: str) -> None:
        """Take what there is to lint in a folder; links to folders are not followed."""
        root = _slashed(path).rstrip("/") or "/"
        shown = "" if root == "." else root.rstrip("/") + "/"
        absolute = _real(_slashed(os.path.abspath(path)))
        waiting = [(absolute, shown, rules_above(absolute))]
        while waiting:
            place, shown, above = waiting.pop()
            rules = above.within(place)
            configured = self._patterns(place)
            inner = []
            for entry in self._entries(place, shown):
                if entry.is_dir(follow_symlinks=False):
                    why = self._why_folder_left(entry.name, f"{place}/{entry.name}", rules, configured)
                    if why:
                        self._leave(f"{place}/{entry.name}", f"{shown}{entry.name}/", why)
                    else:
                        inner.append((f"{place}/{entry.name}", f"{shown}{entry.name}/", rules))
                else:
                    self._file(entry, f"{place}/{entry.name}", f"{shown}{entry.name}", rules, configured)
            waiting.extend(reversed(inner))

    def _entries(self, place: str, shown: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(place) as entries:
                return sorted(entries, key=lambda entry: entry.name)
        except OSError as problem:
            self._leave(place, shown or "./", f"{_UNREADABLE}: {problem.strerror}")
            return []

    def _patterns(self, folder: str) -> _Patterns:
        """Return what the configuration says of what stands directly in a folder."""
        if self._selection is None:
            return _Patterns()
        selection = self._selection(folder)
        if selection not in self._compiled:
            self._compiled[selection] = _Patterns.of(selection)
        return self._compiled[selection]

    def _why_folder_left(self, name: str, path: str, rules: IgnoreRules, configured: _Patterns) -> str:
        if name in _NEVER_INCLUDED:
            return "a hidden folder"
        if name.startswith("."):
            return "" if _is_included_below(path, configured.include) else "a hidden folder"
        if name in _LEFT_FOLDERS:
            return _LEFT_FOLDERS[name]
        if name.endswith(".egg-info"):
            return "made by a tool"
        for sign, why in _SIGNS.items():
            if os.path.exists(f"{path}/{sign}"):
                return why
        if self._matches(configured.exclude, path, folder=True):
            return "excluded by the configuration"
        return "ignored by .gitignore" if rules.ignores(path, folder=True) else ""

    @staticmethod
    def _matches(rules: Rules | None, path: str, *, folder: bool = False) -> bool:
        return rules is not None and path.startswith(rules.base) and rules.verdict(path, folder=folder) is True

    def _leave(self, identity: str, shown: str, why: str) -> None:
        self.left.setdefault(identity, LeftOut(shown, why))

    def _file(
        self,
        entry: os.DirEntry[str] | Path,
        path: str,
        shown: str,
        rules: IgnoreRules,
        configured: _Patterns,
        *,
        named: bool = False,
    ) -> None:
        """Take a file of a folder, or say why not; `named`: it is taken because it was named, too."""
        if entry.is_symlink() and os.path.isdir(path):
            self._leave(path, shown, "a link to a folder")
            return
        kind, why, unsure = by_name(self._repositories.inside(path, shown))
        included = self._matches(configured.include, path) or (self._every_text and is_text_name(entry.name))
        if kind is None and not included:
            self._leave(path, shown, why)
            return
        excluded = self._matches(configured.exclude, path)
        if excluded or rules.ignores(path):
            self._leave(path, shown, "excluded by the configuration" if excluded else "ignored by .gitignore")
            return
        try:
            if not entry.is_file():
                self._leave(path, shown, "not a regular file")
                return
            size = entry.stat().st_size
            identity = _real(path) if entry.is_symlink() else path
            if included:
                kind, why, unsure = of_included(path, entry.name), "included by the configuration", False
            found, why = by_content(path, size, kind or FileKind.PROMPT_TEXT, why, unsure=unsure)
        except OSError as problem:
            self._leave(path, shown, f"{_UNREADABLE}: {problem.strerror}")
            return
        if found is None:
            self._leave(identity, shown, why)
        elif why:
            self.found.setdefault(identity, Found(shown, found, "named" if named else why))
        else:
            self.beside.setdefault(identity, Found(shown, found, "nothing in it speaks of prompts"))


def _is_included_below(folder: str, include: Rules | None) -> bool:
    """Say whether a pattern of `include` names something in a hidden folder."""
    if include is None:
        return False
    relative = folder[len(include.base) :] + "/"
    texts = (str(pattern.pattern).lstrip("/") for pattern in include.spec.patterns)
    return any(text.startswith(relative) or relative.startswith(text.rstrip("*")) for text in texts if text != "None")


def _slashed(path: str) -> str:
    return path.replace(os.sep, "/") if os.sep != "/" else path


def _real(path: str) -> str:
    return _slashed(os.path.realpath(path))


def everything(discovered: Discovered) -> Iterator[tuple[str, str, str]]:
    """Yield (path, what it is read as or '', why) of all files, by path: what `--show-files` shows."""
    rows = [(found.path, str(found.kind), found.why) for found in discovered.found]
    rows += [(found.path, "", found.why) for found in discovered.beside]
    rows += [(left.path, "", left.why) for left in discovered.left_out]
    yield from sorted(rows)
