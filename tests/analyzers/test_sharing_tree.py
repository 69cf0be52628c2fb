"""The sharing tree: the stretches that a search of all prompts finds, and none twice."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from support.reading import corpus_of

from prefixwise.analyzers.sharing_tree import Branch, sharing_tree
from prefixwise.core.excerpt import Excerpts

Found = tuple[int, int, int, int, int, int]


def sent(prompt: Sequence[int], model: str = "m") -> dict[str, Any]:
    return {"request": {"model": model, "prompt": list(prompt)}}


def grown(*records: dict[str, Any], weights: Sequence[float] = (1.0, 1.0)) -> tuple[Branch, ...]:
    return sharing_tree(corpus_of(*records), weights, (), Excerpts.MASKED)


def figures(branch: Branch) -> Found:
    return branch.level, branch.start, branch.end, branch.requests, branch.own_tokens, branch.weight


def searched(prompts: list[tuple[int, ...]], start: int = 0, level: int = 1) -> Iterator[Found]:
    """Yield the stretches of several prompts that begin at `start`, where they have all before it in common."""
    longer = [prompt for prompt in prompts if len(prompt) > start]
    for _, alike in itertools.groupby(sorted(longer), key=lambda prompt: prompt[start]):
        same = list(alike)
        if len(same) > 1:
            end = start
            while len({prompt[: end + 1] for prompt in same}) == 1 and len(same[0]) > end:
                end += 1
            total = sum(len(prompt) - start for prompt in same)
            yield level, start, end, len(same), len(same) * (end - start), total
            yield from searched(same, end, level + 1)


def test_two_ways_on_from_one_head() -> None:
    head = range(100, 150)
    tree = grown(*(sent([*head, way, way, number]) for way, number in ((1, 7), (1, 8), (1, 9), (2, 7), (2, 8), (3, 7))))
    assert [figures(branch) for branch in tree] == [
        (0, 0, 0, 6, 0, 318),
        (1, 0, 50, 6, 300, 318),
        (2, 50, 52, 3, 6, 9),
        (2, 50, 52, 2, 4, 6),
    ]


def test_what_is_less_than_a_hundredth_has_no_row() -> None:
    heavy = [sent(range(400))] * 2
    assert [branch.level for branch in grown(*heavy, *[sent([999] * 5)] * 2)] == [0, 1, 1]
    assert [branch.level for branch in grown(*heavy, *[sent([999] * 4)] * 2)] == [0, 1]


def test_models_do_not_share_and_are_weighed_as_their_provider_counts() -> None:
    tree = grown(*[sent([1, 2, 3])] * 2, *[sent([1, 2, 3], "n")] * 2, weights=(1.0, 2.0))
    assert [(branch.model, *figures(branch)) for branch in tree] == [
        ("n", 0, 0, 0, 2, 0, 12),
        ("n", 1, 0, 3, 2, 12, 12),
        ("m", 0, 0, 0, 2, 0, 6),
        ("m", 1, 0, 3, 2, 6, 6),
    ]


def test_no_more_rows_than_a_page_holds() -> None:
    chain = [sent(range(length)) for length in range(1, 100)]
    tree = grown(*chain)
    assert len(tree) == 61
    assert [branch.level for branch in tree] == list(range(61))


@given(st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=6).map(tuple), min_size=1, max_size=9))
@settings(max_examples=80, deadline=None)
def test_every_shared_stretch_is_found_once(prompts: list[tuple[int, ...]]) -> None:
    root, *tree = map(figures, grown(*map(sent, prompts)))
    assert root == (0, 0, 0, len(prompts), 0, sum(map(len, prompts)))
    assert sorted(tree) == sorted(searched(prompts))
