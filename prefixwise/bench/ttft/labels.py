"""Whether a cold request was cold and a warm one warm: verified by what the server counted, never assumed."""

from __future__ import annotations

from enum import StrEnum

from prefixwise.bench.ttft.schedule import Arm

ENOUGH = 0.9
"""Share of the expected cached tokens from which a warm request is warm."""


class Label(StrEnum):
    """What a request turned out to be."""

    COLD_OK = "cold"
    WARM_OK = "warm"
    PARTIAL = "partial"
    """Warm, but with fewer cached tokens than the prompt shares."""
    CONTAMINATED = "contaminated"
    """A cold request that was served from the cache."""
    MISSED = "missed"
    """A warm request that was not."""
    UNKNOWN = "unknown"
    """The server does not say. Absent is not zero."""
    FAILED = "failed"
    """There is no complete answer."""


def label(arm: Arm, cached: int | None, expected: int, header: int = 0) -> Label:
    """Return what a complete request was.

    Args:
        arm: What it was meant to be.
        cached: Cached tokens that the server counted; None where it does not say.
        expected: Cached tokens of a warm request by the cache's rule.
        header: Tokens that a chat template puts in front of every prompt: those may be cached in a cold one.
    """
    if cached is None:
        return Label.UNKNOWN
    if arm is not Arm.WARM:
        return Label.COLD_OK if cached <= header else Label.CONTAMINATED
    if cached <= header and expected > header:
        return Label.MISSED
    return Label.WARM_OK if cached >= ENOUGH * expected else Label.PARTIAL


def expected_cached(shared: int, length: int, block: int = 1) -> int:
    """Return the tokens of a warm request that a cache of this block size serves.

    Args:
        shared: Tokens at the beginning that it has in common with the cold one.
        length: Its tokens; the last one is always computed.
        block: Tokens of a block; only whole ones are found again.
    """
    return min(shared, length - 1) // block * block
