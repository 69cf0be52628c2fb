"""Findings held against baselines, each against that of its own project; today's are written if that is asked."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

import msgspec

from prefixwise.analyzers.configured import Configured
from prefixwise.analyzers.lint.report import Written
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
from prefixwise.analyzers.suppress.sifted import Hidden, Sifted
from prefixwise.core.errors import UserError
from prefixwise.core.finding import Finding

Save: TypeAlias = Callable[[Path, str], None]
"""Writes a file, whole or not at all."""

_MOST_RENAMED = 5


def baselines_of(configured: Configured, paths: Iterable[str]) -> tuple[Path, ...]:
    """Return the baselines of some files, that of the working folder first, then by name."""
    here = configured.baseline("")
    others = sorted({configured.baseline(path) for path in paths} - {here, ""})
    return tuple(map(Path, filter(None, (here, *others))))


def is_of_a_project(configured: Configured, paths: Iterable[str], written: Path | None) -> bool:
    """Say whether a baseline is one that a project of its own names for its files, beside the working folder's."""
    if written is None:
        return False
    own = {configured.baseline(path) for path in paths if configured.has_own_baseline(path)}
    return any(_same(Path(one), written) for one in own)


class Ledger(NamedTuple):
    """Which baseline a finding is held against, and what a run looked at.

    Attributes:
        configured: Says which baseline each file has.
        paths: The files that were linted, logs too.
        write: File to write today's findings to, None for none; `update`: whether baselines are written without what
            is not there any more.
        rules: Returns the names of the rules that were run on a file.
        sources: Files of which all findings are known, by real path; `logs`: those that were read.
        of_a_project: Whether what is written is the baseline of a project beside that of the working folder.
    """

    configured: Configured
    paths: Sequence[str]
    write: Path | None
    update: bool
    rules: Callable[[str], frozenset[str]]
    sources: Mapping[str, str]
    logs: Sequence[str]
    of_a_project: bool = False

    def of(self, path: str) -> Path | None:
        """Return the baseline of a file, None for none.

        What is written takes the place of the working folder's baseline, and leaves those of other projects alone; the
        file of one project takes the findings of that project only.
        """
        named = self.configured.baseline(path)
        configured = Path(named) if named else None
        if self.write is None or _same(configured, self.write):
            return configured if self.write is None else self.write
        if self.configured.has_own_baseline(path) or self.of_a_project:
            return configured
        return self.write

    def looked_at(self, known: Known, baseline: Path) -> bool:
        """Say whether the run would have found again what a baseline knows."""
        if not known.path:
            logs = [path for path in self.logs if self.of(path) == baseline]
            return any(known.rule in self.rules(path) for path in logs)
        place = baseline.parent / known.path
        if not os.path.lexists(place):
            return True
        path = self.sources.get(os.path.realpath(place))
        return path is not None and known.rule in self.rules(path)


class Held(msgspec.Struct, frozen=True):
    """Findings that are left, and those that are known; `written`: what was written of them, if anything was."""

    sifted: Sifted
    notes: tuple[str, ...] = ()
    written: Written | None = None


def held_against(sifted: Sifted, ledger: Ledger, save: Save) -> Held:
    """Return findings without those that their baselines know; writes baselines, if asked to.

    Raises:
        UserError: A baseline cannot be read or written.
    """
    of = {path: ledger.of(path) for path in {*ledger.paths, *(finding.path for finding in sifted.kept)}}
    used = list(baselines_of(ledger.configured, ledger.paths))
    used = [one for one in used if ledger.write is None or one in of.values()]
    used = used if ledger.write is None else [*(one for one in used if not _same(one, ledger.write)), ledger.write]
    hidden: dict[int, Hidden] = {}
    notes: list[str] = []
    written = None
    for baseline in used:
        found = [finding for finding in sifted.kept if of[finding.path] == baseline]
        if baseline == ledger.write:
            known, written = _written(found, ledger, baseline, save)
        else:
            known = _known(found, ledger, baseline, save, notes)
        hidden |= {id(one.finding): one for one in known}
    kept = tuple(finding for finding in sifted.kept if id(finding) not in hidden)
    gone = tuple(hidden[id(finding)] for finding in sifted.kept if id(finding) in hidden)
    return Held(Sifted(kept, (*sifted.hidden, *gone)), tuple(notes), written)


def _written(found: list[Finding], ledger: Ledger, path: Path, save: Save) -> tuple[tuple[Hidden, ...], Written]:
    is_new = not path.exists()
    old = Baseline(Counter(), path) if is_new else read_baseline(path)
    baseline = renewed(old, baseline_of(found, path), lambda known: ledger.looked_at(known, path))
    _save(baseline, save)
    written = Written(
        path=path.as_posix(),
        findings=baseline.counts.total(),
        new=(baseline.counts - old.counts).total(),
        gone=(old.counts - baseline.counts).total(),
        first=is_new,
        asked_for=_same(Path(ledger.configured.baseline(found[0].path if found else "")), path),
    )
    return sift_baseline(found, baseline)[0].hidden, written


def _known(found: list[Finding], ledger: Ledger, path: Path, save: Save, notes: list[str]) -> tuple[Hidden, ...]:
    # Of several that are not there yet, each can be written first.
    is_missing = ledger.write is not None and not path.exists()
    old = Baseline(Counter(), path) if is_missing else read_baseline(path)
    baseline, renamed = followed(old, found, ledger.rules)
    notes += _renamed(renamed)
    against, left = sift_baseline(found, baseline)
    gone = removable(left, lambda known: ledger.looked_at(known, path))
    if ledger.update and (gone or renamed):
        _save(Baseline(baseline.counts - gone, path), save)
        taken = f"{_counted(gone.total(), 'finding')} taken out that are not there any more"
        notes.append(f"{path}: {taken}" if gone else f"{path}: {_counted(len(renamed), 'file')} under new names")
    elif gone and ledger.write is None:
        notes.append(
            f"{path}: {_counted(gone.total(), 'finding')} can be removed, not being there any more (--update-baseline)"
        )
    return against.hidden


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


def _same(one: Path | None, other: Path | None) -> bool:
    return one is not None and other is not None and os.path.realpath(one) == os.path.realpath(other)


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
