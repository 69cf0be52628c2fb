"""How far what was predicted and what was reported agree."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import msgspec

from prefixwise.bench.counters import CounterCheck
from prefixwise.bench.verify.predict import Predicted
from prefixwise.bench.verify.run import Seen


class Agreement(StrEnum):
    """How a request came out."""

    EQUAL = "as predicted"
    MORE = "more than predicted"
    LESS = "fewer than predicted"
    ABSENT = "not reported"
    """The answer does not count cached tokens. Absent is not zero."""
    UNCOUNTED = "not predicted"
    """Its tokens cannot be counted here."""
    FAILED = "not answered"


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """One request.

    Attributes:
        record: Where the log has it.
        prompt, cached: Tokens that the server counted.
        expected_prompt, expected: Those that the rule says.
        agreement: How they compare.
    """

    record: str
    prompt: int | None
    cached: int | None
    expected_prompt: int | None
    expected: int | None
    agreement: Agreement
    error: str = ""


class VerifyResult(msgspec.Struct, frozen=True, kw_only=True):
    """A whole verification.

    Attributes:
        target, protocol, model: The endpoint.
        rule: Under which was predicted.
        tolerance: Tokens by which a request may be off.
        counted_by: Whose tokens were counted: the server's, or a tokenizer's; `exactness`: how far to trust them.
        compared: Requests of which both figures are known; `equal`: those within the tolerance.
        largest: The largest difference, in tokens; None where nothing was compared.
        lengths_differ: Requests whose prompt the server counts as of another length than we do.
        expected, cached: Cached tokens of all requests that were compared.
        counts: How many requests came out how.
        left_out: Why, and how many, could not be sent.
        first: The first request that is off, by its place; None where none is.
        requests: All of them, in the order in which they were sent.
        counters: The server's own, where they were read.
    """

    target: str
    protocol: str
    model: str
    rule: str
    tolerance: int
    counted_by: str
    exactness: str
    compared: int
    equal: int
    largest: int | None
    lengths_differ: int
    expected: int
    cached: int
    counts: dict[str, int]
    left_out: dict[str, int]
    first: int | None
    requests: tuple[Compared, ...]
    counters: CounterCheck | None = None

    @property
    def holds(self) -> bool:
        """Whether no request that was compared is off."""
        return self.first is None

    @property
    def decided(self) -> bool:
        """Whether the answers say enough: every request that should have found something says what it found."""
        known = self.compared and not any(self.counts.get(one, 0) for one in (Agreement.UNCOUNTED, Agreement.FAILED))
        silent = [one for one in self.requests if one.agreement is Agreement.ABSENT]
        # Some servers leave the figure out where it is 0: then it is there in others.
        return bool(known) and all((one.expected or 0) == 0 for one in silent) and (not silent or self.cached > 0)


def compared(seen: Seen, expected: Predicted | None, tolerance: int) -> Compared:
    """Return how a request came out."""
    return Compared(
        record=seen.record,
        prompt=seen.prompt,
        cached=seen.cached,
        expected_prompt=expected.prompt if expected else None,
        expected=expected.cached if expected else None,
        agreement=_agreement(seen, expected, tolerance),
        error=seen.error,
    )


def _agreement(seen: Seen, expected: Predicted | None, tolerance: int) -> Agreement:
    if seen.error:
        return Agreement.FAILED
    if expected is None:
        return Agreement.UNCOUNTED
    if seen.cached is None:
        return Agreement.ABSENT
    off = seen.cached - expected.cached
    if abs(off) <= tolerance:
        return Agreement.EQUAL
    return Agreement.MORE if off > 0 else Agreement.LESS


def figures(requests: Sequence[Compared]) -> dict[str, object]:
    """Return what requests come to, by the names of `VerifyResult`."""
    known = [one for one in requests if one.agreement in (Agreement.EQUAL, Agreement.MORE, Agreement.LESS)]
    off = [number for number, one in enumerate(requests) if one.agreement in (Agreement.MORE, Agreement.LESS)]
    lengths = [one for one in known if one.prompt is not None and one.prompt != one.expected_prompt]
    return {
        "compared": len(known),
        "equal": sum(one.agreement is Agreement.EQUAL for one in known),
        "largest": max((abs((one.cached or 0) - (one.expected or 0)) for one in known), default=None),
        "lengths_differ": len(lengths),
        "expected": sum(one.expected or 0 for one in known),
        "cached": sum(one.cached or 0 for one in known),
        "counts": {how.value: n for how in Agreement if (n := sum(one.agreement is how for one in requests))},
        "first": off[0] if off else None,
        "requests": tuple(requests),
    }
