"""Entries end at markers; each marker of a request looks back over the positions before it.

What a request writes is charged by the lifetime of the marker that it lies before: up to the last marker of the longer
one beyond what was read, then up to the last marker.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from prefixwise.caches.entries import Entries, Found, prefix_node
from prefixwise.caches.facts import Family
from prefixwise.caches.family import FAMILIES, MatchingFamily
from prefixwise.caches.lane import Lane
from prefixwise.corpus.layouts import EMPTY, Block, Layouts

_JOINED = {"tool_use": Block.CALL, "tool_result": Block.RESULT}


class _Stop(NamedTuple):
    """Where a marker of a request stands: the prefix that it ends, the lifetime it asks for, and where it is kept."""

    node: int
    depth: int
    asked: float
    entries: Entries


class _Levels(NamedTuple):
    """The entries of tools, system and messages that one request can meet, and where the first two end."""

    tools: Entries
    system: Entries
    messages: Entries
    tools_end: int
    system_end: int

    def of(self, depth: int) -> Entries:
        """Return the entries of the level in which a prefix ends."""
        if depth <= self.tools_end:
            return self.tools
        return self.system if depth <= self.system_end else self.messages


class LookBack:
    """A cache that goes through the rows of a lane."""

    def __init__(self, lane: Lane) -> None:
        self._lane = lane
        self._stores: dict[tuple[Any, ...], Entries] = {}
        self._found: dict[tuple[int, int, bool], list[Entries]] = {}
        self._joins = frozenset(_JOINED[name] for name in lane.settings.joins if name in _JOINED)
        layouts = lane.rows.layouts
        self._layouts = layouts
        self._nodes = layouts.block_nodes(lane.rows.tree) if layouts is not None else ()

    def serve(self, row: int) -> None:
        """Take one request through."""
        lane, settings, out = self._lane, self._lane.settings, self._lane.out
        markers = self._markers(row)
        if not markers:
            return
        levels = self._levels(row)
        found = Found()
        layouts = self._layouts
        if layouts is not None and layouts.of_row[row] > EMPTY:
            stops = self._scan(row, layouts, markers, levels, found)
        else:
            stops = self._climb(row, markers, levels, found)
        now, ready, hit = lane.times[row], lane.readable(row), found.alive
        deepest = furthest = hit
        for stop in stops:
            if stop.depth < settings.minimum:
                continue
            deepest = max(deepest, stop.depth)
            if settings.is_long(stop.asked):
                furthest = max(furthest, stop.depth)
            stop.entries.store(stop.node, stop.depth, now, ready, settings.life(stop.asked))
        out.matched[row], out.expired[row], out.in_flight[row] = hit, found.kept, found.written
        out.written[row], out.written_long[row] = deepest - hit, furthest - hit

    def _markers(self, row: int) -> list[tuple[int, float]]:
        """Return (depth, seconds asked for) of the markers that count, deepest first."""
        lane = self._lane
        if lane.auto:
            return [(lane.rows.prompt_tokens[row], lane.settings.usual)]
        markers = sorted(lane.rows.markers.get(row, ()), key=lambda marker: -marker[0])
        return markers[: lane.settings.markers]

    def _levels(self, row: int) -> _Levels:
        lane = self._lane
        rows = lane.rows
        known = (lane.spaces[row], rows.param_set[row], lane.has_media(row))
        found = self._found.get(known)
        if found is None:
            stores = self._stores
            found = self._found[known] = [stores.setdefault(key, Entries()) for key in lane.level_keys(row)]
        return _Levels(found[0], found[1], found[2], rows.tools_end[row], rows.system_end[row])

    def _scan(
        self, row: int, layouts: Layouts, markers: list[tuple[int, float]], levels: _Levels, found: Found
    ) -> list[_Stop]:
        """Go from the last block to the first, look up what the markers look back on; return where they stand."""
        now, lookback, joins = self._lane.times[row], self._lane.settings.lookback, self._joins
        ends, kinds, nodes = layouts.ends, layouts.kinds, self._nodes
        stops: list[_Stop] = []
        left, previous, waiting = 0, -1, 0
        for layout in layouts.path(layouts.of_row[row]):
            for block in range(layouts.first[layout + 1] - 1, layouts.first[layout] - 1, -1):
                depth, kind = ends[block], kinds[block]
                if left and not (kind == previous and kind in joins):
                    left -= 1
                previous = kind
                if waiting < len(markers) and markers[waiting][0] >= depth:
                    stops.append(_Stop(nodes[block], depth, markers[waiting][1], levels.of(depth)))
                    left = lookback
                    while waiting < len(markers) and markers[waiting][0] >= depth:
                        waiting += 1
                if left and found.look(levels.of(depth).get(nodes[block], depth), depth, now):
                    left, lookback = 0, 0
                if not left and waiting == len(markers):
                    return stops
        return stops

    def _climb(self, row: int, markers: list[tuple[int, float]], levels: _Levels, found: Found) -> list[_Stop]:
        """Do the same where nobody knows the blocks: any entry before the last marker is looked up."""
        lane = self._lane
        tree, node, now = lane.rows.tree, lane.rows.node[row], lane.times[row]
        for entries in (levels.messages, levels.system, levels.tools):
            for at, depth in entries.above(tree, node, markers[0][0]):
                if levels.of(depth) is entries and found.look(entries.get(at, depth), depth, now):
                    break
            if found.alive:
                break
        return [_Stop(prefix_node(tree, node, depth), depth, asked, levels.of(depth)) for depth, asked in markers]


def replay(lane: Lane) -> None:
    """Take the rows of a lane through a cache, in order of start."""
    cache = LookBack(lane)
    for row in lane.order:
        cache.serve(row)


FAMILIES.add(Family.BREAKPOINT_LOOK_BACK.value, MatchingFamily(replay, needs_layouts=True, writes=True))
