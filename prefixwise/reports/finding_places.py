"""Where a finding stands, as CI formats say it: a file, and lines and columns where they are known."""

from __future__ import annotations

from typing import NamedTuple

from prefixwise.core.finding import Finding, Span
from prefixwise.core.request import Ref


class Place(NamedTuple):
    """A stretch of a file; lines and columns are 1-based, the end column is the one behind the last character."""

    path: str
    line: int | None = None
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None


def place_of(finding: Finding) -> Place:
    """Return the stretch of a source; of a log, the line of the record where it shows first."""
    if finding.span is not None:
        return spanned(finding.path, finding.span)
    ref = finding.pair.after if finding.pair is not None else finding.record
    return Place(finding.path) if ref is None else recorded(ref)


def spanned(path: str, span: Span) -> Place:
    """Return a stretch of a source file as a place."""
    return Place(path, span.line, span.column, span.end_line, span.end_column)


def recorded(ref: Ref) -> Place:
    """Return the line of a record as a place: the whole file where records are no lines."""
    return Place(ref.path, ref.line)


def refs_of(finding: Finding) -> tuple[Ref, ...]:
    """Return every record in which it shows, in order of time, without the one that is its place."""
    first = finding.pair.after if finding.pair is not None else finding.record
    found: list[Ref] = []
    for spot in finding.occurrences:
        ref = spot.pair.after if spot.pair is not None else spot.record
        if ref is not None and ref != first:
            found.append(ref)
    return tuple(dict.fromkeys(found))
