"""What the reported input counts include: told by our own count of the prompt, and by where its markers stand.

APIs differ in whether the input count holds the cached tokens, and exporters mix that up: they add the cached part to a
count that holds it already, or take it out of one that should hold it. What a prompt really has is known here: our own
count, set right by calls of the same model that no cache took part in; and for a prompt whose last marker stands at a
known share of it, that share has been read or written.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from statistics import median

import msgspec

from prefixwise.analyzers.lint.log import Log
from prefixwise.core.request import Mark
from prefixwise.corpus.rows import NONE
from prefixwise.corpus.tokenizer import Exactness

_CLOSE = 0.12
_LARGE = 0.3
"""Share of a prompt that has to be cached or written before the conventions can be told apart."""
_COLD = 3
_PROVEN = 2
_UNSEEN = Mark.PARTIAL | Mark.CUT | Mark.REDACTED | Mark.ABORTED


class Convention(StrEnum):
    """How the reported input of a call stands to its prompt."""

    WHOLE = "whole"
    """It is the prompt, as this API counts."""
    DOUBLED = "doubled"
    """Cached tokens are in it twice."""
    LEFT_OUT = "left out"
    """Cached tokens are missing from it."""


class Account(msgspec.Struct, frozen=True):
    """The calls of one application to one model whose convention can be told, by start: (row, convention)."""

    rows: tuple[tuple[int, Convention], ...]

    def of(self, convention: Convention) -> list[int]:
        """Return the rows that follow a convention."""
        return [row for row, found in self.rows if found is convention]


def accounts(log: Log) -> list[Account]:
    """Return the calls that tell how they count, an application and model at a time."""
    if accounts not in log.rows.memo:
        log.rows.memo[accounts] = list(_accounts(log))
    found: list[Account] = log.rows.memo[accounts]
    return found


def _accounts(log: Log) -> Iterator[Account]:
    ratios: dict[int, float | None] = {}
    for family, rows in log.families.items():
        by_model: dict[int, list[int]] = {}
        for row in rows:
            if family != NONE and log.rows.reported_prompt[row] > 0 and not log.rows.marks[row] & _UNSEEN:
                by_model.setdefault(log.rows.model[row], []).append(row)
        for model, found in by_model.items():
            if model not in ratios:
                ratios[model] = _ratio(log, model)
            told = [(row, convention) for row in found if (convention := _convention(log, row, ratios[model]))]
            if told:
                yield Account(tuple(told))


def _ratio(log: Log, model: int) -> float | None:
    """Return the provider's tokens for each of ours, told by calls without a cache; None if none tell."""
    rows = log.rows
    exactness = log.corpus.tokenizers.get(rows.models[model], (Exactness.ESTIMATED, "", ""))[0]
    if exactness is not Exactness.ESTIMATED:
        return 1.0
    known = [
        row
        for row in range(len(rows))
        if rows.model[row] == model
        and rows.prompt_tokens[row] > 0
        and rows.reported_prompt[row] > 0
        and not rows.marks[row] & _UNSEEN
    ]
    cold = [
        rows.reported_prompt[row] / rows.prompt_tokens[row]
        for row in known
        if rows.marks[row] & Mark.REST_ONLY or (rows.reported_cached[row] == 0 and rows.reported_written[row] <= 0)
    ]
    if len(cold) < _enough(log, known) or max(cold) - min(cold) > _CLOSE * median(cold):
        return None
    return median(cold)


def _enough(log: Log, rows: list[int]) -> int:
    """Return how many prompts of known length a model must have: fewer where the log itself shows that it errs."""
    return _PROVEN if any(log.rows.marks[row] & Mark.REST_ONLY for row in rows) else _COLD


def _convention(log: Log, row: int, ratio: float | None) -> Convention | None:
    rows = log.rows
    if rows.marks[row] & Mark.REST_ONLY:
        return Convention.LEFT_OUT
    cached = (log.cached(row) or 0) + (log.written(row) or 0)
    if ratio is not None:
        return _by_count(log, row, rows.prompt_tokens[row] * ratio, cached)
    share = None if log.written(row) is None else _marked_share(log, row)
    return None if share is None or not cached else _by_share(share, cached / rows.reported_prompt[row])


def _by_count(log: Log, row: int, prompt: float, cached: int) -> Convention | None:
    said, slack = log.rows.reported_prompt[row], _CLOSE * prompt
    if abs(said - prompt) <= slack:
        return Convention.WHOLE if cached >= _LARGE * prompt else None
    if cached >= _LARGE * prompt and abs(said - prompt - cached) <= slack:
        return Convention.DOUBLED
    gone = prompt - said
    shared = log.sharing.shared[row] * prompt / max(1, log.rows.prompt_tokens[row])
    if gone < _LARGE * prompt or gone > shared + slack:
        return None
    unknown = log.cached(row) is None
    return Convention.LEFT_OUT if unknown or abs(gone - cached) <= slack else None


def _by_share(share: float, reported: float) -> Convention | None:
    """Tell by the share of the prompt up to its last marker: that much has been read or written."""
    if share < _LARGE:
        return None
    doubled = share / (1 + share)
    if abs(reported - share) < abs(reported - doubled):
        return Convention.WHOLE if abs(reported - share) <= _CLOSE / 2 else None
    return Convention.DOUBLED if abs(reported - doubled) <= _CLOSE / 2 else None


def _marked_share(log: Log, row: int) -> float | None:
    markers, prompt = log.rows.markers.get(row), log.rows.prompt_tokens[row]
    return None if not markers or not prompt else markers[-1][0] / prompt
