"""How long prefixes lived and how often requests missed them all the same, as the log's own usage tells it.

A request whose prefix was used before, some time ago, either reads it or not: one look at its age, which says alive or
gone and never when it went. Misses of prefixes that were used just before are no question of age: another machine
answered. How often that is depends on how many requests a key has.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

import msgspec

from prefixwise.caches.policy import Policy
from prefixwise.caches.relaxation import Relaxation
from prefixwise.caches.sharing import partition
from prefixwise.corpus.rows import NONE, Rows
from prefixwise.corpus.tree import ROOT
from prefixwise.stats.binomial import clopper_pearson
from prefixwise.stats.interval import Interval
from prefixwise.stats.survival import Survival, survival

FEWEST = 30
"""Looks below which nothing is estimated."""
RECENT = 60.0
"""Seconds within which no cache that is known lets go of what was used."""
_BUSY = (1, 5, 15, 60)
"""Requests a minute of one key at which rates part; a provider names 15 as what one machine takes."""
_READ = 0.9
_SLACK = 256
"""Tokens that units and framing may hide: fewer missing ones are no miss."""
_FOREVER = Relaxation(no_ttl=True, instant=True, no_eviction=True)


class Look(msgspec.Struct, frozen=True):
    """One request whose prefix had been used.

    Attributes:
        row: The request.
        age: Seconds since the last request that used all of the prefix started.
        alive: Whether its usage says that it was read.
        rate: Requests of the key in the minute before, this one included.
        part: Number of its cache: of model and namespace.
    """

    row: int
    age: float
    alive: bool
    rate: int
    part: int


class Spill(msgspec.Struct, frozen=True):
    """Requests at one rate: from `least` requests a minute on, how many came within `RECENT`, and missed."""

    least: int
    requests: int
    missed: int
    interval: Interval


class KeySpill(msgspec.Struct, frozen=True):
    """The same for one cache key of a model, at any rate."""

    model: str
    key: str
    requests: int
    missed: int


class Lifetimes(msgspec.Struct, frozen=True):
    """What usage says of a cache.

    Attributes:
        rule: Under which it was told what could be read.
        looks: Requests that told something.
        survival: Share of prefixes that were read, by idle time.
        spill: Misses of prefixes used within `RECENT` seconds, by rate; rates with too few are left out.
        keys: The keys that missed most, with enough requests.
    """

    rule: str
    looks: int
    survival: Survival
    spill: tuple[Spill, ...]
    keys: tuple[KeySpill, ...]


def lifetimes(rows: Rows, policy: Policy) -> Lifetimes | None:
    """Return what usage says of how long prefixes lived; None where too few requests report.

    Args:
        rows: The requests.
        policy: The rule that says what could have been read had nothing expired.
    """
    found = list(looks(rows, policy))
    if len(found) < FEWEST:
        return None
    recent = [look for look in found if look.age <= RECENT]
    return Lifetimes(
        policy.label,
        len(found),
        survival((look.age, look.alive) for look in found),
        tuple(_by_rate(recent)),
        tuple(_by_key(rows, recent)),
    )


def looks(rows: Rows, policy: Policy) -> Iterable[Look]:
    """Yield the looks of a log, in order of start."""
    expected = policy.relaxed(_FOREVER).replay(rows).matched
    parts = partition(rows, ("salt", "cache_key", "adapter"))
    parent = rows.tree.parent
    used: dict[tuple[int, int], tuple[float, float]] = {}
    minutes: dict[int, deque[float]] = {}
    for row in rows.by_start():
        start, part = rows.start[row], parts[row]
        if start != start:
            continue
        minute = minutes.setdefault(part, deque())
        minute.append(start)
        while minute[0] <= start - 60:
            minute.popleft()
        last, node = None, rows.node[row]
        while parent[node] != ROOT:
            if last is None:
                last = used.get((part, node))
            used[part, node] = (start, _answered(rows, row))
            node = parent[node]
        prompt, cached = rows.reported_prompt[row], rows.reported_cached[row]
        if last is None or last[1] > start or NONE in (prompt, cached) or not prompt or expected[row] <= _SLACK:
            continue
        read = cached * rows.prompt_tokens[row] / prompt
        alive = read >= min(_READ * expected[row], expected[row] - _SLACK)
        yield Look(row, start - last[0], alive, len(minute), part)


def _answered(rows: Rows, row: int) -> float:
    end = rows.end[row]
    return end if end == end else rows.start[row]


def _by_rate(recent: Sequence[Look]) -> Iterable[Spill]:
    for at, least in enumerate(_BUSY):
        below = _BUSY[at + 1] if at + 1 < len(_BUSY) else None
        chosen = [look for look in recent if look.rate >= least and (below is None or look.rate < below)]
        if len(chosen) >= FEWEST:
            missed = sum(not look.alive for look in chosen)
            yield Spill(least, len(chosen), missed, clopper_pearson(missed, len(chosen)))


def _by_key(rows: Rows, recent: Sequence[Look]) -> Iterable[KeySpill]:
    by_part: dict[int, list[Look]] = {}
    for look in recent:
        by_part.setdefault(look.part, []).append(look)
    enough = [chosen for chosen in by_part.values() if len(chosen) >= FEWEST]
    for chosen in sorted(enough, key=lambda chosen: -sum(not look.alive for look in chosen))[:10]:
        row = chosen[0].row
        key = rows.namespaces[rows.namespace[row]].cache_key
        yield KeySpill(
            rows.models[rows.model[row]], str(key or ""), len(chosen), sum(not look.alive for look in chosen)
        )
