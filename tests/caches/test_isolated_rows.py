"""Rows kept apart give any rule what namespaces give the rules that know of them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.tenants import RowsOfIds

from prefixwise.caches.isolation import isolated_rows
from prefixwise.caches.policy import parse_policy
from prefixwise.core.namespace import Namespace

CALLS = st.lists(
    st.tuples(st.lists(st.integers(0, 1), min_size=1, max_size=7), st.integers(0, 2), st.booleans()),
    min_size=1,
    max_size=9,
)
Call = tuple[list[int], int, bool]


def made_of(calls: list[Call]) -> RowsOfIds:
    made = RowsOfIds()
    made.rows.namespaces = [Namespace(salt=str(number)) for number in range(3)]
    for start, (ids, owner, answered) in enumerate(calls):
        made.add(ids, f"tenant {owner}", start, answer=[1] if answered else (), end=start + 1, namespace=owner)
    return made


def common(a: list[int], b: list[int]) -> int:
    return next((at for at, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


@settings(max_examples=100, deadline=None)
@given(CALLS, st.sampled_from(["vllm:block=2", "sglang:page=1", "vllm:block=1,capacity=6tokens"]))
def test_a_tree_an_owner_is_a_namespace_an_owner(calls: list[Call], rule: str) -> None:
    rows = made_of(calls).rows
    policy = parse_policy(rule)
    apart = isolated_rows(rows, [owner for _, owner, _ in calls])
    assert list(policy.replay(apart).matched) == list(policy.replay(rows).matched)


@settings(max_examples=100, deadline=None)
@given(CALLS, st.integers(0, 4))
def test_what_is_shared_is_found_by_all_and_the_rest_by_its_owner(calls: list[Call], depth: int) -> None:
    calls = [(ids, owner, False) for ids, owner, _ in calls]
    rows = made_of(calls).rows
    shared = [rows.tree.depth[node] <= depth for node in range(len(rows.tree))]
    matched = parse_policy("sglang").replay(isolated_rows(rows, [owner for _, owner, _ in calls], shared)).matched
    # A prompt may be cut where the tree has a node, so "shared" ends at the deepest node that is not behind `depth`.
    for row, (ids, owner, _) in enumerate(calls):
        best = 0
        for other, other_owner, _ in calls[:row]:
            same = next(
                (at for at, (a, b) in enumerate(zip(ids, other, strict=False)) if a != b), min(len(ids), len(other))
            )
            ends = [rows.tree.depth[node] for node in rows.tree.path(rows.node[row]) if rows.tree.depth[node] <= depth]
            best = max(best, same if other_owner == owner else min(same, max(ends, default=0)))
        assert matched[row] == max(0, min(best, len(ids) - 1))


def test_absent_answers_stay_absent_and_nothing_else_changes() -> None:
    rows = made_of([([0, 1], 0, True), ([0, 1], 1, False)]).rows
    apart = isolated_rows(rows, [0, 1])
    assert [node == -1 for node in apart.response_node] == [False, True]
    assert apart.prompt_tokens is rows.prompt_tokens
    assert list(apart.namespace) == [0, 0]
    assert list(rows.namespace) == [0, 1]


@pytest.mark.parametrize("rule", ["lru:capacity=4", "ttl:seconds=300", "fifo:capacity=4", "lfu:capacity=4"])
def test_rules_without_namespaces_are_kept_apart_too(rule: str) -> None:
    rows = made_of([(list(range(32)), 0, False), (list(range(32)), 1, False)]).rows
    policy = parse_policy(rule)
    assert policy.replay(rows).matched[1] > 0
    assert policy.replay(isolated_rows(rows, [0, 1])).matched[1] == 0
