"""How evenly a router spreads requests and work, and what of that one hot prefix explains."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from prefixwise.core.report import Block, Column, Table, Text, Unit
from prefixwise.corpus.rows import Rows
from prefixwise.corpus.tree import ROOT

NEARLY_ALL = 0.9
"""Share of the work on one of several replicas above which they hardly are several."""


class ReplicaLoad(msgspec.Struct, frozen=True):
    """What one replica got: requests, prompt tokens, and those of them that it had to compute."""

    name: str
    requests: int
    prompt_tokens: int
    prefill_tokens: int


class HotPrefix(msgspec.Struct, frozen=True):
    """The prefix whose caching saves most: its length, the requests that begin with it, and those on one replica."""

    tokens: int
    requests: int
    replica: str
    on_replica: int


class ReplicaBalance(msgspec.Struct, frozen=True):
    """How requests and work are spread.

    Attributes:
        loads: By replica, most prefill first.
        request_entropy: From 0 (one replica has all) to 1 (all have the same); None with fewer than two replicas.
        prefill_entropy: The same of prefill tokens: requests can be even where work is not.
        imbalance: Prefill tokens of the busiest replica over the mean; None where nothing is computed.
        hottest: None where no two requests of a model share anything.
        unnamed: Requests whose replica the log does not name; they are left out.
    """

    loads: tuple[ReplicaLoad, ...]
    request_entropy: float | None
    prefill_entropy: float | None
    imbalance: float | None
    hottest: HotPrefix | None
    unnamed: int


def replica_balance(rows: Rows, cached: Sequence[int], weights: Sequence[float]) -> ReplicaBalance | None:
    """Return how the requests of a log are spread; None where it names no replica.

    Args:
        rows: The requests.
        cached: By row, prompt tokens that its replica had.
        weights: By model number, what our token counts are to be multiplied by.
    """
    named = [row for row in range(len(rows)) if rows.replicas[rows.replica[row]]]
    if not named:
        return None
    requests, prompt, prefill = Counter[int](), Counter[int](), Counter[int]()
    for row in named:
        replica, weight = rows.replica[row], weights[rows.model[row]]
        requests[replica] += 1
        prompt[replica] += round(rows.prompt_tokens[row] * weight)
        prefill[replica] += round((rows.prompt_tokens[row] - cached[row]) * weight)
    order = sorted(requests, key=lambda replica: (-prefill[replica], replica))
    total = sum(prefill.values())
    return ReplicaBalance(
        tuple(ReplicaLoad(rows.replicas[one], requests[one], prompt[one], prefill[one]) for one in order),
        entropy(requests.values()),
        entropy(prefill[one] for one in order),
        prefill[order[0]] * len(order) / total if total else None,
        _hottest(rows, named),
        len(rows) - len(named),
    )


def entropy(amounts: Iterable[int]) -> float | None:
    """Return Shannon's entropy of shares over that of equal shares, None for fewer than two, or where all are zero."""
    values = list(amounts)
    total = sum(values)
    if len(values) < 2 or not total:
        return None
    return max(0.0, -math.fsum(v / total * math.log(v / total) for v in values if v)) / math.log(len(values))


def _hottest(rows: Rows, named: Sequence[int]) -> HotPrefix | None:
    """Return the prefix of one model that saves most where each request but the first reads all of it."""
    by_model: dict[int, list[int]] = {}
    for row in named:
        by_model.setdefault(rows.model[row], []).append(row)
    best: tuple[int, int, int] | None = None
    for model, numbers in by_model.items():
        visits = array("i", bytes(4 * len(rows.tree)))
        for end, times in Counter(rows.node[row] for row in numbers).items():
            node = end
            while rows.tree.parent[node] != ROOT:
                visits[node] += times
                node = rows.tree.parent[node]
        node = max(range(len(visits)), key=lambda node: ((visits[node] - 1) * rows.tree.depth[node], -node))
        saved = (visits[node] - 1) * rows.tree.depth[node]
        if saved > 0 and (best is None or saved > best[0]):
            best = (saved, model, node)
    if best is None:
        return None
    _, model, hot = best
    on = Counter(rows.replica[row] for row in by_model[model] if _passes(rows, row, hot))
    replica = min(on, key=lambda one: (-on[one], one))
    return HotPrefix(rows.tree.depth[hot], sum(on.values()), rows.replicas[replica], on[replica])


def _passes(rows: Rows, row: int, hot: int) -> bool:
    node, tree = rows.node[row], rows.tree
    while tree.depth[node] > tree.depth[hot]:
        node = tree.parent[node]
    return node == hot


def balance_blocks(balance: ReplicaBalance) -> Iterator[Block]:
    """Yield how even the replicas are, and what each of them got."""
    yield Text("balance", tuple(_lines(balance)), "Balance of replicas")
    columns = (
        Column("replica", "replica"),
        Column("requests", "requests", Unit.COUNT),
        Column("prompt_tokens", "prompt tokens", Unit.TOKENS),
        Column("prefill_tokens", "to compute", Unit.TOKENS),
        Column("share", "of all work", Unit.RATE),
    )
    total = sum(load.prefill_tokens for load in balance.loads)
    rows = tuple(
        (
            load.name,
            load.requests,
            load.prompt_tokens,
            load.prefill_tokens,
            load.prefill_tokens / total if total else None,
        )
        for load in balance.loads[:20]
    )
    note = "To compute: what the rule does not serve where each replica has a cache of its own."
    yield Table("replicas", "What each replica got", columns, rows, note)


def _lines(balance: ReplicaBalance) -> Iterator[str]:
    requests, prefill = balance.request_entropy, balance.prefill_entropy
    if len(balance.loads) < 2:
        yield f"The log names one replica only, {balance.loads[0].name}."
        return
    total = sum(load.prefill_tokens for load in balance.loads)
    busiest = balance.loads[0]
    if total and busiest.prefill_tokens > NEARLY_ALL * total:
        share = 100 * busiest.prefill_tokens / total
        yield f"Warning: {busiest.name} gets {share:.1f} % of the work; the other {len(balance.loads) - 1} hardly any."
    spread = f"Entropy of requests {_two(requests)}, of prefill tokens {_two(prefill)} (1: even, 0: all on one replica)"
    ratio = "" if balance.imbalance is None else f"; the busiest computes {balance.imbalance:.2f} times the mean"
    yield f"{spread}{ratio}."
    hot = balance.hottest
    if hot is not None:
        yield (
            f"The hottest prefix has {hot.tokens:,} tokens and {hot.requests:,} requests, {hot.on_replica:,} of them "
            f"on {hot.replica}."
        )
    if balance.unnamed:
        yield f"{balance.unnamed:,} requests without a replica are left out."


def _two(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
