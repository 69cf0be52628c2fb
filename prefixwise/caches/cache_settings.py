"""The numbers of one hosted cache for one model, each settled to a single value.

Facts are ranges where sources disagree or nobody says. A replay needs one number, so a range is settled at an end: the
one that gives fewer hits, the one that gives more, or what a source states.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import Enum

import msgspec

from prefixwise.caches.facts import Band, Lifetime, Lookup, Readable, System
from prefixwise.caches.relaxation import AS_IT_RAN, Relaxation

LEVELS = ("tools", "system", "messages")


class End(Enum):
    """Which end of a range is taken."""

    PLAN = "plan"
    """What a source states; where none does, as `LEAST`."""
    LEAST = "least"
    """What gives fewest hits."""
    MOST = "most"


class Choices(msgspec.Struct, frozen=True):
    """What a user settles, in place of the facts; None leaves it to them.

    Attributes:
        ttl: Seconds, or the name of a lifetime of the system.
        readable: `start` or `end` of the request, or seconds after its end.
        markers: `logged`, or `auto` for one at the end of every prompt; None: `auto` for logs of other providers.
    """

    model: str | None = None
    minimum: int | None = None
    granularity: int | None = None
    ttl: float | str | None = None
    lookback: int | None = None
    interval: int | None = None
    hidden: int | None = None
    readable: float | str | None = None
    separate: tuple[str, ...] | None = None
    markers: str | None = None


class Settings(msgspec.Struct, frozen=True):
    """One cache, without doubt.

    Attributes:
        minimum: Fewest tokens that are cached; `granularity`: tokens that count as a whole.
        ttl: Seconds without use after which an entry goes; `lives`: (seconds that a marker asks for, those it gets).
        oldest: Seconds after which an entry goes in any case.
        usual: What a marker that asks for nothing gets, as `lives` names it.
        lookback: Positions that a marker looks at; `joins`: kinds of blocks of which a run is one position.
        markers: How many count.
        lookup: Which boundaries a request looks up.
        interval: Tokens between breakpoints; `hidden`: tokens before the prompt.
        units: Whether every interval ends a unit, besides the ends of requests.
        wait: Seconds from the end of a request until others can read what it wrote, minus infinity: from its start;
            `begun`: once its answer begins, where the log says when; else as `wait`.
        outputs: Whether answers enter the cache.
        separate: Parts of a request that separate caches.
        lost: By change of a parameter, the levels that it loses.
        sizes: Names of what the facts do not say and the replay leaves out.
    """

    minimum: int = 0
    granularity: int = 1
    ttl: float = math.inf
    lives: tuple[tuple[float, float], ...] = ()
    oldest: float = math.inf
    usual: float = math.inf
    lookback: int = 20
    joins: tuple[str, ...] = ()
    markers: int = 4
    lookup: Lookup = Lookup()
    interval: int = 0
    hidden: int = 0
    units: bool = False
    wait: float = -math.inf
    begun: bool = False
    outputs: bool = False
    separate: tuple[str, ...] = ()
    lost: tuple[tuple[str, tuple[str, ...]], ...] = ()
    unstated: tuple[str, ...] = ()

    def life(self, asked: float) -> float:
        """Return for how long an entry lives whose marker asks for so many seconds."""
        return next((life for name, life in self.lives if name == asked), self.ttl)

    def is_long(self, asked: float) -> bool:
        """Say whether a marker asks for longer than the usual time."""
        return any(name == asked and name > self.usual for name, _ in self.lives)


def settled(band: Band | None, end: End, *, fewer_above: bool, default: int) -> int:
    """Return a range as one number.

    Args:
        band: The range, None where nothing is known.
        end: Which end.
        fewer_above: Whether a higher number gives fewer hits.
        default: Where nothing is known.
    """
    if band is None:
        return default
    if end is End.PLAN and band.stated is not None:
        return band.stated
    upper = (end is End.MOST) != fewer_above
    found = band.high if upper else band.low
    if found is None:
        found = next(x for x in (band.stated, band.low, band.high, default) if x is not None)
    return found


def settings_for(
    system: System, model: str, retention: str, choices: Choices, end: End, relaxed: Relaxation = AS_IT_RAN
) -> Settings:
    """Return the cache of `system` for `model`.

    Args:
        system: What is known.
        model: As logged, or the one that a user names.
        retention: The lifetime that requests ask for by name, empty where they do not.
        choices: What a user settles.
        end: Which end of ranges.
        relaxed: What the cache is let off.
    """
    minimum = system.minimum(model) or _over_all(system.min_tokens_by_model)
    ttl, oldest = _lifetime(system, model, retention, choices, end)
    wait, begun = _wait(system, choices, end)
    if relaxed.no_ttl:
        ttl = oldest = math.inf
    if relaxed.instant:
        wait, begun = -math.inf, False
    lives = tuple((float(name), math.inf if relaxed.no_ttl else _life(system, name, end)) for name in _named(system))
    unstated = [
        name
        for name, value in (
            ("minimum", minimum),
            ("granularity", system.granularity_tokens),
            ("lifetime", system.ttl_s),
        )
        if value is None
    ]
    return Settings(
        minimum=_chosen(choices.minimum, settled(minimum, end, fewer_above=True, default=0)),
        granularity=_chosen(choices.granularity, settled(system.granularity_tokens, end, fewer_above=True, default=1)),
        ttl=ttl,
        lives=() if choices.ttl is not None else lives,
        oldest=oldest,
        usual=float(_usual(system)),
        lookback=_chosen(choices.lookback, system.lookback_positions or 20),
        joins=system.lookback_joins,
        markers=system.max_breakpoints or 4,
        lookup=system.lookup or Lookup(),
        interval=_chosen(choices.interval, settled(system.interval(model), end, fewer_above=True, default=0)),
        hidden=_chosen(choices.hidden, settled(system.hidden(model), end, fewer_above=True, default=0)),
        units=end is End.MOST or choices.interval is not None,
        wait=wait,
        begun=begun,
        outputs=bool(system.output_tokens_cached),
        separate=_separate(system, choices, end, relaxed),
        lost=() if relaxed.one_namespace else _lost(system, end),
        unstated=tuple(unstated),
    )


def _separate(system: System, choices: Choices, end: End, relaxed: Relaxation) -> tuple[str, ...]:
    if relaxed.one_namespace:
        return ()
    perhaps = () if end is End.MOST else system.may_separate
    fields = (*system.separates, *perhaps) if choices.separate is None else choices.separate
    return tuple(name for name in fields if not (relaxed.one_replica and name == "replica"))


def _chosen(choice: int | None, fact: int) -> int:
    return fact if choice is None else choice


def _over_all(by_model: tuple[tuple[str, Band], ...]) -> Band | None:
    """Return the range over all models, planned with what most have: what is known of one that is not listed."""
    lows = [band.low for _, band in by_model if band.low is not None]
    highs = [band.high for _, band in by_model if band.high is not None]
    stated = [band.stated for _, band in by_model if band.stated is not None]
    if not lows or not highs or not stated:
        return None
    return Band(min(lows), max(highs), max(sorted(set(stated)), key=stated.count))


def _named(system: System) -> tuple[int, ...]:
    """Return the lifetimes that markers can ask for, in seconds."""
    return tuple(option.idle_s.low for option in system.ttl_options if option.idle_s.exact and option.idle_s.low)


def _usual(system: System) -> float:
    """Return the lifetime that a request gets without asking."""
    if system.ttl_s is None:
        return math.inf
    return float(settled(system.ttl_s, End.PLAN, fewer_above=False, default=0))


def _life(system: System, asked: int, end: End) -> float:
    """Return for how long a marker's entry lives; where lifetimes are promised as minimums, at most for ever."""
    if end is End.MOST and system.ttl_s is not None and system.ttl_s.high is None:
        return math.inf
    return float(asked)


def _lifetime(system: System, model: str, retention: str, choices: Choices, end: End) -> tuple[float, float]:
    """Return the idle seconds and the most seconds of an entry for which no marker asks."""
    if isinstance(choices.ttl, float):
        return choices.ttl, math.inf
    name = choices.ttl or retention or _default_lifetime(system, model)
    option = next((option for option in system.ttl_options if option.name == name), None)
    if option is not None and (choices.ttl or retention or not _named_by_markers(system)):
        return _option(option, end)
    if system.ttl_s is None or (end is End.MOST and system.ttl_s.high is None):
        return math.inf, math.inf
    return float(settled(system.ttl_s, end, fewer_above=False, default=0)), math.inf


def _named_by_markers(system: System) -> bool:
    return system.max_breakpoints is not None and system.ttl_s is not None and system.ttl_s.stated is not None


def _default_lifetime(system: System, model: str) -> str:
    """Return the name of the lifetime that a model gets where the facts tell models apart, else an empty text."""
    from prefixwise.caches.model_names import matches

    models = system.more.get("extended_retention_models")
    names = [option.name for option in system.ttl_options]
    if not isinstance(models, list) or not {"24h", "in_memory"}.issubset(names):
        return ""
    return "24h" if any(matches(str(name), model) for name in models) else "in_memory"


def _option(option: Lifetime, end: End) -> tuple[float, float]:
    idle = float(settled(option.idle_s, end, fewer_above=False, default=0))
    if option.max_s is None:
        return idle, math.inf
    return (float(option.max_s) if end is End.MOST else idle), float(option.max_s)


def _wait(system: System, choices: Choices, end: End) -> tuple[float, bool]:
    """Return from when on others can read: see `Settings.wait` and `Settings.begun`."""
    if choices.readable is not None:
        if isinstance(choices.readable, float):
            return choices.readable, False
        return (-math.inf if choices.readable == "start" else 0.0), False
    after = system.readable_after
    if after is Readable.SECONDS_LATER:
        return float(settled(system.build_delay_s, end, fewer_above=True, default=0)), False
    if after is Readable.RESPONSE_DONE:
        return 0.0, False
    if after in (Readable.SCHEDULED, Readable.FILLED):
        return -math.inf, False
    # Begun, or nobody says: between the start and the end of the request.
    return (-math.inf if end is End.MOST else 0.0), after is Readable.RESPONSE_BEGUN


def _lost(system: System, end: End) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return which levels a change of each parameter loses."""
    found: dict[str, tuple[str, ...]] = dict.fromkeys(system.key_includes, LEVELS)
    for row in system.invalidation:
        levels = zip(LEVELS, (row.tools, row.system, row.messages), strict=True)
        found[row.change] = tuple(
            level for level, what in levels if what == "lost" or (what == "model_specific" and end is not End.MOST)
        )
    return tuple(found.items())


PARAMETERS: Mapping[str, tuple[str, ...]] = {
    "tool_choice": ("tool_choice", "disable_parallel_tool_use"),
    "thinking": ("thinking_parameters",),
    "output_config": ("output_config_effort",),
    "speed": ("speed_setting",),
    "parallel_tool_calls": ("parallel_tool_calls",),
    "reasoning_effort": ("reasoning.effort",),
    "reasoning": ("reasoning.effort",),
    "verbosity": ("text.verbosity",),
    "text": ("text.verbosity",),
    "service_tier": ("service_tier",),
}
"""What the facts call a change of a parameter, by its name in bodies. What is not here is in no provider's key."""
MEDIA = "images_added_or_removed"
