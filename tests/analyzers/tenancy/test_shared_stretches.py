"""Who shares which node, and what it seems to be."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.tenants import RowsOfIds

from prefixwise.analyzers.tenancy.shared_nodes import NodeClass, many, shared_nodes, stretches

CALLS = st.lists(
    st.tuples(st.lists(st.integers(0, 1), min_size=1, max_size=6), st.sampled_from(["", "a", "b", "c"])),
    min_size=1,
    max_size=12,
)


@settings(max_examples=150, deadline=None)
@given(CALLS)
def test_tenants_and_requests_of_a_node_are_those_who_pass_it(calls: list[tuple[list[int], str]]) -> None:
    made = RowsOfIds()
    for start, (ids, tenant) in enumerate(calls):
        made.add(ids, tenant, start)
    rows = made.rows
    nodes = shared_nodes(rows, [0] * len(rows))
    for node in range(1, len(rows.tree)):
        passing = [row for row in range(len(rows)) if node in rows.tree.path(rows.node[row]) and calls[row][1]]
        assert nodes.tenants[node] == len({calls[row][1] for row in passing})
        assert nodes.visits[node] == len(passing)
        if passing:
            assert (nodes.first[node], nodes.last[node]) == (passing[0], passing[-1])


@pytest.mark.parametrize(("tenants", "least"), [(2, 5), (100, 5), (101, 6), (1000, 50)])
def test_many_is_five_per_cent_and_no_fewer_than_five(tenants: int, least: int) -> None:
    assert many(tenants) == least


def kinds(tenants: int, *, private: int = 0, approved: int = 0) -> set[str]:
    """Return the kinds of a head of 8 tokens that all share, a document behind it, and what two have behind that."""
    made = RowsOfIds()
    for number in range(tenants):
        behind = list(range(200, 204)) if number < private else [1000 + number]
        made.add([*range(8), *range(100, 104), *behind], f"t{number}", number, system_end=8)
    nodes = shared_nodes(made.rows, [approved] * tenants)
    return {f"{one.kind.label} {one.start}-{one.end}" for one in stretches(made.rows, nodes, 20)}


def test_heads_of_many_are_templates_documents_of_many_public_and_the_rest_private() -> None:
    # The end of the head is a node only where prompts part there; one tenant has no document.
    made = RowsOfIds()
    for number in range(6):
        behind = [*range(100, 104), 1000 + number] if number < 5 else [2000]
        made.add([*range(8), *behind], f"t{number}", number, system_end=8)
    nodes = shared_nodes(made.rows, [0] * 6)
    found = {(one.kind, one.start, one.end, one.tenants) for one in stretches(made.rows, nodes, 20)}
    assert found == {(NodeClass.TEMPLATE, 0, 8, 6), (NodeClass.DOCUMENT, 8, 12, 5)}


def test_few_tenants_are_private_unless_approved() -> None:
    assert kinds(4) == {"private 0-12"}
    assert kinds(4, approved=12) == {"approved 0-12"}
    assert "private 12-16" in kinds(6, private=2)


def test_what_holds_something_private_is_private_however_many_have_it() -> None:
    made = RowsOfIds()
    for number in range(6):
        made.add([*range(8), 1000 + number], f"t{number}", number, system_end=8)
    head = made.rows.tree.parent[made.rows.node[0]]
    assert shared_nodes(made.rows, [0] * 6).kind[head] == NodeClass.TEMPLATE
    assert shared_nodes(made.rows, [0] * 6, [(0, True)]).kind[head] == NodeClass.PRIVATE
    assert shared_nodes(made.rows, [0] * 6, [(0, False)]).kind[head] == NodeClass.TEMPLATE
