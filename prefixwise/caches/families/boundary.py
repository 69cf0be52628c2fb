"""Entries end at breakpoints; a request looks up the boundaries that it has itself, longest first.

In implicit mode the provider puts a breakpoint at the end of the latest message that may have one: a user's, the last
of a run of tool results, or the last of the developer messages at the front.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from prefixwise.caches.entries import Entries, Found, prefix_node
from prefixwise.caches.facts import Family
from prefixwise.caches.family import FAMILIES, MatchingFamily
from prefixwise.caches.lane import Lane
from prefixwise.core.times import ABSENT
from prefixwise.corpus.layouts import EMPTY, Layouts, Speaker
from prefixwise.corpus.rows import Rows


class _Options(msgspec.Struct, frozen=True):
    """What a request asks of the cache."""

    mode: str = "implicit"
    ttl: str = ""


class Boundary(NamedTuple):
    """The end of a prefix, and the lifetime that is asked for it."""

    node: int
    depth: int
    asked: float = ABSENT


class _Boundaries(NamedTuple):
    """Those of one request, longest first: explicit markers, ends of messages; and the end of the front, if any."""

    explicit: list[Boundary]
    endings: list[Boundary]
    front: list[Boundary]


class BoundaryCache:
    """A cache that goes through the rows of a lane."""

    def __init__(self, lane: Lane) -> None:
        self._lane = lane
        self._entries: dict[int, Entries] = {}
        self._options = [_options(controls) for controls in lane.rows.control_sets]
        layouts = lane.rows.layouts
        self._layouts = layouts
        self._nodes: Sequence[int] = layouts.block_nodes(lane.rows.tree) if layouts is not None else ()

    def serve(self, row: int) -> None:
        """Take one request through."""
        lane, settings, out = self._lane, self._lane.settings, self._lane.out
        entries = self._entries.setdefault(lane.spaces[row], Entries())
        options = self._options[lane.rows.control_set[row]]
        implicit = options.mode != "explicit"
        known = self._boundaries(row) or self._unlaid(row)
        now, found = lane.times[row], Found()
        candidates: Iterator[tuple[int, int]] | list[Boundary] = self._candidates(known, implicit=implicit)
        if implicit and not self._is_laid(row):
            candidates = entries.above(lane.rows.tree, lane.rows.node[row], lane.rows.prompt_tokens[row])
        for boundary in candidates:
            if found.look(entries.get(boundary[0], boundary[1]), boundary[1], now):
                break
        room = settings.markers - implicit
        written = known.explicit[:room]
        if implicit:
            written += [end._replace(asked=_seconds(options.ttl)) for end in known.endings[:1]]
        ready, hit = lane.readable(row), found.alive
        deepest = furthest = hit
        for end in written:
            if end.depth < settings.minimum:
                continue
            deepest = max(deepest, end.depth)
            if settings.is_long(end.asked):
                furthest = max(furthest, end.depth)
            entries.store(end.node, end.depth, now, ready, settings.life(end.asked))
        out.matched[row], out.expired[row], out.in_flight[row] = hit, found.kept, found.written
        out.written[row], out.written_long[row] = deepest - hit, furthest - hit

    def _is_laid(self, row: int) -> bool:
        return self._layouts is not None and self._layouts.of_row[row] > EMPTY

    def _candidates(self, known: _Boundaries, *, implicit: bool) -> list[Boundary]:
        """Return the boundaries that a request looks up, longest first."""
        lookup = self._lane.settings.lookup
        first = known.explicit[len(known.explicit) - lookup.explicit_first :] if lookup.explicit_first else []
        found = [*known.explicit[: lookup.explicit_latest], *first]
        if implicit:
            found += [*known.endings[: 1 + lookup.implicit_latest], *known.front]
        return sorted(found, key=lambda boundary: -boundary.depth)

    def _boundaries(self, row: int) -> _Boundaries | None:
        """Return the boundaries of a request, None where nobody knows its blocks."""
        layouts = self._layouts
        if layouts is None or not self._is_laid(row):
            return None
        found = _Boundaries([], [], [])
        markers = sorted(self._lane.rows.markers.get(row, ()), key=lambda marker: -marker[0])
        front = self._lane.rows.system_end[row]
        after = Speaker.OTHER
        for layout in layouts.path(layouts.of_row[row]):
            first, last = layouts.first[layout], layouts.first[layout + 1] - 1
            speaker = layouts.speaker[layout]
            if last >= first:
                end = Boundary(self._nodes[last], layouts.ends[last])
                if speaker == Speaker.HEAD and after != Speaker.HEAD and end.depth <= front:
                    found.front.append(end)
                    found.endings.append(end)
                elif speaker == Speaker.USER or (speaker == Speaker.TOOL and after != Speaker.TOOL):
                    found.endings.append(end)
                if markers:
                    self._attach(layouts, first, last, markers, found.explicit)
            after = Speaker(speaker)
        return found

    def _attach(
        self, layouts: Layouts, first: int, last: int, markers: list[tuple[int, float]], found: list[Boundary]
    ) -> None:
        """Move the markers that stand at blocks `first` to `last` from `markers` to `found`, deepest first."""
        for block in range(last, first - 1, -1):
            depth = layouts.ends[block]
            if markers and markers[0][0] >= depth:
                found.append(Boundary(self._nodes[block], depth, markers[0][1]))
                while markers and markers[0][0] >= depth:
                    markers.pop(0)

    def _unlaid(self, row: int) -> _Boundaries:
        """Return what is known without blocks: the markers, and the end of the prompt as that of its last message."""
        rows: Rows = self._lane.rows
        markers = sorted(rows.markers.get(row, ()), key=lambda marker: -marker[0])
        explicit = [Boundary(prefix_node(rows.tree, rows.node[row], depth), depth, asked) for depth, asked in markers]
        return _Boundaries(explicit, [Boundary(rows.node[row], rows.prompt_tokens[row])], [])


def _options(controls: tuple[tuple[str, bytes], ...]) -> _Options:
    raw = dict(controls).get("prompt_cache_options", b"{}")
    try:
        return msgspec.json.decode(raw, type=_Options)
    except msgspec.MsgspecError:  # not what the API takes: what it means is not ours to say
        return _Options()


def _seconds(ttl: str) -> float:
    units = {"m": 60.0, "h": 3600.0}
    return int(ttl[:-1]) * units[ttl[-1]] if ttl[-1:] in units and ttl[:-1].isdecimal() and len(ttl) < 6 else ABSENT


def replay(lane: Lane) -> None:
    """Take the rows of a lane through a cache, in order of start."""
    cache = BoundaryCache(lane)
    for row in lane.order:
        cache.serve(row)


FAMILIES.add(Family.BREAKPOINT_BOUNDARY.value, MatchingFamily(replay, needs_layouts=True, writes=True))
