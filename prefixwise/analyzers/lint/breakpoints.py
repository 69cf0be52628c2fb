"""How the markers of a log meet the rules of the caches that they speak to: what rules about markers share."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.lint.marker_places import MarkerPlace
from prefixwise.caches.facts import Family, System
from prefixwise.core.finding import Where
from prefixwise.core.request import Mark
from prefixwise.corpus.rows import NONE

FEWEST = 3
"""Calls that it takes to say that caching never sets in."""
SLACK = 0.2
"""Share by which the counted tokens up to a marker may be wrong, where only the whole prompt is reported."""
_UNSEEN = Mark.PARTIAL | Mark.CUT | Mark.REDACTED


class Group(msgspec.Struct, frozen=True):
    """The calls of one application to one model whose whole bodies are logged, by start.

    Attributes:
        system: Facts on the cache whose entries end at markers; `is_default`: whether it is what serves a model
            without being asked for.
    """

    system: System
    is_default: bool
    model: str
    rows: tuple[int, ...]


def groups(log: Log, family: Family = Family.BREAKPOINT_LOOK_BACK) -> list[Group]:
    """Return the calls whose caches match in a certain way, an application and model at a time."""
    key = (groups, family)
    if key not in log.rows.memo:
        log.rows.memo[key] = list(_groups(log, family))
    found: list[Group] = log.rows.memo[key]
    return found


def _groups(log: Log, family: Family) -> Iterator[Group]:
    for number, rows in log.families.items():
        if number == NONE:
            continue
        by_model: dict[int, list[int]] = {}
        for row in rows:
            if not log.rows.marks[row] & (_UNSEEN | Mark.ABORTED):
                by_model.setdefault(log.rows.model[row], []).append(row)
        for found in by_model.values():
            model = log.model(found[0])
            systems = log.systems(found[0])
            system = next((one for one in systems if one.family_of(model) is family), None)
            if system is not None:
                yield Group(system, system is systems[0], model, tuple(found))


def is_silent(log: Log, row: int) -> bool:
    """Say whether usage was reported and shows that a cache neither gave nor took anything."""
    return log.cached(row) == 0 and not log.written(row)


def is_used(log: Log, row: int) -> bool:
    """Say whether reported usage shows that a cache gave or took something."""
    return bool(log.cached(row)) or bool(log.written(row))


def stable_tokens(log: Log, row: int) -> int:
    """Return how many leading tokens of a row an earlier request had, in the provider's own; 0 where the text breaks.

    Of requests that only resemble each other, no more than the head counts: their questions differ.
    """
    link = log.conversations.links[row]
    if link is None:
        return 0
    rows = log.rows
    if log.outlines.head[link.before] != log.outlines.head[row]:
        return 0
    if not link.turn:
        return log.scaled(row, min(rows.system_end[row], log.sharing.shared[row]))
    if not is_extension(log, link.before, row):
        return 0
    return log.scaled(row, min(rows.prompt_tokens[link.before], log.sharing.shared[row]))


def is_extension(log: Log, before: int, row: int) -> bool:
    """Say whether a row repeats all of an earlier one from its start, or is itself repeated from it."""
    outlines = log.outlines
    one, other = outlines.messages[before], outlines.messages[row]
    if outlines.head[before] != outlines.head[row]:
        return False
    return other[: len(one)] == one or one[: len(other)] == other


def tokens_to(log: Log, row: int, place: MarkerPlace) -> int:
    """Return the tokens of a row up to one of its markers, in the provider's own."""
    markers, depths = log.of(row).markers, log.rows.markers.get(row, ())
    at = markers.index(place)
    if at < len(depths) and len(depths) - len(markers) in (0, 1):
        return log.scaled(row, depths[at][0])
    ends = {"tools": log.rows.tools_end[row], "system": log.rows.system_end[row]}
    return log.scaled(row, ends.get(place.kind, log.rows.prompt_tokens[row]))


def entry_tokens(log: Log, row: int) -> int:
    """Return how many tokens the longest entry has that a row read or left behind, as reported; 0 where it is not."""
    return (log.cached(row) or 0) + (log.written(row) or 0)


def needed(system: System, model: str) -> tuple[int, int] | None:
    """Return (fewest, most) tokens from which a cache may set in, as sources say; None where they do not."""
    band = system.minimum(model)
    if band is None:
        return None
    ends = [end for end in (band.low, band.stated, band.high) if end is not None]
    return (min(ends), max(ends)) if ends else None


def planned(system: System, model: str) -> int | None:
    """Return the tokens from which one can plan with a cache, None where no source says."""
    band = system.minimum(model)
    if band is None:
        return None
    return next((end for end in (band.stated, band.high, band.low) if end is not None), None)


def where_of(place: MarkerPlace) -> Where:
    """Return the area of a prompt that a marker stands in."""
    return {"tools": Where.TOOLS, "system": Where.SYSTEM}.get(place.kind, Where.MESSAGES)


def head_of(log: Log, row: int) -> tuple[Where, str]:
    """Return area and pointer of the place where the head of a row ends; of the messages where it has none."""
    rows, head = log.rows, log.outlines.head_ends[row]
    if not head:
        return Where.MESSAGES, "/messages"
    return (Where.SYSTEM if rows.system_end[row] > rows.tools_end[row] else Where.TOOLS), head


def missed(log: Log, row: int, tokens: int) -> int:
    """Return how many of `tokens` that could have been served were not: as reported at most."""
    uncached, cached = log.uncached(row), log.cached(row)
    left = max(0, tokens - (cached or 0))
    return left if uncached is None else min(left, uncached)
