"""What usage reports as cached, against what the namespace of a request could give."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from prefixwise.corpus.rows import NONE
from prefixwise.corpus.tokenizer import Exactness
from prefixwise.corpus.tree import ROOT

if TYPE_CHECKING:
    from prefixwise.analyzers.tenancy.audit import Audit

_UNSURE = 0.03
"""Share of a prompt by which counts may be off where the tokenizer or the template is not the provider's own."""


def above_namespace(audit: Audit) -> Iterator[tuple[int, int, bool]]:
    """Yield (row, tokens too many, whether another namespace had them) where more was cached than the namespace had.

    More is said only of what is above by more than a block, and by more than the counts may be wrong.
    """
    rows = audit.rows
    for row in audit.known:
        cached = rows.reported_cached[row]
        if cached in (NONE, 0):
            continue
        ratio, slack = _scale(audit, row)
        own, wide = audit.by_space.shared[row] * ratio, audit.by_model.shared[row] * ratio
        least = audit.served.unit + slack
        if cached - own > least:
            yield row, round(cached - own), wide - own > least and cached - wide <= least


def kept_longer(audit: Audit, limit: float) -> Iterator[tuple[int, int]]:
    """Yield (row, tokens) of hits that reach beyond what the namespace had used within `limit` seconds."""
    rows, tree, times = audit.rows, audit.rows.tree, audit.times
    used: dict[tuple[int, int], float] = {}
    for row in rows.by_start():
        space, now, cached = audit.spaces[row], times[row], rows.reported_cached[row]
        ratio, slack = _scale(audit, row)
        fresh, node = 0, rows.node[row]
        while tree.parent[node] != ROOT:
            if not fresh and now - used.get((space, node), now) <= limit and (space, node) in used:
                fresh = tree.depth[node]
            used[space, node] = now
            node = tree.parent[node]
        had = audit.by_space.shared[row] * ratio
        too_many = min(cached, had) - fresh * ratio
        if cached != NONE and too_many > audit.served.unit + slack:
            yield row, round(too_many)


def _scale(audit: Audit, row: int) -> tuple[float, float]:
    """Return reported over counted tokens of a prompt, and how many tokens a count may be off."""
    rows = audit.rows
    reported, counted = rows.reported_prompt[row], rows.prompt_tokens[row]
    exact = audit.corpus.tokenizers.get(rows.models[rows.model[row]], (Exactness.ESTIMATED,))[0] is Exactness.EXACT
    if reported == NONE or not reported or not counted:
        return audit.weights[rows.model[row]], 0.0 if exact else _UNSURE * counted
    return reported / counted, 0.0 if exact and reported == counted else _UNSURE * reported
