"""Where to put cache markers, and for how long: places are tried together, and each trial is replayed and priced."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations

import msgspec

from prefixwise.analyzers.advice.bill import Accountant, Bill
from prefixwise.analyzers.advice.places import NOWHERE, Place, Places, places_of
from prefixwise.caches.cache_settings import Settings
from prefixwise.caches.facts import Family
from prefixwise.corpus.rows import Rows

MARKED = (Family.BREAKPOINT_LOOK_BACK, Family.BREAKPOINT_BOUNDARY)
"""Caches that are told by markers what to keep."""
_EXHAUSTIVE = 60_000
"""Rows times plans up to which every plan is replayed; beyond, the best pair grows by one marker at a time."""
_LEAST = 1e-9
"""USD by which one plan has to be cheaper than another with fewer or shorter-lived markers."""


class Marker(msgspec.Struct, frozen=True):
    """A marker behind a place, for so many seconds."""

    place: Place
    ttl: float


Plan = tuple[Marker, ...]


class MarkerAdvice(msgspec.Struct, frozen=True, kw_only=True):
    """The cheapest markers that were found for the requests of one application.

    Attributes:
        model: Of the requests; `family`: their prompt family, -1 without.
        requests: How many they are.
        plan: The markers, first to last; () is none at all.
        before: The bill as the markers were logged (or at the end of each prompt, where the rule says so).
        after: The bill with the plan.
        needed: Reads of each written token at which the plan's writing is paid for; None where nothing is written.
        tried: How many plans were replayed; `all_tried`: whether that is every one.
    """

    model: str
    family: int
    requests: int
    plan: Plan
    before: Bill
    after: Bill
    needed: float | None
    tried: int
    all_tried: bool

    @property
    def saved_usd(self) -> float:
        """What the plan saves; 0 where the logged markers are no dearer."""
        return self.before.usd - self.after.usd

    @property
    def reads(self) -> float | None:
        """How often each written token is read under the plan."""
        return self.after.read_tokens / self.after.written_tokens if self.after.written_tokens else None


def marker_advice(rows: Rows, accountant: Accountant, family: int = -1) -> MarkerAdvice | None:
    """Return the cheapest markers for rows of one model and application; None where prices or markers do not exist.

    Args:
        rows: The requests, with the markers that they have now.
        accountant: Prices them under the rule; only markers of the rows may count.
        family: Their prompt family.
    """
    model = rows.models[rows.model[0]]
    kind = accountant.policy.family_of(model)
    prices = accountant.prices(rows)
    if kind not in MARKED or not prices:
        return None
    settings = accountant.policy.settings_of(model)
    most = settings.markers - (kind is Family.BREAKPOINT_BOUNDARY)  # the implicit one is among them
    long = all(price.write_1h is not None or price.write_12h is not None for price in prices)
    search = _Search(rows, accountant, places_of(rows), _lifetimes(settings, long=long), most)
    plan, all_tried = search.best()
    before, after = accountant.bill(rows), accountant.bill(rows.marked(search.markers(plan)))
    return MarkerAdvice(
        model=model,
        family=family,
        requests=len(rows),
        plan=plan,
        before=before,
        after=after,
        needed=_needed(after),
        tried=search.tried,
        all_tried=all_tried,
    )


def _lifetimes(settings: Settings, *, long: bool) -> tuple[float, ...]:
    """Return the seconds that a marker may ask for, the usual time first; longer ones where their price is known."""
    named = [name for name, _ in settings.lives if name > settings.usual] if long else []
    return (settings.usual, *sorted(named))


def _needed(bill: Bill) -> float | None:
    """Return how often written tokens have to be read until what reading saves is what writing cost."""
    if not bill.written_tokens:
        return None
    premium = bill.premium_usd / bill.written_tokens
    if not bill.read_tokens or bill.saved_by_reading_usd <= 0:
        return None
    return premium / (bill.saved_by_reading_usd / bill.read_tokens)


def markers_of(places: Places, plan: Plan, row: int) -> tuple[tuple[int, float], ...]:
    """Return the markers of one row under a plan, first to last; one that asks for less never precedes a longer one."""
    at: dict[int, float] = {}
    for marker in plan:
        depth = places.depths[marker.place][row]
        if depth != NOWHERE:
            at[depth] = max(marker.ttl, at.get(depth, 0.0))
    found: list[tuple[int, float]] = []
    longest = 0.0
    for depth in sorted(at, reverse=True):
        longest = max(longest, at[depth])
        found.append((depth, longest))
    found.reverse()
    return tuple(found)


class _Search:
    """Tries plans, each once."""

    def __init__(
        self, rows: Rows, accountant: Accountant, places: Places, lifetimes: Sequence[float], most: int
    ) -> None:
        self._rows = rows
        self._accountant = accountant
        self._places = places
        self._lifetimes = lifetimes
        self._most = most
        self._known: dict[Plan, float] = {}

    @property
    def tried(self) -> int:
        return len(self._known)

    def markers(self, plan: Plan) -> dict[int, tuple[tuple[int, float], ...]]:
        """Return the markers of all rows under a plan."""
        found = ((row, markers_of(self._places, plan, row)) for row in range(len(self._rows)))
        return {row: markers for row, markers in found if markers}

    def best(self) -> tuple[Plan, bool]:
        """Return the cheapest plan, and whether all were tried; of equals the one with fewest and shortest markers."""
        plans = list(self._plans(range(self._most + 1)))
        if len(plans) * len(self._rows) <= _EXHAUSTIVE:
            return self._cheapest(plans), True
        best = self._cheapest(self._plans(range(min(2, self._most) + 1)))
        while len(best) < self._most:
            more = self._cheapest([best, *self._one_more(best)])
            if more == best:
                break
            best = more
        fewer = [tuple(marker for marker in best if marker is not left) for left in best]
        return self._cheapest([*fewer, best]), False

    def _plans(self, sizes: Sequence[int]) -> Iterator[Plan]:
        """Yield the plans of some sizes: fewest markers first, then those of which fewest live long."""
        for size in sizes:
            made = [plan for chosen in combinations(self._places.depths, size) for plan in self._with_lifetimes(chosen)]
            yield from sorted(made, key=lambda plan: sum(marker.ttl for marker in plan))

    def _with_lifetimes(self, chosen: Sequence[Place]) -> Iterator[Plan]:
        """Yield the plans with markers behind some places: a longer lifetime comes before a shorter one."""
        usual, *longer = self._lifetimes
        yield tuple(Marker(place, usual) for place in chosen)
        for ttl in longer:
            for first in range(1, len(chosen) + 1):
                yield tuple(Marker(place, ttl if at < first else usual) for at, place in enumerate(chosen))

    def _one_more(self, plan: Plan) -> Iterator[Plan]:
        have = {marker.place for marker in plan}
        for place in self._places.depths:
            if place not in have:
                yield from self._with_lifetimes([one for one in self._places.depths if one in have or one == place])

    def _cheapest(self, plans: Sequence[Plan] | Iterator[Plan]) -> Plan:
        best: Plan = ()
        least = math.inf
        for plan in plans:
            usd = self._usd(plan)
            if usd < least - _LEAST:
                best, least = plan, usd
        return best

    def _usd(self, plan: Plan) -> float:
        if plan not in self._known:
            self._known[plan] = self._accountant.usd(self._rows.marked(self.markers(plan)))
        return self._known[plan]
