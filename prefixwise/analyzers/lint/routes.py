"""Who served the calls of a log, and whether a change of that agrees with what usage says."""

from __future__ import annotations

import re

import msgspec

from prefixwise.analyzers.lint.compared import Compared, Served, compare
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.lint.settings import changed_settings
from prefixwise.analyzers.lint.stakes import too_little, warm
from prefixwise.analyzers.lint.surroundings import last_name
from prefixwise.core.finding import Verdict

_MODELS = frozenset({"model", "modelversion"})
_TIERS = re.compile(r"/(?:service_tier|speed|performanceConfig/latency)$")
_FEW = 3
_HALF = 0.5


class RouteChange(msgspec.Struct, frozen=True):
    """What differs in who served two calls: where it stands, and the two values."""

    field: str
    before: str | None
    after: str | None


class Tally(msgspec.Struct, frozen=True):
    """How often turns were served in a log: those that stayed, and those that moved to a place new to them."""

    stayed: int = 0
    stayed_missed: int = 0
    moved: int = 0
    moved_missed: int = 0

    @property
    def speaks_against(self) -> bool:
        """Whether new routes are served as well as old ones, or old ones as badly as new ones."""
        if self.moved >= _FEW and self.moved_missed < _HALF * self.moved:
            return True
        return self.stayed >= _FEW and self.stayed_missed >= _HALF * self.stayed


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
    return bool(left) and too_little(log, pair.after, pair.at_stake - left)


def tally(log: Log) -> Tally:
    """Count the turns whose texts go on, by route and usage; known once for a log."""
    if tally not in log.rows.memo:
        counts = [0, 0, 0, 0]
        for before, after in log.turns():
            pair = compare(log, before, after, turn=True)
            if pair.verdict is Verdict.BREAKS or pair.served is Served.UNKNOWN:
                continue
            change = route_change(pair)
            if change is not None and was_there(pair, change):
                continue
            at = 0 if change is None else 2
            counts[at] += 1
            counts[at + 1] += pair.served is Served.MISS
        log.rows.memo[tally] = Tally(*counts)
    found: Tally = log.rows.memo[tally]
    return found
