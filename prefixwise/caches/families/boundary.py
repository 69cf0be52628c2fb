"""Entries end at breakpoints; a request looks up the boundaries that it has itself, longest first.

In implicit mode the provider puts a breakpoint at the end of the latest message that may have one: a user's, the last
of a run of tool results, or the last of the developer messages at the front.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from prefixwise.caches.entries import Entries, Found, prefix_node
from prefixwise.caches.facts import Family
from prefixwise.caches.family import FAMILIES, MatchingFamily
from prefixwise.caches.lane import Lane
from prefixwise.core.times import ABSENT
from prefixwise.corpus.layouts import EMPTY, Layouts, Speaker


class _Options(msgspec.Struct, frozen=True):
    """What a request asks of the cache."""

    mode: str = "implicit"
    ttl: str = ""


class Boundary(NamedTuple):
    """The end of a prefix, and the lifetime that is asked for it."""

    node: int
    depth: int
    asked: float = ABSENT


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
        found = Found()
        layouts = self._layouts
        if layouts is not None and layouts.of_row[row] > EMPTY:
            explicit, last = self._scan(row, layouts, entries, found, implicit=implicit)
        else:
            explicit, last = self._climb(row, entries, found, implicit=implicit)
        written = explicit[: settings.markers - implicit]
        if last is not None:
            written.append(last._replace(asked=_seconds(options.ttl)))
        now, ready, hit = lane.times[row], lane.readable(row), found.alive
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

    def _markers(self, row: int) -> list[tuple[int, float]]:
        """Return (depth, seconds asked for) of the markers of a request, deepest first."""
        return sorted(self._lane.rows.markers.get(row, ()), key=lambda marker: -marker[0])

    def _scan(
        self, row: int, layouts: Layouts, entries: Entries, found: Found, *, implicit: bool
    ) -> tuple[list[Boundary], Boundary | None]:
        """Go from the last message to the first and look up its boundaries, as far as there is need.

        Returns:
            The explicit breakpoints, deepest first, and the implicit one.
        """
        markers, lookup = self._markers(row), self._lane.settings.lookup
        now, front, total = self._lane.times[row], self._lane.rows.system_end[row], len(markers)
        explicit: list[Boundary] = []
        last: Boundary | None = None
        done, endings, after = False, 0, int(Speaker.OTHER)
        for layout in layouts.path(layouts.of_row[row]):
            speaker = layouts.speaker[layout]
            first, block = layouts.first[layout], layouts.first[layout + 1] - 1
            if implicit and block >= first and _may_end(speaker, after):
                end = Boundary(self._nodes[block], layouts.ends[block])
                at_front = speaker == Speaker.HEAD
                if not at_front or end.depth <= front:
                    last = last or end
                    if not done and (endings <= lookup.implicit_latest or at_front):
                        done = found.look(entries.get(end.node, end.depth), end.depth, now)
                    endings += 1
            while markers and block >= first:
                depth = layouts.ends[block]
                if markers[0][0] >= depth:
                    number = len(explicit)
                    explicit.append(Boundary(self._nodes[block], depth, markers[0][1]))
                    markers = [marker for marker in markers if marker[0] < depth]
                    if not done and (number < lookup.explicit_latest or number >= total - lookup.explicit_first):
                        done = found.look(entries.get(self._nodes[block], depth), depth, now)
                block -= 1
            after = speaker
            if done and not markers and (last is not None or not implicit):
                break
        return explicit, last

    def _climb(
        self, row: int, entries: Entries, found: Found, *, implicit: bool
    ) -> tuple[list[Boundary], Boundary | None]:
        """Do the same where nobody knows the blocks: the prompt ends with its last message, any entry is looked up."""
        lane = self._lane
        tree, node, tokens = lane.rows.tree, lane.rows.node[row], lane.rows.prompt_tokens[row]
        explicit = [Boundary(prefix_node(tree, node, depth), depth, asked) for depth, asked in self._markers(row)]
        looked = list(entries.above(tree, node, tokens)) if implicit else [(end.node, end.depth) for end in explicit]
        for at, depth in looked:
            if found.look(entries.get(at, depth), depth, lane.times[row]):
                break
        return explicit, Boundary(node, tokens) if implicit else None


def _may_end(speaker: int, after: int) -> bool:
    """Say whether a message may have an implicit breakpoint at its end, given whose the next one is."""
    return speaker == Speaker.USER or (speaker in (Speaker.TOOL, Speaker.HEAD) and after != speaker)


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
