"""The radix tree against a list of plain lists."""

from __future__ import annotations

from array import array

from hypothesis import given, settings
from hypothesis import strategies as st

from prefixwise.corpus.tree import ROOT, TokenTree, common_ids

# A tiny vocabulary and ids at the edges of 32 bits, so that prefixes collide and packing matters.
IDS = st.lists(st.sampled_from([0, 1, 2, 255, 256, 1 << 24, 2**32 - 1]), min_size=1, max_size=12)
SEGMENTS = st.lists(IDS, min_size=1, max_size=6)
PROMPTS = st.lists(st.lists(st.integers(0, 5), max_size=6), min_size=1, max_size=12)


def packed(ids: list[int]) -> bytes:
    return array("I", ids).tobytes()


def naive_common(a: list[int], b: list[int]) -> int:
    count = 0
    while count < min(len(a), len(b)) and a[count] == b[count]:
        count += 1
    return count


def ancestors(tree: TokenTree, node: int) -> list[int]:
    found = [node]
    while tree.parent[found[-1]] != ROOT:
        found.append(tree.parent[found[-1]])
    return found


@settings(max_examples=300, deadline=None)
@given(segments=SEGMENTS, prompts=PROMPTS, remember=st.booleans())
def test_the_deepest_common_ancestor_is_the_longest_common_prefix(
    segments: list[list[int]], prompts: list[list[int]], remember: bool
) -> None:
    tree = TokenTree()
    root = tree.add_root()
    numbers = [tree.add_segment(packed(ids)) for ids in segments]
    whole: list[list[int]] = []
    nodes: list[int] = []
    for prompt in prompts:
        chosen = [n % len(segments) for n in prompt]
        node = root
        for n in chosen:
            node = tree.walk(node, numbers[n]) if remember else tree.insert(node, numbers[n])
        nodes.append(node)
        whole.append([i for n in chosen for i in segments[n]])
        # Splits by later prompts must not move earlier ones.
        for end, ids in zip(nodes, whole, strict=True):
            assert tree.depth[end] == len(ids)
            assert tree.ids(end) == packed(ids)
    for a, ids_a in zip(nodes, whole, strict=True):
        above_a = set(ancestors(tree, a))
        for b, ids_b in zip(nodes, whole, strict=True):
            meeting = next(node for node in ancestors(tree, b) if node in above_a)
            assert tree.depth[meeting] == naive_common(ids_a, ids_b)


@settings(max_examples=200, deadline=None)
@given(segments=SEGMENTS, prompts=PROMPTS)
def test_the_same_tokens_lead_to_the_same_node_however_they_are_segmented(
    segments: list[list[int]], prompts: list[list[int]]
) -> None:
    tree = TokenTree()
    root = tree.add_root()
    numbers = [tree.add_segment(packed(ids)) for ids in segments]
    node_of: dict[tuple[int, ...], int] = {}
    for prompt in prompts:
        chosen = [n % len(segments) for n in prompt]
        ids = [i for n in chosen for i in segments[n]]
        node = root
        for n in chosen:
            node = tree.walk(node, numbers[n])
        assert node_of.setdefault(tuple(ids), node) == node
        if ids:
            assert tree.insert(root, tree.add_segment(packed(ids))) == node
            one_by_one = root
            for i in ids:
                one_by_one = tree.insert(one_by_one, tree.add_segment(packed([i])))
            assert one_by_one == node
    assert len(tree) <= 1 + 3 * sum(len(ids) for ids in node_of)


@given(first=IDS, second=IDS)
def test_two_roots_share_nothing(first: list[int], second: list[int]) -> None:
    tree = TokenTree()
    roots = tree.add_root(), tree.add_root()
    segment = tree.add_segment(packed(first))
    one, other = (tree.walk(root, segment) for root in roots)
    assert one != other
    assert set(ancestors(tree, one)).isdisjoint(ancestors(tree, other))


@settings(max_examples=300, deadline=None)
@given(data=st.data(), a=IDS, b=IDS)
def test_common_ids_is_what_a_loop_counts(data: st.DataObject, a: list[int], b: list[int]) -> None:
    if data.draw(st.booleans()):
        b = a[: data.draw(st.integers(0, len(a)))] + b
    start_a, start_b = data.draw(st.integers(0, len(a))), data.draw(st.integers(0, len(b)))
    most = data.draw(st.integers(0, min(len(a) - start_a, len(b) - start_b)))
    expected = naive_common(a[start_a : start_a + most], b[start_b : start_b + most])
    assert common_ids(packed(a), start_a, packed(b), start_b, most) == expected


@settings(max_examples=100, deadline=None)
@given(segments=SEGMENTS, prompts=PROMPTS)
def test_edges_from_the_root_down_are_the_ids_and_by_depth_keeps_parents_first(
    segments: list[list[int]], prompts: list[list[int]]
) -> None:
    tree = TokenTree()
    root = tree.add_root()
    numbers = [tree.add_segment(packed(ids)) for ids in segments]
    for prompt in prompts:
        node = root
        for n in prompt:
            node = tree.walk(node, numbers[n % len(segments)])
        assert b"".join(edge for _, edge in tree.edges(node)) == tree.ids(node)
    order = tree.by_depth()
    assert sorted(order) == list(range(len(tree)))
    place = {node: at for at, node in enumerate(order)}
    assert all(tree.parent[n] == ROOT or place[tree.parent[n]] < place[n] for n in order)
    back = tree.by_depth(deepest_first=True)
    place = {node: at for at, node in enumerate(back)}
    assert all(tree.parent[n] == ROOT or place[tree.parent[n]] > place[n] for n in back)
