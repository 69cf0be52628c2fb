"""What becomes of findings after they were found: ignored in comments, known to a baseline, or on untouched lines."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, TypeAlias

import msgspec

from prefixwise.analyzers.configured import Configured
from prefixwise.analyzers.lint.report import Judged
from prefixwise.analyzers.static.lint import LintedSources, SourceFile, SourceKind
from prefixwise.analyzers.suppress.baseline import (
    Baseline,
    Known,
    baseline_of,
    baseline_text,
    followed,
    read_baseline,
    removable,
    renewed,
    sift_baseline,
)
from prefixwise.analyzers.suppress.comments.script_code import scripts_are_read
from prefixwise.analyzers.suppress.inline import Ran, sift_inline
from prefixwise.analyzers.suppress.sifted import Sifted
from prefixwise.analyzers.suppress.since import changes_since
from prefixwise.core.errors import UserError
from prefixwise.core.excerpt import Excerpts
from prefixwise.core.finding import Finding

Save: TypeAlias = Callable[[Path, str], None]
"""Writes a file, whole or not at all."""

_MOST_RENAMED = 5
_LOCKED = "prompt-version-unbumped"


class Silencing(msgspec.Struct, frozen=True, kw_only=True):
    """What is not to be told.

    Attributes:
        baseline: File of findings that are known; None for none.
        write: File to write today's findings to, which are known from then on.
        update: Whether `baseline` is written without what is not there any more.
        since: Only findings on lines that changed since this commit are told; None for all.
    """

    baseline: Path | None = None
    write: Path | None = None
    update: bool = False
    since: str | None = None

    @property
    def written(self) -> tuple[Path, ...]:
        """The files that are written."""
        path = self.write or (self.baseline if self.update else None)
        return () if path is None else (path,)

    @property
    def read(self) -> tuple[Path, ...]:
        """The files that are read and not written."""
        return () if self.baseline is None or self.written else (self.baseline,)

    def check(self) -> None:
        """Raise UserError where two of these do not go together."""
        if self.update and self.write is not None:
            raise UserError("a baseline is written or updated, not both", "--write-baseline, --update-baseline")
        if self.update and self.baseline is None:
            raise UserError("there is no baseline to update", "--update-baseline", "name it: --baseline FILE")
        if self.write is not None and self.since is not None:
            advice = "leave --since out: a baseline holds the findings of all lines"
            raise UserError("a baseline cannot be written of a part", "--write-baseline, --since", advice)


class Looked(NamedTuple):
    """What a run looked at.

    Attributes:
        configured: Says which rules ran in each file.
        linted: Sources that were linted.
        beside: Sources that were followed from those.
        named: Paths that were named by themselves, and not found in a folder.
        sources: What came of the sources, None where there were none.
        logs: Logs that were read.
        locked: Whether prompts were held against a lock.
        given: What files say that are not read from the disk, by path.
    """

    configured: Configured
    linted: tuple[SourceFile, ...]
    beside: tuple[SourceFile, ...]
    named: frozenset[str]
    sources: LintedSources | None
    logs: tuple[str, ...]
    locked: bool
    given: Mapping[str, bytes]

    @property
    def unsure(self) -> frozenset[str]:
        """Sources whose findings are not all known: unread ones, and code by itself, which others may call."""
        notes = self.sources.notes if self.sources is not None else ()
        files = (*self.linted, *self.beside)
        unread = any(file.kind is SourceKind.SCRIPT for file in files) and not scripts_are_read()
        return frozenset(
            file.path
            for file in files
            if (file.kind is not SourceKind.TEMPLATE and file.path in self.named)
            or (file.kind is SourceKind.SCRIPT and unread)
            or any(note.startswith(f"{file.path}:") for note in notes)
        )


def silenced(found: Iterable[Finding], looked: Looked, asked: Silencing, excerpts: Excerpts, save: Save) -> Judged:
    """Return which findings are told, and which are not and why; writes the baseline where that is asked.

    Args:
        found: All findings of the run.
        looked: What the run looked at.
        asked: What is not to be told.
        excerpts: How much of the sources' text may be shown.
        save: Writes the baseline.

    Raises:
        UserError: The baseline cannot be read or written, or git cannot tell what changed.
    """
    asked.check()
    unsure = looked.unsure
    unasked = frozenset() if looked.locked else frozenset({_LOCKED})
    ran = Ran(looked.configured.rules, unasked, unsure, judges=asked.since is None)
    files = (*looked.linted, *looked.beside)
    sifted = sift_inline(tuple(found), files, ran, looked.configured.outside, looked.given, excerpts)
    before, notes = len(sifted.kept) + len(sifted.hidden), list[str]()
    baseline = asked.write or asked.baseline
    if baseline is not None:
        sifted = _against_baseline(sifted, baseline, asked, _LookedAt(looked, ran, unsure, baseline), save, notes)
    if asked.since is not None:
        sifted = _since(sifted, asked.since, notes)
    return Judged(
        sifted.kept,
        tuple(one.finding for one in sifted.hidden),
        tuple(one.suppression for one in sifted.hidden),
        tuple(notes),
        whole=len(sifted.kept) >= before,
    )


class _LookedAt:
    """Says whether a run would have found again what a baseline knows."""

    def __init__(self, looked: Looked, ran: Ran, unsure: frozenset[str], baseline: Path) -> None:
        paths = (file.path for file in (*looked.linted, *looked.beside) if file.path not in unsure)
        self._paths = {os.path.realpath(path): path for path in paths}
        self.rules = ran.of
        self._ran = ran
        self._folder = baseline.parent
        skipped = looked.sources.inputs if looked.sources is not None else ()
        self._unread = {one.path for one in skipped if one.reason_skipped}
        self._log_rules = frozenset().union(*map(ran.of, looked.logs))

    def __call__(self, known: Known) -> bool:
        if not known.path:
            return known.rule in self._log_rules
        place = self._folder / known.path
        if not os.path.lexists(place):
            return True
        path = self._paths.get(os.path.realpath(place))
        return path is not None and path not in self._unread and known.rule in self._ran.of(path)


def _against_baseline(
    sifted: Sifted, path: Path, asked: Silencing, looked_at: _LookedAt, save: Save, notes: list[str]
) -> Sifted:
    """Return findings without those that the baseline knows; writes it, if asked to."""
    renamed: dict[str, str] = {}
    if asked.write is not None:
        old = read_baseline(path) if path.exists() else Baseline(Counter(), path)
        baseline = renewed(old, baseline_of(sifted.kept, path), looked_at)
        _save(baseline, save)
        notes.append(f"{path}: {_counted(baseline.counts.total(), 'finding')} written; from now on they are known")
    else:
        baseline, renamed = followed(read_baseline(path), sifted.kept, looked_at.rules)
        notes += _renamed(renamed)
    against, left = sift_baseline(sifted.kept, baseline)
    gone = removable(left, looked_at)
    if asked.update and (gone or renamed):
        _save(Baseline(baseline.counts - gone, path), save)
        taken = f"{_counted(gone.total(), 'finding')} taken out that are not there any more"
        notes.append(f"{path}: {taken}" if gone else f"{path}: {_counted(len(renamed), 'file')} under new names")
    elif gone and asked.write is None:
        notes.append(
            f"{path}: {_counted(gone.total(), 'finding')} can be removed, not being there any more (--update-baseline)"
        )
    return Sifted(against.kept, (*sifted.hidden, *against.hidden))


def _renamed(names: Mapping[str, str]) -> Iterator[str]:
    if len(names) > _MOST_RENAMED:
        yield f"{_counted(len(names), 'file')} that the baseline knows are gone, and known under new names"
    else:
        yield from (f"{new}: known as {old}, which is gone: renamed" for old, new in sorted(names.items()))


def _save(baseline: Baseline, save: Save) -> None:
    try:
        save(baseline.path, baseline_text(baseline))
    except OSError as problem:
        advice = "nothing was changed there; check the folder, its permissions and free space"
        raise UserError(f"the baseline cannot be written: {problem.strerror}", str(baseline.path), advice) from None


def _since(sifted: Sifted, ref: str, notes: list[str]) -> Sifted:
    changes = changes_since(ref, (*sifted.kept, *(one.finding for one in sifted.hidden)))
    kept = tuple(finding for finding in sifted.kept if changes.touch(finding))
    left_out = len(sifted.kept) - len(kept)
    if left_out:
        notes.append(f"left out: {_counted(left_out, 'finding')} on lines that did not change since {ref}")
    return Sifted(kept, tuple(one for one in sifted.hidden if changes.touch(one.finding)))


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
