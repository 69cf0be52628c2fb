"""Exposure on the tree is what comparing every request with every earlier one gives."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.tenants import RowsOfIds

from prefixwise.analyzers.tenancy.exposure import Served, exposure, pairs

TENANTS = ("", "ash", "birch", "cedar")


class Call(NamedTuple):
    ids: list[int]
    tenant: str
    start: int
    answer: list[int]
    runs: int
    space: int
    approved: int


IDS = st.lists(st.integers(0, 2), min_size=1, max_size=8)
CALLS = st.lists(
    st.builds(
        Call,
        IDS,
        st.sampled_from(TENANTS),
        st.integers(0, 12),
        st.lists(st.integers(0, 2), max_size=3),
        st.integers(0, 5),
        st.integers(0, 1),
        st.integers(0, 2),
    ),
    max_size=9,
)


def common(a: list[int], b: list[int]) -> int:
    return next((at for at, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def naive(calls: list[Call], ttl: float, unit: int) -> list[tuple[int, int, int, int]]:
    """Return (row, owner, tokens, approved) by looking, for every depth, for who wrote that prefix last."""
    order = sorted((n for n, call in enumerate(calls) if call.tenant), key=lambda n: calls[n].start)
    found = []
    for n in order:
        call = calls[n]
        earlier = order[: order.index(n)]
        asked = [(calls[m].start, 1, at, calls[m].ids, m) for at, m in enumerate(earlier)]
        answered = [
            (calls[m].start + calls[m].runs, 0, m, calls[m].ids + calls[m].answer, m)
            for m in earlier
            if calls[m].answer and calls[m].start + calls[m].runs <= call.start
        ]
        events = sorted(asked + answered)  # an answer that ends as a request starts was there before it
        for depth in range(len(call.ids), 0, -1):
            last = None
            for when, _, _, ids, m in events:
                if calls[m].space == call.space and common(ids, call.ids) >= depth:
                    last = (when, m)
            if last is None or call.start - last[0] > ttl or calls[last[1]].tenant == call.tenant:
                continue
            served = min(depth, len(call.ids) - 1) // unit * unit
            approved = min(call.approved, served)
            if served > approved:
                found.append((n, last[1], served - approved, approved))
            break
    return sorted(found)


@settings(max_examples=200, deadline=None)
@given(CALLS, st.sampled_from([2.0, 5.0, float("inf")]), st.sampled_from([1, 2, 3]))
def test_exposure_is_what_every_pair_gives(calls: list[Call], ttl: float, unit: int) -> None:
    made = RowsOfIds()
    for call in calls:
        made.add(call.ids, call.tenant, call.start, answer=call.answer, end=call.start + call.runs)
    found = exposure(
        made.rows,
        [call.space for call in calls],
        [ttl] * len(calls),
        Served(unit),
        [call.approved for call in calls],
    )
    rows = sorted(zip(found.row, found.owner, found.tokens, found.approved, strict=True))
    assert rows == naive(calls, ttl, unit)
    by_pair = pairs(made.rows, found)
    assert sum(pair.tokens for pair in by_pair) == sum(found.tokens)
    assert all(pair.reader != pair.writer for pair in by_pair)


@pytest.mark.parametrize(("gap", "events"), [(299, 1), (300, 1), (301, 0)])
def test_entries_live_as_long_as_the_rule_says(gap: int, events: int) -> None:
    made = RowsOfIds()
    made.add(range(40), "ash", 0)
    made.add(range(40), "birch", gap)
    found = exposure(made.rows, [0, 0], [300.0, 300.0], Served(16), [0, 0])
    assert len(found) == events


def test_what_a_tenant_wrote_again_is_its_own() -> None:
    made = RowsOfIds()
    for start, tenant in enumerate(("ash", "birch", "birch", "ash")):
        made.add(range(40), tenant, start)
    found = exposure(made.rows, [0] * 4, [60.0] * 4, Served(16), [0, 16, 0, 0])
    assert list(zip(found.row, found.owner, found.tokens, found.approved, strict=True)) == [
        (1, 0, 16, 16),
        (3, 2, 32, 0),
    ]
