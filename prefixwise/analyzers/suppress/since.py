"""Which lines changed since a commit, and which findings stand on one of them.

What is asked is git, as a program of its own. Lines count as changed that differ between the commit at which the work
left REF (the merge base) and the working tree, whatever of that is committed, staged, or neither. Another line end
makes no other line: a checkout on another system, or a tool that saves them so, would bring back every old finding.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from prefixwise.analyzers.rule import RULES
from prefixwise.core.errors import UserError
from prefixwise.core.finding import Finding, Mode, Span

_HUNK = re.compile(rb"^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
_PATHS_AT_ONCE = 200
_QUIETLY = (
    *("--no-pager", "--no-optional-locks", "--literal-pathspecs"),
    *("-c", "core.fsmonitor=false", "-c", "diff.autoRefreshIndex=false"),
)
_DIFF = ("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules", "--find-renames")
_DEPTH = "`fetch-depth: 0` for actions/checkout, `GIT_DEPTH: 0` in GitLab, elsewhere `git fetch --unshallow`"

Lines = tuple[int, int]
_WHOLE: tuple[Lines, ...] = ((1, 1 << 40),)


class Changes:
    """The lines that changed, by path of the file.

    Args:
        lines: First and last lines of what changed; none for files that only lost lines, or have other line ends now;
            files that did not change are missing.
    """

    def __init__(self, lines: dict[str, tuple[Lines, ...]]) -> None:
        self._lines = lines

    def touch(self, finding: Finding) -> bool:
        """Say whether a finding of sources, or a step of its flow, stands on a changed line; those of logs always do.

        One about a file as a whole, or about a lock, is touched by any change of its file.
        """
        if finding.mode is Mode.LOG:
            return True
        if finding.span is None or RULES.get(finding.rule).of_whole_file:
            return finding.path in self._lines
        places = [(finding.path, finding.span), *((step.path, step.span) for step in finding.flow)]
        return any(self._has(path, span) for path, span in places)

    def _has(self, path: str, span: Span) -> bool:
        last = span.end_line - 1 if span.end_column == 1 and span.end_line > span.line else span.end_line
        return any(first <= last and span.line <= end for first, end in self._lines.get(path, ()))


def changes_since(ref: str, findings: Iterable[Finding], folder: str = ".") -> Changes:
    """Return which lines changed of the files that findings are about.

    Files that git does not know have changed as a whole.

    Args:
        ref: A commit, branch or tag.
        findings: With paths from `folder` on.
        folder: Where git is asked.

    Raises:
        UserError: There is no git, no repository or no such commit.
    """
    top = _top(folder)
    base = _base(top, ref)
    sources = [finding for finding in findings if finding.mode is not Mode.LOG]
    paths = {finding.path for finding in sources} | {step.path for finding in sources for step in finding.flow}
    inside = {path: _inside(top, os.path.join(folder, path)) for path in sorted(paths)}
    changed = _changed_files(top, base)
    unchanged = {path for path in inside.values() if path not in changed}
    known = _known(top, sorted(unchanged))
    lines: dict[str, tuple[Lines, ...]] = {}
    for path, name in inside.items():
        change = changed.get(name)
        if change is not None:
            lines[path] = _WHOLE if change.whole else _changed_lines(top, base, change.before, name)
        elif name not in known and os.path.lexists(os.path.join(folder, path)):
            lines[path] = _WHOLE
    return Changes(lines)


class _Change(NamedTuple):
    """A file that changed: what it was called before, and whether all of it is new."""

    before: str
    whole: bool


def _git(folder: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run git; it waits for nobody, changes nothing and starts no program that the repository names for this."""
    command = ["git", *_QUIETLY, *arguments]
    try:
        return subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=False)  # noqa: S603
    except FileNotFoundError:
        raise UserError("git is needed for this, and is not installed", "--since", "install git") from None
    except OSError as problem:
        raise UserError(f"git cannot be run: {problem.strerror}", "--since") from None


def _said(done: subprocess.CompletedProcess[bytes]) -> str:
    """Return what git answered. Raises UserError with its complaint where it failed."""
    if done.returncode:
        complaint = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["it gave no reason"]
        raise UserError(f"git failed: {complaint[0].removeprefix('fatal: ')}", "--since")
    return os.fsdecode(done.stdout)


def _top(folder: str) -> str:
    done = _git(folder, "rev-parse", "--show-toplevel")
    if done.returncode == 0:
        return _said(done).removesuffix("\n")
    if b"safe.directory" in done.stderr:
        advice = f"git config --global --add safe.directory {os.path.abspath(folder)}"
        raise UserError("git does not trust this repository, as somebody else owns it", "--since", advice)
    raise UserError(
        "this folder is in no work tree of git",
        f"--since, {os.path.abspath(folder)}",
        "run it inside the repository whose sources are linted, or leave --since out",
    )


def _base(top: str, ref: str) -> str:
    """Return the commit at which the work left `ref`; `ref` itself where the two have no history in common."""
    where = f"--since {ref}"
    if not ref or ref.startswith("-") or "\0" in ref:
        raise UserError("this is no name of a commit", where, "name a branch, a tag or a commit: --since origin/main")
    done = _git(top, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
    shallow = _git(top, "rev-parse", "--is-shallow-repository").stdout.strip() == b"true"
    if done.returncode:
        if shallow:
            raise UserError("this clone is shallow and has no such commit", where, f"fetch the history: {_DEPTH}")
        raise UserError("there is no such commit here", where, "fetch it first (git fetch origin), or name another one")
    commit = _said(done).strip()
    done = _git(top, "merge-base", commit, "HEAD")
    if done.returncode == 0:
        return _said(done).split("\n")[0]
    if shallow:
        what = "this clone is shallow: it does not reach back to where the work began"
        raise UserError(what, where, f"fetch the history: {_DEPTH}")
    return commit


def _inside(top: str, path: str) -> str:
    """Return the path of a file as git names it; one outside the repository keeps a name that git does not know."""
    return os.path.relpath(os.path.realpath(path), os.path.realpath(top)).replace(os.sep, "/")


def _changed_files(top: str, base: str) -> dict[str, _Change]:
    words = iter(_said(_git(top, *_DIFF, "--name-status", "-z", base, "--")).split("\0"))
    found = {}
    for status in words:
        if not status:
            break
        before = next(words)
        name = next(words) if status[0] in "RC" else before
        if status == "R100":
            continue  # under another name the same file
        found[name] = _Change(before, status[0] not in "MRC")
    return found


def _known(top: str, paths: list[str]) -> set[str]:
    """Return those of some paths that git tracks."""
    asked = [path for path in paths if not path.startswith("../") and path != ".."]
    found: set[str] = set()
    for start in range(0, len(asked), _PATHS_AT_ONCE):
        chunk = asked[start : start + _PATHS_AT_ONCE]
        found.update(_said(_git(top, "ls-files", "-z", "--", *chunk)).split("\0"))
    return found


def _changed_lines(top: str, base: str, before: str, name: str) -> tuple[Lines, ...]:
    """Return the lines of a file that are new or other ones."""
    files = dict.fromkeys((before, name))
    exactly = ("--unified=0", "--inter-hunk-context=0", "--text", "--ignore-cr-at-eol")
    said = _git(top, *_DIFF, *exactly, base, "--", *files)
    _said(said)
    return tuple(_hunks(said.stdout))


def _hunks(patch: bytes) -> Iterator[Lines]:
    for match in _HUNK.finditer(patch):
        first, count = int(match[1]), int(match[2] or 1)
        if count:
            yield first, first + count - 1
