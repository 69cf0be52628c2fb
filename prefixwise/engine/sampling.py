"""The next tokens from logits."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from prefixwise.engine.request import Draw


def next_tokens(logits: torch.Tensor, draws: Sequence[Draw | None]) -> list[int]:
    """Return a token a row of `logits`: the likeliest, or the one at the drawn place of the row's distribution.

    Raises:
        FloatingPointError: The logits are not numbers.
    """
    chosen = logits.argmax(dim=-1)
    for row, draw in enumerate(draws):
        if draw is not None:
            chosen[row] = _drawn(logits[row], draw)
    # An invalid number is the largest of all, so it is enough to look at those that were chosen.
    if not logits.gather(1, chosen[:, None]).isfinite().all():
        raise FloatingPointError("the model's logits are not finite")
    found: list[int] = chosen.tolist()
    return found


def _drawn(logits: torch.Tensor, draw: Draw) -> torch.Tensor:
    """Return the token at a place of the distribution, which is ordered from the likeliest token on."""
    scaled = logits.float() / draw.temperature
    if draw.top_k:
        ordered, ids = scaled.topk(min(draw.top_k, len(scaled)))
    else:
        ordered, ids = scaled.sort(descending=True, stable=True)
    shares = ordered.double().softmax(dim=-1)
    reached = shares.cumsum(dim=-1)
    # The token that crosses the limit still belongs to it.
    allowed = int((reached - shares < draw.top_p).sum()) if draw.top_p < 1 else len(shares)
    place = draw.at * reached[allowed - 1]
    index = int(torch.searchsorted(reached[:allowed], place, right=True))
    return ids[min(index, allowed - 1)]
