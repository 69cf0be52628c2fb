"""What a probe finds, and how it knows."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Verdict(StrEnum):
    """How much a probe knows."""

    MEASURED = "measured"
    """The server counted it."""
    INFERRED = "inferred from timing"
    """The server does not count, or not rightly; times tell."""
    ABSENT = "nothing to measure"
    """Nothing is cached here."""
    INCONCLUSIVE = "inconclusive"


class By(StrEnum):
    """What told hits from misses."""

    USAGE = "usage"
    TIMING = "timing"
    NOTHING = ""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What a probe found.

    Attributes:
        probe: Its name.
        verdict: How much it knows.
        said: The finding, in a sentence.
        value: The estimate; `low`, `high`: the bracket it is known to lie in, None where that end is open.
        unit: Of them: tokens, seconds, requests, replicas.
        by: What told hits from misses.
        requests: How many it took.
        assumed: What it took for granted.
        facts: What else it found, by name.
        documented: What the facts about caches say of it, '' for nothing.
    """

    probe: str
    verdict: Verdict
    said: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    unit: str = ""
    by: By = By.NOTHING
    requests: int = 0
    assumed: tuple[str, ...] = ()
    facts: dict[str, str | float] = {}
    documented: str = ""
