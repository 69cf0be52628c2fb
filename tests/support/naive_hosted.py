"""Hosted caches as their documents describe them, over whole lists of tokens: no tree, no layouts, nothing kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from support.exact_prompts import Sent

Ids = tuple[int, ...]


@dataclass(frozen=True)
class Use:
    """A time at which a prefix was used, when what is written then can be read, and for how long it lives."""

    at: float
    ready: float
    life: float


def state(uses: Sequence[Use], now: float, oldest: float = math.inf) -> str:
    """Say what an entry with these uses is at `now`: `absent`, `flying`, `dead` or `alive`."""
    born = ready = last = life = math.nan
    for use in uses:
        flying = last == last and ready > use.at
        if flying:
            ready = min(ready, use.ready)
        elif not (last == last and use.at - last <= life and use.at - born <= oldest):
            born, ready, life = use.at, use.ready, use.life
        last = use.at
    if last != last:
        return "absent"
    if ready > now:
        return "flying"
    return "alive" if now - last <= life and now - born <= oldest else "dead"


def in_order(sent: Sequence[Sent]) -> list[int]:
    return sorted(range(len(sent)), key=lambda n: (sent[n].start, n))


def readable(request: Sent, wait: float | None, begun: bool) -> float:
    """Return when others can read what a request writes; `wait` None is from its start on."""
    if wait is None:
        return request.start
    if begun and request.ttft is not None:
        return request.start + request.ttft
    return max(request.start, request.start if request.end is None else request.end) + wait


def ends_of(request: Sent) -> list[tuple[int, str, float | None, str]]:
    """Return (tokens up to its end, kind, marker, speaker) of every block."""
    found = []
    depth = 0
    for item in request.items:
        for piece in item.pieces:
            depth += len(piece.ids)
            found.append((depth, piece.kind, piece.marker, item.speaker))
    return found


def look_back(
    sent: Sequence[Sent], key: Callable[[Sent, str], object], minimum: int, joins: Sequence[str], lookback: int = 20
) -> list[tuple[int, int, int]]:
    """Return (read, written, written for the hour) by request: markers, twenty positions, two lifetimes."""
    entries: dict[tuple[object, Ids], list[Use]] = {}
    found = [(0, 0, 0)] * len(sent)
    for n in in_order(sent):
        request, now, ids = sent[n], sent[n].start, sent[n].ids
        ends = ends_of(request)
        position, positions = 0, []
        for at, (_, kind, _, _) in enumerate(ends):
            position += not (at and kind in joins and ends[at - 1][1] == kind)
            positions.append(position)

        def name(at: int, request: Sent = request, ids: Ids = ids, ends: list = ends) -> tuple[object, Ids]:  # type: ignore[type-arg]
            return key(request, ends[at][3]), ids[: ends[at][0]]

        marks = [at for at, end in enumerate(ends) if end[2] is not None][-4:]
        seen = {at for mark in marks for at in range(mark + 1) if positions[mark] - positions[at] < lookback}
        alive = [at for at in seen if state(entries.get(name(at), ()), now) == "alive"]
        read = max((ends[at][0] for at in alive), default=0)
        if alive:
            hit = max(alive)
            entries[name(hit)].append(Use(now, math.inf, math.nan))
        good = [at for at in marks if ends[at][0] >= minimum]
        long = max([read, *(ends[at][0] for at in good if ends[at][2] == 3600.0)])
        last = max([long, *(ends[at][0] for at in good)])
        for at in good:
            life = 3600.0 if ends[at][2] == 3600.0 else 300.0
            entries.setdefault(name(at), []).append(Use(now, readable(request, 0, begun=True), life))
        found[n] = (read, last - read, long - read)
    return found


def boundary(sent: Sequence[Sent], minimum: int, ttl: float) -> list[tuple[int, int]]:
    """Return (read, written) by request: an implicit breakpoint and up to three markers."""
    entries: dict[tuple[object, Ids], list[Use]] = {}
    found = [(0, 0)] * len(sent)
    for n in in_order(sent):
        request, now = sent[n], sent[n].start
        space = (request.model, request.cache_key)
        endings: list[int] = []
        depth = 0
        for at, item in enumerate(request.items):
            depth += sum(len(piece.ids) for piece in item.pieces)
            following = request.items[at + 1].speaker if at + 1 < len(request.items) else ""
            leading = all(before.speaker in ("tools", "system") for before in request.items[:at])
            ends_front = item.speaker == "system" and following != "system" and leading
            if item.speaker == "user" or (item.speaker == "tool" and following != "tool") or ends_front:
                endings.append(depth)
        markers = [end[0] for end in ends_of(request) if end[2] is not None]
        looked = {*markers[:2], *markers[-50:], *endings[-21:]}
        alive = [d for d in looked if state(entries.get((space, request.ids[:d]), ()), now) == "alive"]
        read = max(alive, default=0)
        if read:
            entries[space, request.ids[:read]].append(Use(now, math.inf, math.nan))
        written = [d for d in (*markers[-3:], *endings[-1:]) if d >= minimum]
        for d in written:
            uses = entries.setdefault((space, request.ids[:d]), [])
            uses.append(Use(now, readable(request, 0, begun=False), ttl))
        found[n] = (read, max([read, *written]) - read)
    return found


class Prefixes:
    """Every prefix of everything that was sent, with its uses."""

    def __init__(self, oldest: float = math.inf) -> None:
        self._uses: dict[tuple[object, Ids], list[Use]] = {}
        self._oldest = oldest

    def longest(self, space: object, ids: Ids, now: float, states: Sequence[str] = ("alive",)) -> int:
        """Return the length of the longest prefix that is in one of these states."""
        for length in range(len(ids), 0, -1):
            if state(self._uses.get((space, ids[:length]), ()), now, self._oldest) in states:
                return length
        return 0

    def use(self, space: object, ids: Ids, use: Use) -> None:
        for length in range(1, len(ids) + 1):
            self._uses.setdefault((space, ids[:length]), []).append(use)


def whole_prefix(sent: Sequence[Sent], ttl: float, granularity: int, minimum: int) -> list[int]:
    """Return hits: the longest prefix alive, all but the last token, in whole units."""
    known, found = Prefixes(), [0] * len(sent)
    for n in in_order(sent):
        request = sent[n]
        alive = known.longest(request.model, request.ids, request.start)
        hit = min(alive, len(request.ids) - 1) // granularity * granularity
        found[n] = hit if hit >= minimum else 0
        known.use(request.model, request.ids, Use(request.start, readable(request, 0, begun=False), ttl))
    return found


def fixed_interval(
    sent: Sequence[Sent], idle: float, oldest: float, interval: int, hidden: int, step: int, minimum: int
) -> list[int]:
    """Return hits: the last breakpoint of the prefix alive, as it is reported."""
    known, found = Prefixes(oldest), [0] * len(sent)
    for n in in_order(sent):
        request = sent[n]
        space = (request.model, request.cache_key)
        usable = min(known.longest(space, request.ids, request.start), len(request.ids) - 1)
        ends = [end for end in range(interval, usable + hidden + 1, interval) if minimum <= end]
        if ends and len(request.ids) >= minimum:
            found[n] = max(0, ends[-1] - hidden) // step * step
        known.use(space, request.ids, Use(request.start, readable(request, 0, begun=False), idle))
    return found


def prefix_units(sent: Sequence[Sent], ttl: float, granularity: int, minimum: int, delay: float) -> list[int]:
    """Return hits: the longest unit that begins the prompt; ends of prompts and answers, and what two had in common."""
    known = Prefixes()
    units: dict[tuple[object, Ids], list[Use]] = {}
    waiting: list[tuple[float, int]] = []
    found = [0] * len(sent)
    for n in in_order(sent):
        request, now = sent[n], sent[n].start
        for at, m in sorted(item for item in waiting if item[0] <= now):
            ids = sent[m].ids + sent[m].answer
            known.use(sent[m].model, ids, Use(at, at + delay, ttl))
            units.setdefault((sent[m].model, ids), []).append(Use(at, at + delay, ttl))
        waiting = [item for item in waiting if item[0] > now]
        lengths = [
            length
            for length in range(1, len(request.ids) + 1)
            if state(units.get((request.model, request.ids[:length]), ()), now) == "alive"
        ]
        read = max(lengths, default=0)
        if read:
            units[request.model, request.ids[:read]].append(Use(now, math.inf, math.nan))
        hit = min(read, len(request.ids) - 1) // granularity * granularity
        found[n] = hit if hit >= minimum else 0
        use = Use(now, readable(request, delay, begun=False), ttl)
        common = known.longest(request.model, request.ids, now, ("alive", "dead", "flying"))
        for length in {common, len(request.ids)} - {0}:
            units.setdefault((request.model, request.ids[:length]), []).append(use)
        known.use(request.model, request.ids, use)
        if request.answer:
            waiting.append((max(now, now if request.end is None else request.end), n))
    return found
