"""The rule of a hosted provider: its facts, settled for each model, replayed by the family that matches as it does."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from prefixwise.caches.cache_settings import Choices, End, Settings, settings_for
from prefixwise.caches.facts import Family, Kind, System
from prefixwise.caches.family import FAMILIES, MatchingFamily
from prefixwise.caches.granular import SharedPolicy, main_reason
from prefixwise.caches.lane import Lane, Outcome
from prefixwise.caches.policy import Policy, Reason, Replay, Tariff
from prefixwise.caches.relaxation import AS_IT_RAN, Relaxation
from prefixwise.caches.rulebook import Rulebook
from prefixwise.caches.sharing import shared_within, sharing
from prefixwise.core.errors import UserError
from prefixwise.corpus.rows import Rows


class Asked(msgspec.Struct, frozen=True):
    """What stands behind `--under`.

    Attributes:
        label: As it is shown.
        systems: Whose rules may apply, the first where a model does not tell; all of one provider.
        choices: What the user settles.
        tier: Service tier that all requests are priced at, empty for the logged one.
    """

    label: str
    systems: tuple[System, ...]
    choices: Choices
    tier: str = ""


class _Model(msgspec.Struct, frozen=True):
    """One model's rows in order of start, its number, and the cache that they go through."""

    order: list[int]
    number: int
    family: Family
    settings: Settings
    auto: bool


class HostedPolicy:
    """The rule of one hosted system or provider.

    Args:
        asked: Which one, and what is settled.
        book: Where the rules of a model are looked up.
        end: Which end of what is not known for certain.
        off: What the cache is let off.
    """

    unit: int | None = None

    def __init__(self, asked: Asked, book: Rulebook, end: End = End.PLAN, off: Relaxation = AS_IT_RAN) -> None:
        self.label = (
            asked.label if end is End.PLAN else f"{asked.label}{',' if ':' in asked.label else ':'}end={end.value}"
        )
        self._asked = asked
        self._book = book
        self._end = end
        self._off = off
        families = (self._family(system, asked.choices.model or "") for system in asked.systems)
        self.needs_layouts = any(family.needs_layouts for family in families)
        first = asked.systems[0]
        self.tariff = Tariff(asked.choices.model or "", first.provider, first.service_tiers, asked.tier)

    def check(self, rows: Rows) -> None:
        """Raise UserError where the rows are a trace whose blocks do not show where prompts part."""
        if (grain := rows.tree.grain) > 1:
            raise UserError(
                f"the trace holds hashes of {grain}-token blocks, which do not tell where in a block two prompts part",
                f"--under {self.label}",
                "count the log itself, or a trace that was made without --block",
            )

    def without_outputs(self) -> None:
        """Return None: the facts say whether answers are cached."""
        return

    def ends(self) -> tuple[Policy, Policy] | None:
        """Return the rule at the two ends of what is not known for certain, fewer hits first; None without doubt."""
        if self._end is not End.PLAN:
            return None
        return (
            HostedPolicy(self._asked, self._book, End.LEAST, self._off),
            HostedPolicy(self._asked, self._book, End.MOST, self._off),
        )

    def relaxed(self, off: Relaxation) -> Policy:
        """Return the same rule let off what `off` says; nothing is known of eviction."""
        if off.no_granularity and off.one_namespace:
            return SharedPolicy(self.label, (), outputs=True)
        return HostedPolicy(self._asked, self._book, self._end, off)

    def system_of(self, model: str) -> System:
        """Return the system that requests of a model go to."""
        asked = self._asked
        if len(asked.systems) == 1:
            return asked.systems[0]
        named = asked.choices.model or model
        for system in self._book.rules_for(named, asked.systems[0].provider):
            if system in asked.systems:
                return system
        return asked.systems[0]

    def settings_of(self, model: str, retention: str = "") -> Settings:
        """Return the cache that requests of a model go to."""
        named = self._asked.choices.model or model
        return settings_for(self.system_of(model), named, retention, self._asked.choices, self._end, self._off)

    def replay(self, rows: Rows) -> Replay:
        """Replay all rows in start order."""
        self.check(rows)
        plan = self._plan(rows)
        key = (HostedPolicy, self._off.no_granularity, tuple(msgspec.structs.astuple(model)[1:] for model in plan))
        if key not in rows.memo:  # ends of a range often are one, and providers do as others do
            rows.memo[key] = _replay(rows, plan, to_the_token=self._off.no_granularity)
        found: Replay = rows.memo[key]
        return found

    def served(self, rows: Rows) -> Replay:
        """Replay all rows without saying why what was not served was not; nothing is kept with the rows."""
        plan = self._plan(rows)
        out, times = Outcome(len(rows)), rows.start_times()
        writes = False
        for model in plan:
            family = FAMILIES.get(model.family.value)
            family.replay(Lane(rows, model.order, times, model.settings, model.auto, out))
            writes = writes or family.writes
        stored = out.stored if any(out.stored) else None
        if not writes:
            return Replay(out.matched, bytearray(), stored=stored)
        return Replay(out.matched, bytearray(), out.written, out.written_long, stored)

    def family_of(self, model: str) -> Family:
        """Return how the cache of a model matches."""
        return self.system_of(model).family_of(self._asked.choices.model or model) or Family.RADIX_TREE

    def is_auto(self, rows: Rows, model: str) -> bool:
        """Say whether every prompt of a model counts as marked at its end."""
        return self._is_auto(rows, self.system_of(model), model)

    def as_marked(self) -> HostedPolicy:
        """Return the same rule, for which only the markers of the rows count."""
        choices = msgspec.structs.replace(self._asked.choices, markers="logged")
        asked = msgspec.structs.replace(self._asked, choices=choices)
        return HostedPolicy(asked, self._book, self._end, self._off)

    def notes(self, rows: Rows) -> tuple[str, ...]:
        """Return what of the rule nobody states, and what of the log it does not see."""
        found = []
        for model in dict.fromkeys(rows.models.names):
            system = self.system_of(model)
            settings = self.settings_of(model)
            if settings.unstated:
                found.append(
                    f"{self.label}: nobody states the {' or '.join(settings.unstated)} of {system.name}: "
                    "counted without."
                )
            if self._is_auto(rows, system, model):
                found.append(
                    f"{self.label}: the log has no cache markers of {system.name}; every prompt is taken to be marked "
                    "at its end (markers=logged counts without)."
                )
            if self._family(system, model).needs_layouts and rows.layouts is None:
                found.append(
                    f"{self.label}: the input does not hold the blocks of its prompts: the look-back is taken to reach "
                    "any entry."
                )
        return tuple(dict.fromkeys(found))

    def _plan(self, rows: Rows) -> list[_Model]:
        """Return how the cache of each model is replayed."""
        plan = []
        for number, order in _orders(rows).items():
            model = rows.models[number]
            system = self.system_of(model)
            settings = self.settings_of(model, _retention(rows, order))
            if (factor := rows.token_factors.get(number, 1.0)) != 1.0:
                settings = msgspec.structs.replace(settings, minimum=self._minimum(settings.minimum, factor))
            family = system.family_of(self._asked.choices.model or model) or Family.RADIX_TREE
            plan.append(_Model(order, number, family, settings, self._is_auto(rows, system, model)))
        return plan

    def _minimum(self, minimum: int, factor: float) -> int:
        """Return a minimum in tokens as we count them; the ends of a range hold the provider's own figure too."""
        ours = math.ceil(minimum / factor)
        if self._end is End.PLAN:
            return ours
        return max(minimum, ours) if self._end is End.LEAST else min(minimum, ours)

    def _family(self, system: System, model: str) -> MatchingFamily:
        name = system.family_of(self._asked.choices.model or model) or Family.RADIX_TREE
        return FAMILIES.get(name.value)

    def _is_auto(self, rows: Rows, system: System, model: str) -> bool:
        """Say whether every prompt counts as marked: as the user says, else where the log is of others than these."""
        if system.family_of(self._asked.choices.model or model) is not Family.BREAKPOINT_LOOK_BACK:
            return False
        if self._asked.choices.markers is not None:
            return self._asked.choices.markers == "auto"
        opt_in = {s.provider for s in self._book.systems() if s.family is Family.BREAKPOINT_LOOK_BACK}
        return not rows.markers and opt_in.isdisjoint(rows.providers.names)


def _orders(rows: Rows) -> dict[int, list[int]]:
    """Return the rows of each model in order of start."""
    if _orders not in rows.memo:
        by_model: dict[int, list[int]] = {}
        for row in rows.by_start():
            by_model.setdefault(rows.model[row], []).append(row)
        rows.memo[_orders] = by_model
    found: dict[int, list[int]] = rows.memo[_orders]
    return found


def _replay(rows: Rows, plan: Sequence[_Model], *, to_the_token: bool) -> Replay:
    """Take all rows through their caches, or share whatever they may see, to the token."""
    out, times = Outcome(len(rows)), rows.start_times()
    lanes = [Lane(rows, model.order, times, model.settings, model.auto, out) for model in plan]
    own = _own_shared(rows, lanes)
    if to_the_token:
        out.matched = out.expired = out.in_flight = own
        return Replay(own, _reasons(rows, out, own))
    writes = False
    for model, lane in zip(plan, lanes, strict=True):
        family = FAMILIES.get(model.family.value)
        family.replay(lane)
        writes = writes or family.writes
    return Replay(
        out.matched,
        _reasons(rows, out, own),
        out.written if writes else None,
        out.written_long if writes else None,
        out.stored if any(out.stored) else None,
    )


def _retention(rows: Rows, order: Sequence[int]) -> str:
    """Return the lifetime that most requests name."""
    if len(rows.control_sets) == 1:
        return ""
    named = Counter(dict(rows.control_sets[rows.control_set[row]]).get("prompt_cache_retention", b"") for row in order)
    raw = min(named, key=lambda name: (-named[name], name))
    value = msgspec.json.decode(raw) if raw else ""
    return value if isinstance(value, str) else ""


def _own_shared(rows: Rows, lanes: Sequence[Lane]) -> array[int]:
    """Return by row what an earlier request had that its cache may know, to the token and whenever it was."""
    own = array("i", bytes(4 * len(rows)))
    levels: tuple[dict[object, int], ...] = ({}, {}, {})
    parts = [array("i", bytes(4 * len(rows))) for _ in levels]
    for number, lane in enumerate(lanes):
        known: dict[tuple[int, int, bool], tuple[int, ...]] = {}
        for row in lane.order:
            key = (lane.spaces[row], rows.param_set[row], lane.has_media(row))
            found = known.get(key)
            if found is None:
                named = zip(levels, lane.level_keys(row), strict=True)
                found = known[key] = tuple(level.setdefault((number, name), len(level)) for level, name in named)
            for part, value in zip(parts, found, strict=True):
                part[row] = value
    limits = (rows.tools_end, rows.system_end, rows.prompt_tokens)
    for level, (part, limit) in enumerate(zip(parts, limits, strict=True)):
        if level < 2 and part == parts[level + 1]:
            continue  # the next level says the same, and of more tokens
        partition = (_own_shared, part.tobytes())
        if partition not in rows.memo:
            rows.memo[partition] = shared_within(rows, part).shared
        for row, shared in enumerate(rows.memo[partition]):
            own[row] = max(own[row], min(shared, limit[row]))
    return own


def _reasons(rows: Rows, out: Outcome, own: array[int]) -> bytearray:
    """Return by row what accounts for most of what was not read."""
    wide = sharing(rows).shared
    found = bytearray(len(rows))
    for row, n in enumerate(rows.prompt_tokens):
        hit = out.matched[row]
        kept = max(hit, out.expired[row])
        soon = max(kept, out.in_flight[row])
        mine = max(soon, own[row])
        every = max(mine, wide[row])
        lost, how = kept - hit, Reason.EXPIRED
        if soon - kept > lost:
            lost, how = soon - kept, Reason.IN_FLIGHT
        found[row] = main_reason(n - every, mine - soon, every - mine, lost, how)
    return found


def hosted_policy(name: str, parameters: Mapping[str, str], book: Rulebook | None = None) -> Policy:
    """Return the rule of a hosted system, of a provider, or of the provider of a model.

    Raises:
        UserError: Nothing of that name is known, it passes requests on to other caches, or a parameter does not fit.
    """
    from prefixwise.caches.hosted_names import asked_for

    book = book or Rulebook()
    return HostedPolicy(asked_for(name, parameters, book), book)


def replayable(system: System) -> bool:
    """Say whether a system is hosted and has a cache of its own to be replayed."""
    return system.kind is Kind.HOSTED and system.family is not None
