"""A stored prefix that requests name, with rent for storing it: Gemini's explicit caches.

A log of bodies shows what requests say themselves, not what they name, so what is counted is what objects would do for
it: the tools and the system prompt of each application as an object, made when it is first wanted and again whenever it
has gone. A lifetime runs from there, used or not.
"""

from __future__ import annotations

from prefixwise.caches.entries import prefix_node
from prefixwise.caches.facts import Family
from prefixwise.caches.family import FAMILIES, MatchingFamily
from prefixwise.caches.lane import Lane


def replay(lane: Lane) -> None:
    """Serve each prompt its head once it is an object; heads below the minimum, or wanted once, are none."""
    rows, out, settings, times = lane.rows, lane.out, lane.settings, lane.times
    tree = rows.tree
    wanted: dict[tuple[int, int, int], int] = {}
    keys: dict[int, tuple[int, int, int]] = {}
    for row in lane.order:
        head = min(rows.system_end[row], rows.prompt_tokens[row])
        if head >= max(1, settings.minimum):
            keys[row] = key = (lane.spaces[row], prefix_node(tree, rows.node[row], head), head)
            wanted[key] = wanted.get(key, 0) + 1
    made: dict[tuple[int, int, int], float] = {}
    for row in lane.order:
        if row not in keys or wanted[keys[row]] < 2:
            continue
        key, now = keys[row], times[row]
        head = key[2]
        if key in made:
            out.expired[row] = head
        if key in made and now - made[key] <= settings.ttl:
            out.matched[row] = head
            continue
        made[key] = now
        out.written[row] = head
        out.stored[row] = head * settings.ttl
    out.in_flight[:] = out.expired


FAMILIES.add(Family.NAMED_OBJECT.value, MatchingFamily(replay, writes=True))
