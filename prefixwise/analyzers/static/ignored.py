"""What `.gitignore` files say of paths: those above a folder, those in it, and a repository's own excludes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import pathspec

_NAMED_GROUP = re.compile(r"\(\?P<\w+>")
_ANYWHERE = "^(?:.+/)?"


class Rules(NamedTuple):
    """Patterns of one file; `base`: the folder that they are relative to, with a slash at its end.

    `possible` is one expression for all of them, so that a path that none of them speaks of is told at once.
    """

    base: str
    spec: pathspec.GitIgnoreSpec
    possible: re.Pattern[str] | None

    def verdict(self, path: str, *, folder: bool) -> bool | None:
        """Say whether the patterns ignore a path (True) or take it back (False); None where none of them fits."""
        relative = path[len(self.base) :] + ("/" if folder else "")
        if self.possible is not None and self.possible.match(relative) is None:
            return None
        return self.spec.check_file(relative).include


class IgnoreRules(NamedTuple):
    """All rules that hold in a folder, the strongest last. Paths are absolute, with `/`."""

    rules: tuple[Rules, ...] = ()

    def ignores(self, path: str, *, folder: bool = False) -> bool:
        """Say whether a file or folder is ignored; that its folder is not, is taken for granted."""
        for rules in reversed(self.rules):
            verdict = rules.verdict(path, folder=folder)
            if verdict is not None:
                return verdict
        return False

    def within(self, folder: str) -> IgnoreRules:
        """Return the rules that hold inside `folder`: these, and those of its own file."""
        own = rules_of(os.path.join(folder, ".gitignore"), folder)
        return self if own is None else IgnoreRules((*self.rules, own))


def patterns(lines: Iterable[str], base: str) -> Rules:
    """Return patterns as `.gitignore` files have them, relative to a folder.

    Raises:
        ValueError: A line is no pattern.
    """
    try:
        spec = pathspec.GitIgnoreSpec.from_lines(lines)
    except re.error as problem:
        raise ValueError(str(problem)) from None
    return Rules(base.rstrip("/") + "/", spec, _possible(spec))


def rules_of(file: str, folder: str) -> Rules | None:
    """Return the patterns of a file for what stands in `folder`; None where there is no such file or nothing in it."""
    try:
        with open(file, encoding="utf-8-sig", errors="replace") as stream:
            lines = [line for line in stream if line.strip() and not line.startswith("#")]
    except OSError:
        return None
    if not lines:
        return None
    try:
        return patterns(lines, folder)
    except ValueError:  # what is no pattern ignores nothing, as with git
        return patterns([line for line in lines if is_pattern(line)], folder)


def is_pattern(line: str) -> bool:
    """Say whether a line of a `.gitignore` can be understood."""
    try:
        patterns([line], "")
    except ValueError:
        return False
    return True


def _possible(spec: pathspec.GitIgnoreSpec) -> re.Pattern[str] | None:
    sources = [pattern.regex.pattern for pattern in spec.patterns if pattern.include is not None and pattern.regex]
    plain = [_NAMED_GROUP.sub("(?:", str(source)) for source in sources]
    anywhere = [source.removeprefix(_ANYWHERE) for source in plain if source.startswith(_ANYWHERE)]
    others = [source for source in plain if not source.startswith(_ANYWHERE)]
    alternatives = [f"{_ANYWHERE}(?:{'|'.join(anywhere)})"] if anywhere else []
    try:
        return re.compile("|".join([*alternatives, *others]) or "(?!)", re.DOTALL)
    except (re.error, RecursionError, OverflowError):
        return None


def rules_above(folder: str) -> IgnoreRules:
    """Return the rules that hold for a folder itself: of the folders above it up to the root of its repository."""
    chain = [folder]
    while not os.path.exists(os.path.join(chain[-1], ".git")):
        parent = os.path.dirname(chain[-1])
        if parent == chain[-1]:
            return IgnoreRules()  # no repository: only what stands in the folder counts
        chain.append(parent)
    root = chain[-1]
    found: Sequence[Rules | None] = [
        rules_of(_excludes(root), root),
        *(rules_of(os.path.join(above, ".gitignore"), above) for above in reversed(chain[1:])),
    ]
    return IgnoreRules(tuple(rules for rules in found if rules is not None))


def _excludes(root: str) -> str:
    """Return the path of a repository's `info/exclude`, which stands elsewhere for a second worktree."""
    git = os.path.join(root, ".git")
    if not os.path.isdir(git):
        git = os.path.join(root, _first_line(git).removeprefix("gitdir:").strip())
        common = _first_line(os.path.join(git, "commondir"))
        git = os.path.join(git, common) if common else git
    return os.path.join(git, "info", "exclude")


def _first_line(file: str) -> str:
    try:
        with open(file, encoding="utf-8", errors="replace") as stream:
            return stream.readline(4096).strip()
    except OSError:
        return ""
