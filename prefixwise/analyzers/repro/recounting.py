"""Usage for requests that were made smaller: what the log reported, in proportion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from prefixwise.analyzers.repro.oracle import Oracle
from prefixwise.analyzers.repro.samples import BODY, Sample, encoded

_USAGE = "usage"
_DETAILS = "prompt_tokens_details"


class Recounting(msgspec.Struct, frozen=True):
    """By record: reported over counted prompt tokens, and the parts of the prompt that were cached and written."""

    ratios: tuple[float, ...]
    parts: tuple[dict[str, float], ...]
    before: int
    after: int

    def lines(self, samples: Sequence[Sample], oracle: Oracle) -> list[bytes] | None:
        """Return the lines of a log with usage that fits the prompts; None where they cannot be read."""
        bare = [encoded({key: value for key, value in s.record.items() if key != _USAGE}) for s in samples]
        counts = oracle.counts(bare, self.before, self.after)
        if counts is None:
            return None
        tokens, kept = counts
        found = []
        for row, sample in enumerate(samples):
            usage = self._usage(row, tokens[row], kept if row == self.after else None)
            found.append(encoded({**sample.record, _USAGE: usage} if _USAGE in sample.record else sample.record))
        return found

    def _usage(self, row: int, counted: int, kept: int | None) -> dict[str, Any]:
        prompt = round(counted * self.ratios[row])
        shown: dict[str, Any] = {"prompt_tokens": prompt}
        details = {name: int(part * prompt) for name, part in self.parts[row].items()}
        if kept is not None and "cached_tokens" in details:
            details["cached_tokens"] = min(details["cached_tokens"], round(kept * self.ratios[row]))
        if details:
            shown[_DETAILS] = details
        return shown


def recounting(samples: Sequence[Sample], oracle: Oracle, before: int, after: int) -> Recounting | None:
    """Return how to count usage anew for records of our own; None where it is not known or cannot be."""
    if not any(_USAGE in sample.record for sample in samples) or any(sample.path != (BODY,) for sample in samples):
        return None
    counts = oracle.counts([encoded(sample.record) for sample in samples], before, after)
    if counts is None:
        return None
    ratios, parts = [], []
    for sample, counted in zip(samples, counts[0], strict=True):
        usage = sample.record.get(_USAGE, {})
        prompt = usage.get("prompt_tokens") or 0
        ratios.append(prompt / counted if prompt and counted else 1.0)
        parts.append({name: count / prompt for name, count in usage.get(_DETAILS, {}).items() if prompt})
    return Recounting(tuple(ratios), tuple(parts), before, after)
