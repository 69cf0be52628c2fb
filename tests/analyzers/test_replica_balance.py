"""How evenly replicas are used: entropies by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest
from support.reading import corpus_of

from prefixwise.analyzers.accounts.chain import accounts
from prefixwise.analyzers.replica_balance import ReplicaBalance, balance_blocks, entropy, replica_balance
from prefixwise.caches.policy import parse_policy
from prefixwise.core.report import Text

HEAD = list(range(8))


def sent(prompt: list[int], replica: str) -> dict[str, Any]:
    record: dict[str, Any] = {"request": {"model": "m", "prompt": prompt}}
    return {**record, "replica": replica} if replica else record


def balance(*requests: tuple[list[int], str]) -> ReplicaBalance:
    rows = corpus_of(*(sent(*one) for one in requests)).rows
    found = replica_balance(rows, accounts(rows, parse_policy("vllm:block=4")).columns["cached"], [1.0])
    assert found is not None
    return found


def lines(found: ReplicaBalance) -> str:
    return " ".join(line for block in balance_blocks(found) if isinstance(block, Text) for line in block.lines)


@pytest.mark.parametrize(
    ("amounts", "expected"),
    [([1, 1], 1.0), ([5, 5, 5, 5], 1.0), ([7, 0], 0.0), ([1, 3], 2 - 0.75 * math.log2(3)), ([4], None), ([0, 0], None)],
)
def test_entropy(amounts: list[int], expected: float | None) -> None:
    assert entropy(amounts) == (None if expected is None else pytest.approx(expected))


def test_requests_can_be_even_where_work_is_not() -> None:
    """Two prompts of 10 tokens each; a's second one reads 8 of them, b's are new: 12 against 20 to compute."""
    a, b, c = [*HEAD, 50, 51], list(range(100, 110)), list(range(200, 210))
    found = balance((a, "a"), (a, "a"), (b, "b"), (c, "b"))
    assert [(one.name, one.requests, one.prompt_tokens, one.prefill_tokens) for one in found.loads] == [
        ("b", 2, 20, 20),
        ("a", 2, 20, 12),
    ]
    assert found.request_entropy == 1
    assert found.prefill_entropy == pytest.approx(-(0.625 * math.log2(0.625) + 0.375 * math.log2(0.375)))
    assert found.imbalance == 20 / 16
    assert "Warning" not in lines(found)


def test_the_hottest_prefix_and_where_it_is() -> None:
    """Four requests share 8 tokens, three of them on b; two others share 10."""
    heads = [[*HEAD, 50 + number, 60 + number] for number in range(4)]
    other = list(range(100, 110))
    found = balance(*zip(heads, "abbb", strict=True), (other, "a"), (other, "a"))
    hot = found.hottest
    assert hot is not None
    assert (hot.tokens, hot.requests, hot.replica, hot.on_replica) == (8, 4, "b", 3)


def test_nearly_all_on_one_is_a_warning() -> None:
    new = [(list(range(100 * n, 100 * n + 10)), "hot") for n in range(1, 20)]
    found = balance(*new, (list(range(9000, 9010)), "cold"))
    assert "Warning: hot gets 95.0 % of the work" in lines(found)
    less = balance(*new[:9], (list(range(9000, 9010)), "cold"))
    assert "Warning" not in lines(less)  # nine tenths are not more than nine tenths


def test_one_replica_and_none() -> None:
    found = balance((HEAD, "only"), (HEAD, "only"), (HEAD, ""))
    assert (found.request_entropy, found.unnamed) == (None, 1)
    assert "one replica only, only" in lines(found)
    rows = corpus_of(sent(HEAD, "")).rows
    assert replica_balance(rows, [0], [1.0]) is None
