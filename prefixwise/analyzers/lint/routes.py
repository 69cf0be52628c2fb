"""Who served the calls of a log, and whether a change of that agrees with what usage says."""

from __future__ import annotations

import re

import msgspec

from prefixwise.analyzers.lint.compared import Compared, compare
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.lint.settings import changed_settings
from prefixwise.analyzers.lint.stakes import messages_at_stake, only_goes_back, too_little, warm
from prefixwise.analyzers.lint.surroundings import last_name
from prefixwise.core.finding import Verdict

_MODELS = frozenset({"model", "modelversion"})
_TIERS = re.compile(r"/(?:service_tier|speed|performanceConfig/latency)$")
_FEW = 3
_HALF = 0.5
_RARELY = 0.2


class RouteChange(msgspec.Struct, frozen=True):
    """What differs in who served two calls: where it stands, and the two values."""

    field: str
    before: str | None
    after: str | None


class Tally(msgspec.Struct, frozen=True):
    """How often turns fell short of the prompt before them: those that stayed, and those that moved to a new place."""

    stayed: int = 0
    stayed_short: int = 0
    moved: int = 0
    moved_short: int = 0

    @property
    def speaks_against(self) -> bool:
        """Whether new places serve as well as old ones, or old ones as badly as new ones."""
        if self.moved >= _FEW and self.moved_short < _HALF * self.moved:
            return True
        return self.stayed >= _FEW and self.stayed_short >= _HALF * self.stayed

    @property
    def speaks_for(self) -> bool:
        """Whether turns that stayed were served and turns that moved were not."""
        enough = min(self.stayed, self.moved) >= _FEW
        return enough and self.stayed_short <= _RARELY * self.stayed and self.moved_short >= _HALF * self.moved


def route_change(pair: Compared) -> RouteChange | None:
    """Return what differs first in who served a pair, the most telling first; None where nothing is known to."""
    log, rows = pair.log, pair.log.rows
    one, other = (dict(log.of(row).route) for row in (pair.before, pair.after))
    for field, after in other.items():
        if field in one and one[field] != after and last_name(field) not in _MODELS:
            return RouteChange(field, one[field], after)
    replicas = [rows.replicas[rows.replica[row]] for row in (pair.before, pair.after)]
    if all(replicas) and replicas[0] != replicas[1]:
        return RouteChange("record:/replica", *replicas)
    models = [log.model(row) for row in (pair.before, pair.after)]
    if models[0] != models[1]:  # another name of the same model: through another gateway or region
        return RouteChange("/model", *models)
    tiers = changed_settings(pair, _TIERS) if pair.parameters else []
    return RouteChange(tiers[0].pointer, *tiers[0].texts) if tiers else None


def was_there(pair: Compared, change: RouteChange) -> bool:
    """Say whether the conversation had been on this route before, and lately enough to find itself there."""
    log = pair.log

    def on_it(row: int) -> bool:
        if change.field.startswith("record:") and change.field != "record:/replica":
            return dict(log.of(row).route).get(change.field) == change.after
        if change.field == "/model":
            return log.model(row) == change.after
        if change.field == "record:/replica":
            return log.rows.replica[row] == log.rows.replica[pair.after]
        return log.rows.param_set[row] == log.rows.param_set[pair.after]

    left = warm(log, pair.after, on_it)
    cached = log.cached(pair.after)
    if left and cached is not None and cached < _HALF * log.scaled(pair.after, left):
        return True  # what was there was not served, so the place is no reason
    return only_goes_back(pair, left, pair.at_stake - left)


def fell_short(pair: Compared) -> bool | None:
    """Say whether clearly less was read than the prompt before; None where usage cannot tell.

    What stands in front of the messages may be at every place, so only they tell one from another.
    """
    log = pair.log
    cached = log.cached(pair.after)
    if cached is None or pair.verdict is Verdict.BREAKS or too_little(log, pair.after, messages_at_stake(pair)):
        return None
    return not too_little(log, pair.after, pair.at_stake - round(cached / log.ratio[pair.after]))


def tally(log: Log) -> Tally:
    """Count the turns whose texts go on, by route and usage; known once for a log."""
    if tally not in log.rows.memo:
        counts = [0, 0, 0, 0]
        for before, after in log.turns():
            pair = compare(log, before, after, turn=True)
            short = fell_short(pair)
            if short is None:
                continue
            change = route_change(pair)
            if change is not None and was_there(pair, change):
                continue
            at = 0 if change is None else 2
            counts[at] += 1
            counts[at + 1] += short
        log.rows.memo[tally] = Tally(*counts)
    found: Tally = log.rows.memo[tally]
    return found
