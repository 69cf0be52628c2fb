"""Token counts of models without a public tokenizer, set right by what their usage reports."""

from __future__ import annotations

import msgspec

from prefixwise.core.request import Mark
from prefixwise.corpus.corpus import Corpus
from prefixwise.corpus.rows import NONE, Rows
from prefixwise.corpus.tokenizer import Exactness

_INCOMPLETE = Mark.CUT | Mark.REDACTED | Mark.PARTIAL
_FARTHEST = 2.5
"""How far an estimate may be off; beyond it the log does not hold the prompts that the usage counts."""


class ModelTokens(msgspec.Struct, frozen=True):
    """How one model's tokens were counted.

    Attributes:
        model: As logged.
        tokenizer: Name of the encoding or the estimate.
        exactness: How far the counts can be trusted.
        note: Where the tokenizer comes from or why it is an estimate.
        factor: Reported over counted tokens, applied to estimates; 1 where nothing was applied.
        calibrated_on: Requests whose usage gave the factor.
        reported_over_counted: The same ratio for exact counts too, where there is usage; a check on the template.
    """

    model: str
    tokenizer: str
    exactness: Exactness
    note: str
    factor: float
    calibrated_on: int
    reported_over_counted: float | None


def model_tokens(corpus: Corpus) -> tuple[ModelTokens, ...]:
    """Return how each model's tokens were counted, in order of first use; () for traces."""
    rows = corpus.rows
    counted = [0] * len(rows.models)
    reported = [0] * len(rows.models)
    requests = [0] * len(rows.models)
    for number, tokens, said, marks in zip(
        rows.model, rows.prompt_tokens, rows.reported_prompt, rows.marks, strict=True
    ):
        if said != NONE and said > 0 and tokens > 0 and not marks & _INCOMPLETE:
            counted[number] += tokens
            reported[number] += said
            requests[number] += 1
    found: list[ModelTokens] = []
    for number, model in enumerate(rows.models.names):
        if model not in corpus.tokenizers:
            continue
        exactness, name, note = corpus.tokenizers[model]
        ratio = reported[number] / counted[number] if requests[number] else None
        is_estimate = exactness is Exactness.ESTIMATED
        factor = ratio if is_estimate and ratio and is_believable(ratio) else 1.0
        found.append(ModelTokens(model, name, exactness, note, factor, requests[number], ratio))
    return tuple(found)


def is_believable(ratio: float) -> bool:
    """Say whether reported over counted tokens can come from another tokenizer alone."""
    return 1 / _FARTHEST <= ratio <= _FARTHEST


def factors(rows: Rows, tokens: tuple[ModelTokens, ...]) -> list[float]:
    """Return by model number what its counts are to be multiplied by."""
    by_name = {model.model: model.factor for model in tokens}
    return [by_name.get(name, 1.0) for name in rows.models.names]
