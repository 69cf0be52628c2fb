"""The accounts of a prompt token: worked by hand, and always summing to the prompts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.logs import Log, logs
from support.reading import corpus_of

from prefixwise.analyzers.accounts.chain import ACCOUNTS, accounts
from prefixwise.analyzers.accounts.totals import account_totals
from prefixwise.caches.policy import parse_policy
from prefixwise.caches.rulebook import Rulebook
from prefixwise.caches.sharing import sharing

RULES = (
    "vllm:block=4",
    "sglang",
    "vllm:block=2,capacity=9",
    "sglang:capacity=40tokens",
    "ttl:block=2,seconds=2",
    "anthropic:model=claude-opus-4-5",
    "openai:model=gpt-4.1",
)


def sent(prompt: list[int], at: float, **more: Any) -> dict[str, Any]:
    """Return a record of a prompt that was given as token ids."""
    fields = {key: more.pop(key) for key in ("tenant", "replica", "usage", "end_time") if key in more}
    return {"request": {"model": "m", "prompt": prompt, **more}, "start_time": 1_700_000_000 + at, **fields}


def told(records: list[dict[str, Any]], rule: str, row: int) -> dict[str, int]:
    """Return the accounts of one prompt that are not empty."""
    found = accounts(corpus_of(*records).rows, parse_policy(rule))
    return {account: column[row] for account, column in found.columns.items() if column[row]}


def test_a_replica_that_did_not_have_it() -> None:
    first, second = list(range(10)), list(range(10))
    log = [sent(first, 0, replica="a"), sent(second, 1, replica="b"), sent(second, 2, replica="a")]
    assert told(log, "vllm:block=4", 1) == {"misrouted": 8, "granularity": 2}
    assert told(log, "vllm:block=4", 2) == {"cached": 8, "granularity": 2}


def test_a_block_that_was_pushed_out() -> None:
    log = [sent(list(range(8)), 0), sent(list(range(100, 108)), 1), sent([*range(8), 50], 2)]
    assert told(log, "vllm:block=4,capacity=2", 2) == {"evicted": 8, "first_seen": 1}
    assert told(log, "vllm:block=4,capacity=9", 2) == {"cached": 8, "first_seen": 1}


def test_a_block_that_was_too_old() -> None:
    log = [sent(list(range(8)), 0), sent([*range(8), 50], 90)]
    assert told(log, "ttl:block=4,seconds=60", 1) == {"expired": 8, "first_seen": 1}
    assert told(log, "ttl:block=4,seconds=100", 1) == {"cached": 8, "first_seen": 1}


def test_another_salt() -> None:
    log = [sent(list(range(10)), 0, cache_salt="a"), sent([*range(10), 50], 1, cache_salt="b")]
    assert told(log, "vllm:block=4", 1) == {"isolated": 10, "first_seen": 1}


def test_a_minimum_is_granularity() -> None:
    log = [sent(list(range(1000)), 0), sent([*range(1000), 5000], 1)]
    assert told(log, "openai:model=gpt-4.1", 1) == {"granularity": 1000, "first_seen": 1}


@settings(max_examples=60, deadline=None)
@given(log=logs(), rule=st.sampled_from(RULES), replicas=st.lists(st.sampled_from(["", "a", "b"]), min_size=30))
def test_the_accounts_sum_to_the_prompts(log: Log, rule: str, replicas: list[str]) -> None:
    rows = corpus_of(log.data).rows
    for row in range(len(rows)):
        rows.replica[row] = rows.replicas.number(replicas[row % len(replicas)])
    found = accounts(rows, parse_policy(rule), rows).columns
    assert tuple(found) == ACCOUNTS
    for row, tokens in enumerate(rows.prompt_tokens):
        assert sum(column[row] for column in found.values()) == tokens
        assert all(column[row] >= 0 for account, column in found.items() if account != "interaction")
        assert found["interaction"][row] <= 0
    assert not any(found["unstable"])
    # What nobody had before is what the token-granular ceiling leaves, whatever the rule.
    outputs = rule.startswith(("vllm", "sglang", "anthropic", "openai"))
    ceiling = sharing(rows, outputs=outputs).shared
    assert [n - new for n, new in zip(rows.prompt_tokens, found["first_seen"], strict=True)] == list(ceiling)


def test_what_the_usage_says_is_held_against_the_rule() -> None:
    usage = {"prompt_tokens": 20, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 4}}
    log = [sent(list(range(10)), 0), sent([*range(10), 50], 1, usage=usage)]
    rows = corpus_of(*log).rows
    found = accounts(rows, parse_policy("vllm:block=4"))
    assert list(found.compared) == [0, 1]
    # 4 of 20 reported tokens are 2 of our 11; the rule serves 8.
    assert list(found.unexplained) == [0, 6]
    totals = account_totals(rows, found, [1.0], Rulebook(), ["tenant"], prefill=0.5)
    assert (totals.prompt_tokens, totals.ceiling, totals.unexplained, totals.reported) == (21, 10, 6, 2)
    assert {one.account: (one.tokens, one.prefill_s) for one in totals.sums if one.tokens} == {
        "cached": (8, 4.0),
        "granularity": (2, 1.0),
        "first_seen": (11, 5.5),
    }


@pytest.mark.parametrize(("weights", "tokens"), [([1.0], 11), ([2.0], 22)])
def test_estimates_are_calibrated(weights: list[float], tokens: int) -> None:
    rows = corpus_of(sent(list(range(11)), 0, tenant="t")).rows
    totals = account_totals(rows, accounts(rows, parse_policy("sglang")), weights, Rulebook(), ["tenant"])
    assert totals.tokens("first_seen") == tokens
    assert [(group.name, group.prompt_tokens) for group in totals.by["tenant"]] == [("t", tokens)]
