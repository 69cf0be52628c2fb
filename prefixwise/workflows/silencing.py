"""What becomes of findings after they were found: ignored in comments, known to a baseline, or on untouched lines."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from prefixwise.analyzers.configured import Configured
from prefixwise.analyzers.lint.report import Judged
from prefixwise.analyzers.static.lint import LintedSources, SourceFile, SourceKind
from prefixwise.analyzers.suppress.comments.script_code import scripts_are_read
from prefixwise.analyzers.suppress.inline import Ran, sift_inline
from prefixwise.analyzers.suppress.sifted import Sifted
from prefixwise.analyzers.suppress.since import changes_since
from prefixwise.core.errors import UserError
from prefixwise.core.excerpt import Excerpts
from prefixwise.core.finding import Finding
from prefixwise.workflows.baselines import Ledger, Save, held_against, is_of_a_project

_LOCKED = "prompt-version-unbumped"


class Silencing(msgspec.Struct, frozen=True, kw_only=True):
    """What is not to be told, beside what the baselines of the configuration know.

    Attributes:
        write: File to write today's findings to, which are known from then on.
        update: Whether baselines are written without what is not there any more.
        since: Only findings on lines that changed since this commit are told; None for all.
    """

    write: Path | None = None
    update: bool = False
    since: str | None = None

    def written(self, baselines: Sequence[Path]) -> tuple[Path, ...]:
        """Return the files that are written, of a run that has these baselines."""
        return tuple(baselines) if self.update else () if self.write is None else (self.write,)

    def read(self, baselines: Sequence[Path]) -> tuple[Path, ...]:
        """Return the baselines that are read and not written."""
        return tuple(path for path in baselines if path not in self.written(baselines))

    def check(self, baselines: Sequence[Path]) -> None:
        """Raise UserError where two of these do not go together, for a run that has these baselines."""
        if self.update and self.write is not None:
            raise UserError("a baseline is written or updated, not both", "--write-baseline, --update-baseline")
        if self.update and not baselines:
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
    unsure = looked.unsure
    unasked = frozenset() if looked.locked else frozenset({_LOCKED})
    ran = Ran(looked.configured.rules, unasked, unsure, judges=asked.since is None)
    files = (*looked.linted, *looked.beside)
    sifted = sift_inline(tuple(found), files, ran, looked.configured.outside, looked.given, excerpts)
    before = len(sifted.kept) + len(sifted.hidden)
    held = held_against(sifted, _ledger(looked, ran, asked), save)
    sifted, notes = held.sifted, list(held.notes)
    if asked.since is not None:
        sifted = _since(sifted, asked.since, notes)
    return Judged(
        sifted.kept,
        tuple(one.finding for one in sifted.hidden),
        tuple(one.suppression for one in sifted.hidden),
        tuple(notes),
        whole=len(sifted.kept) >= before,
        written=held.written,
    )


def _ledger(looked: Looked, ran: Ran, asked: Silencing) -> Ledger:
    skipped = looked.sources.inputs if looked.sources is not None else ()
    unknown = {*ran.unjudged, *(one.path for one in skipped if one.reason_skipped)}
    sources = [file.path for file in (*looked.linted, *looked.beside)]
    paths = (*looked.logs, *sources)
    return Ledger(
        configured=looked.configured,
        paths=paths,
        write=asked.write,
        update=asked.update,
        rules=ran.of,
        sources={os.path.realpath(path): path for path in sources if path not in unknown},
        logs=looked.logs,
        of_a_project=is_of_a_project(looked.configured, paths, asked.write),
    )


def _since(sifted: Sifted, ref: str, notes: list[str]) -> Sifted:
    changes = changes_since(ref, (*sifted.kept, *(one.finding for one in sifted.hidden)))
    kept = tuple(finding for finding in sifted.kept if changes.touch(finding))
    hidden = tuple(one for one in sifted.hidden if changes.touch(one.finding))
    left_out = len(sifted.kept) - len(kept)
    known = len(sifted.hidden) - len(hidden)
    if left_out or known:
        part = f"{known:,} of them " if left_out else ""
        aside = f", {part}known or ignored anyway" if known else ""
        count = _counted(left_out + known, "finding")
        notes.append(f"left out: {count} on lines that did not change since {ref}{aside}")
    return Sifted(kept, hidden)


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
