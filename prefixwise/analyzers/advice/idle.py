"""Keeping a prefix alive and warming it up: requests that are sent only for the cache, replayed among those of the log.

A request for the cache alone ends with the prefix that most requests of an application share. Sent while nobody else
asks, it pays the price of reading and saves that of writing anew; sent before many requests that start at once, it
saves all but one of their writes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import msgspec

from prefixwise.analyzers.advice.bill import Accountant
from prefixwise.analyzers.advice.places import NOWHERE
from prefixwise.caches.cache_settings import Settings
from prefixwise.caches.facts import Family
from prefixwise.caches.prices import Price
from prefixwise.corpus.layouts import EMPTY
from prefixwise.corpus.rows import NONE, Row, Rows
from prefixwise.corpus.tree import ROOT

_EARLY = 0.9
"""Share of a lifetime after which it is renewed: some time is lost on the way."""
_MOST_SENT = 20_000
_LEAD = 10.0
"""Seconds before a burst at which a warm-up is sent where the log does not say how long requests take."""


class Head(msgspec.Struct, frozen=True):
    """The prefix that is kept: where it ends in the tree, its length, and the layout of its blocks."""

    node: int
    depth: int
    layout: int


class IdleAdvice(msgspec.Struct, frozen=True, kw_only=True):
    """What requests for the cache alone bring to one application.

    Attributes:
        model, family, requests: Whose; how many they are.
        prefix_tokens: Length of the prefix that is kept, by our count.
        ttl: Seconds without use after which it goes.
        break_even: Idle seconds up to which renewing costs less than writing anew; None where reading is free.
        gaps: Idle times between requests that are longer than the TTL; `median_gap`: the middle one, in seconds.
        renewals: After each request, how many renewals at most while nobody asks; 0: none pay.
        sent: How many that were over the log.
        keep_usd: What they save, their own cost paid; negative never, since 0 renewals save 0.
        bursts: How often several requests started before the first of them had written.
        warm_usd: What one warm-up before each of those saves, its own cost paid; None without bursts.
    """

    model: str
    family: int
    requests: int
    prefix_tokens: int
    ttl: float
    break_even: float | None
    gaps: int
    median_gap: float | None
    renewals: int
    sent: int
    keep_usd: float
    bursts: int
    warm_usd: float | None


def idle_advice(rows: Rows, accountant: Accountant, family: int = NONE) -> IdleAdvice | None:
    """Return whether keeping alive and warming up pay for rows of one model and application.

    None where nothing expires under the rule, or requests have no time, no price or no prefix that most of them share.

    Args:
        rows: The requests.
        accountant: Prices them under the rule; only markers of the rows may count.
        family: Their prompt family.
    """
    model = rows.models[rows.model[0]]
    ttl = _life(rows, accountant.policy.settings_of(model))
    if accountant.policy.family_of(model) is Family.NAMED_OBJECT:
        return None  # such a cache lives as long as is paid for
    prices, head = accountant.prices(rows), shared_head(rows)
    if not prices or head is None or not math.isfinite(ttl) or any(start != start for start in rows.start):
        return None
    times = sorted(rows.start)
    gaps = sorted(after - before for before, after in pairwise(times) if after - before > ttl)
    now = accountant.usd(rows)
    best, saved, sent = 0, 0.0, 0
    for renewals in _renewals(ttl, prices, gaps):
        extra = _kept_alive(rows, ttl, renewals)
        if len(extra) > _MOST_SENT:
            continue
        gain = now - accountant.usd(with_requests(rows, head, extra, ttl))
        if gain > saved:
            best, saved, sent = renewals, gain, len(extra)
    bursts = _bursts(rows, ttl)
    warm = now - accountant.usd(with_requests(rows, head, bursts, ttl)) if bursts else None
    return IdleAdvice(
        model=model,
        family=family,
        requests=len(rows),
        prefix_tokens=head.depth,
        ttl=ttl,
        break_even=break_even_gap(ttl, prices[0]),
        gaps=len(gaps),
        median_gap=gaps[len(gaps) // 2] if gaps else None,
        renewals=best,
        sent=sent,
        keep_usd=saved,
        bursts=len(bursts),
        warm_usd=warm,
    )


def _life(rows: Rows, settings: Settings) -> float:
    """Return for how long the entries of most requests live."""
    asked = Counter(max(ttl for _, ttl in markers) for markers in rows.markers.values() if markers)
    usual = max(asked, key=lambda ttl: (asked[ttl], ttl), default=settings.usual)
    return settings.life(usual) if usual == usual else settings.ttl


def break_even_gap(ttl: float, price: Price) -> float | None:
    """Return up to which idle time renewing a prefix costs no more than letting it go and writing it again.

    A prefix that is written again costs the price of writing instead of reading; each renewal costs that of reading.
    """
    if price.read <= 0:
        return None
    again = max(price.written, price.input) - price.read
    return ttl + math.floor(again / price.read + 1e-9) * ttl * _EARLY


def _renewals(ttl: float, prices: Sequence[Price], gaps: Sequence[float]) -> tuple[int, ...]:
    """Return how many renewals are worth trying: as many as the shortest gaps need, up to where none can pay."""
    if not gaps:
        return ()
    limit = max(break_even_gap(ttl, price) or math.inf for price in prices)
    needed = {math.ceil((gap - ttl) / (ttl * _EARLY)) for gap in gaps if gap <= limit}
    ranked = sorted(needed)
    return tuple(dict.fromkeys(ranked[place * (len(ranked) - 1) // 7] for place in range(8))) if ranked else ()


def _kept_alive(rows: Rows, ttl: float, renewals: int) -> list[tuple[int, float, float]]:
    """Return (row like which it is sent, start, end) of each renewal, as they would be sent without foresight."""
    order = rows.by_start()
    found: list[tuple[int, float, float]] = []
    for at, row in enumerate(order):
        until = rows.start[order[at + 1]] if at + 1 < len(order) else math.inf
        start = rows.start[row]
        for number in range(1, renewals + 1):
            when = start + number * ttl * _EARLY
            if when >= until:
                break
            found.append((row, when, when))
    return found


def _bursts(rows: Rows, ttl: float) -> list[tuple[int, float, float]]:
    """Return a warm-up before each time that several requests started, after idling, before the first had answered."""
    order = rows.by_start()
    lengths = sorted(end - start for start, end in zip(rows.start, rows.end, strict=True) if end > start)
    lead = lengths[len(lengths) // 2] if lengths else _LEAD
    found: list[tuple[int, float, float]] = []
    before = -math.inf
    for row, after in pairwise(order):
        start, end = rows.start[row], rows.end[row]
        if start - before > ttl and rows.start[after] < (end if end == end else start):
            found.append((row, start - lead, start))
        before = start
    return found


def shared_head(rows: Rows) -> Head | None:
    """Return the longest prefix that ends with an item and that at least half of the rows have; None without one."""
    tree, layouts = rows.tree, rows.layouts
    passed: dict[int, int] = {}
    use_layouts = layouts is not None and all(layout > EMPTY for layout in layouts.of_row)
    for row, end in enumerate(rows.node):
        if use_layouts and layouts is not None:
            steps = list(layouts.path(layouts.of_row[row]))
        else:
            steps = [end, *_above(rows, end)]
        for step in steps:
            passed[step] = passed.get(step, 0) + 1
    enough = max(2, (len(rows) + 1) // 2)
    shared = [step for step, times in passed.items() if times >= enough]
    if use_layouts and layouts is not None:
        heads = [Head(layouts.node[step], tree.depth[layouts.node[step]], step) for step in shared]
    else:
        heads = [Head(step, tree.depth[step], NONE) for step in shared]
    found = max(heads, key=lambda head: (head.depth, -head.node), default=None)
    return found if found is not None and found.depth > NOWHERE else None


def _above(rows: Rows, node: int) -> list[int]:
    parent = rows.tree.parent
    found = []
    while parent[node] != ROOT and parent[parent[node]] != ROOT:
        node = parent[node]
        found.append(node)
    return found


def with_requests(rows: Rows, head: Head, extra: Sequence[tuple[int, float, float]], ttl: float) -> Rows:
    """Return rows with further requests that end with a prefix and are marked there.

    Args:
        rows: Those of the log.
        head: The prefix.
        extra: (Row like which it is sent, start, end) of each.
        ttl: What their marker asks for.
    """
    made = rows.only([*range(len(rows)), *(like for like, _, _ in extra)])
    asked = {row: marker for row, markers in rows.markers.items() for marker in markers if marker[0] == head.depth}
    for number, (like, start, end) in enumerate(extra, len(rows)):
        made.node[number], made.prompt_tokens[number] = head.node, head.depth
        made.response_node[number], made.answer_tokens[number] = NONE, 0
        made.tools_end[number] = min(made.tools_end[number], head.depth)
        made.system_end[number] = min(made.system_end[number], head.depth)
        made.start[number], made.end[number], made.ttft[number] = start, end, Row().ttft
        made.markers[number] = ((head.depth, asked.get(like, (0, ttl))[1]),)
        if made.layouts is not None:
            made.layouts.of_row[number] = head.layout
    return made
