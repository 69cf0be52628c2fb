"""The order of a live audit: which arm a probe is of is drawn inside each block."""

from __future__ import annotations

import random
from typing import NamedTuple

from prefixwise.bench.audit.recording import Arm


class Trial(NamedTuple):
    """A probe of a block."""

    block: int
    arm: Arm


def drawn_block(block: int, seed: str) -> list[Trial]:
    """Return the three probes of a block in random order."""
    arms = [Trial(block, arm) for arm in Arm]
    random.Random(f"{seed}/{block}").shuffle(arms)  # noqa: S311 - not for secrets
    return arms


def shuffled(trials: list[Trial], seed: str) -> list[Trial]:
    """Return trials in another order, for what is sent before all of them are looked for."""
    mixed = list(trials)
    random.Random(f"{seed}/first").shuffle(mixed)  # noqa: S311 - not for secrets
    return mixed
