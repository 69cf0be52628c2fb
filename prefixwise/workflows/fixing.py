"""Fixes in a lint run: sources are mended in memory, then written, or shown as a patch."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from prefixwise.analyzers.fixes.diffs import patch
from prefixwise.analyzers.fixes.fixed_log import Again, LogMender
from prefixwise.analyzers.fixes.report import copy_blocks, copy_notes, fixes_blocks, fixes_notes
from prefixwise.analyzers.fixes.rounds import FixedSources, Fixer
from prefixwise.analyzers.lint.run import Linted
from prefixwise.analyzers.static.context import OutsideOf
from prefixwise.core.errors import UserError
from prefixwise.core.finding import Finding
from prefixwise.core.report import Block
from prefixwise.core.whole_files import whole_file, write_whole


class FixAsked(msgspec.Struct, frozen=True):
    """Which fixes are asked for: those that a person should look at too, if `unsafe`; files are left if not `write`."""

    unsafe: bool = False
    write: bool = True


def fixes_asked(*, fix: bool, unsafe: bool, diff: bool) -> FixAsked | None:
    """Return which fixes options ask for, None for none. Raises UserError where they do not go together."""
    if unsafe and not fix and not diff:
        raise UserError("says which fixes to make, not to make them", "--unsafe-fixes", "add --fix, or --diff to look")
    return FixAsked(unsafe, write=not diff) if fix or diff else None


class FixOutcome(msgspec.Struct, frozen=True):
    """What came of them.

    Attributes:
        given: What files would hold that were not written, by path.
        patch: The changes as a patch.
        blocks, notes: What the report says of them.
    """

    given: dict[str, bytes]
    patch: str
    blocks: tuple[Block, ...]
    notes: tuple[str, ...]


def mend(
    asked: FixAsked,
    lint: Callable[[Mapping[str, bytes], Collection[str] | None], tuple[Finding, ...]],
    outside: OutsideOf,
) -> FixOutcome:
    """Mend sources, and write them if that is asked.

    Args:
        asked: Which fixes.
        lint: Returns what is found in the sources, or in some of them, where some hold something else than on disk.
        outside: What is known of each file from outside.
    """
    found = lint({}, None)
    fixer = Fixer(_read, lambda texts, only: lint(_encoded(texts), only), outside, unsafe=asked.unsafe)
    fixed = fixer.fixed(found)
    failures = tuple(_written(fixed)) if asked.write else ()
    blocks = tuple(fixes_blocks(fixed, found, written=asked.write))
    given = {} if asked.write else _encoded(fixed.after)
    notes = (*fixes_notes(fixed, unsafe=asked.unsafe), *failures)
    return FixOutcome(given, patch(fixed.before, fixed.after), blocks, notes)


def _encoded(texts: Mapping[str, str]) -> dict[str, bytes]:
    return {path: text.encode("utf-8") for path, text in texts.items()}


class CopyOutcome(msgspec.Struct, frozen=True):
    """What came of a copy: what the report says of it, and whether a repair was refused."""

    blocks: tuple[Block, ...]
    notes: tuple[str, ...]
    refused: bool


def write_copy(path: Path, linted: Linted, found: Iterable[Finding], again: Again) -> CopyOutcome:
    """Write a copy of a log whose requests are as its findings would have them.

    Args:
        path: Where it goes; it is written whole or not at all.
        linted: What is known of the log.
        found: The findings that count.
        again: Reads the log again.

    Raises:
        UserError: The log is in a format without copies, a record has no place for a change, or the file cannot be
            written.
    """
    mender = LogMender(linted, found, again)
    repairs = mender.repairs()
    try:
        with whole_file(path) as file:
            file.writelines(mender.lines())
    except OSError as problem:
        raise UserError(f"cannot write the copy: {problem.strerror or problem}", str(path)) from None
    return CopyOutcome(tuple(copy_blocks(repairs, path.as_posix())), tuple(copy_notes(repairs)), bool(repairs.refused))


def _read(path: str) -> str:
    return Path(path).read_bytes().decode("utf-8")


def _written(fixed: FixedSources) -> Iterator[str]:
    """Write files, and yield a note on each that could not be."""
    for path, text in fixed.after.items():
        try:
            if Path(path).read_bytes() != fixed.before[path].encode("utf-8"):
                yield f"{path}: not mended: it changed while it was looked at"
                continue
            # Its folder may allow to replace it all the same.
            if not os.stat(path).st_mode & 0o222 or not os.access(path, os.W_OK):
                yield f"{path}: not mended: it is read-only"
                continue
            write_whole(Path(path), text.encode("utf-8"))
        except OSError as problem:
            yield f"{path}: not mended: {problem.strerror or problem}"
