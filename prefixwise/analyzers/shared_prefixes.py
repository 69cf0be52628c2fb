"""The prefixes that many requests share: where a cache earns its keep."""

from __future__ import annotations

from array import array
from collections import Counter

import msgspec

from prefixwise.core.excerpt import LIMIT, Excerpts, excerpt
from prefixwise.corpus.corpus import Corpus
from prefixwise.corpus.rows import Rows
from prefixwise.corpus.texts import NodeTexts
from prefixwise.corpus.tree import ROOT

_SHOWN_TOKENS = 64
_LEAST_SHARE = 0.01
_MOST_MODELS = 8


class SharedPrefix(msgspec.Struct, frozen=True):
    """A prefix of several requests.

    Attributes:
        requests: How many begin with it.
        tokens: Its length.
        saved_tokens: What caching it saves: `tokens` for each request but the first, less what the listed
            prefixes that it extends save for the same requests.
        head: Its first text; `tail`: its last text, before the requests part. Empty for traces.
    """

    requests: int
    tokens: int
    saved_tokens: int
    head: str
    tail: str


def most_shared(corpus: Corpus, most: int, excerpts: Excerpts) -> tuple[SharedPrefix, ...]:
    """Return up to `most` shared prefixes, those that save most first.

    A node counts as a prefix of its own where its requests part: its child has fewer of them.
    """
    rows = corpus.rows
    deepest_first = rows.tree.by_depth(deepest_first=True)
    chosen: list[tuple[int, int, int]] = []
    for model, _ in Counter(rows.model).most_common(_MOST_MODELS):  # a model's cache is never another model's
        nodes = [node for node, its_model in zip(rows.node, rows.model, strict=True) if its_model == model]
        visits = visits_of(rows, model, nodes, deepest_first)
        chosen += [(saved, visits[node], node) for node, saved in _choose(rows, nodes, visits, most)]
    chosen = sorted(chosen, key=lambda found: (-found[0], found[2]))[:most]
    texts = NodeTexts(corpus.index) if corpus.index else None
    found = []
    for saved, requests, node in chosen:
        tokens = rows.tree.depth[node]
        head = texts.between(node, 0, _SHOWN_TOKENS) if texts else ""
        tail = texts.between(node, max(0, tokens - _SHOWN_TOKENS), tokens) if texts else ""
        found.append(
            SharedPrefix(requests, tokens, saved, excerpt(head, excerpts), excerpt(tail, excerpts, LIMIT, side="tail"))
        )
    return tuple(found)


def text_after(corpus: Corpus, node: int, depth: int, excerpts: Excerpts) -> str:
    """Return the first text behind `depth` tokens on the way to `node`; empty for traces."""
    if corpus.index is None:
        return ""
    return excerpt(NodeTexts(corpus.index).between(node, depth, depth + _SHOWN_TOKENS), excerpts)


def visits_of(rows: Rows, model: int, nodes: list[int], deepest_first: list[int]) -> array[int]:
    """Return by node how many of a model's prompts, which end at `nodes`, pass it; counted once for all who ask."""
    known: array[int] | None = rows.memo.get((visits_of, model, len(rows.tree)))
    if known is not None:
        return known
    visits = rows.memo[visits_of, model, len(rows.tree)] = array("i", [0]) * len(rows.tree)
    for node in nodes:
        visits[node] += 1
    parent = rows.tree.parent
    for node in deepest_first:
        if visits[node] and parent[node] != ROOT:
            visits[parent[node]] += visits[node]
    return visits


def _choose(rows: Rows, nodes: list[int], visits: array[int], most: int) -> list[tuple[int, int]]:
    """Pick greedily the (node, saved tokens) that add most to what the picked ones save already."""
    parent, depth = rows.tree.parent, rows.tree.depth
    forks = {
        parent[node] for node in range(len(visits)) if parent[node] != ROOT and visits[node] < visits[parent[node]]
    }
    forks.update(node for node in nodes if visits[node] > 1)
    candidates = sorted(
        (node for node in forks if visits[node] > 1 and depth[node] > 0),
        key=lambda node: (-(visits[node] - 1) * depth[node], node),
    )[: most * 50]
    picked: dict[int, int] = {}
    while len(picked) < most:
        best, best_gain = -1, 0
        for node in candidates:
            if node not in picked:
                gain = (visits[node] - 1) * (depth[node] - _covered(node, picked, parent, depth))
                if gain > best_gain:
                    best, best_gain = node, gain
        if best < 0 or best_gain < _LEAST_SHARE * sum(picked.values()):
            break
        picked[best] = best_gain
    saved = {node: (visits[node] - 1) * (depth[node] - _covered(node, picked, parent, depth)) for node in picked}
    return sorted(saved.items(), key=lambda item: (-item[1], item[0]))


def _covered(node: int, picked: dict[int, int], parent: array[int], depth: array[int]) -> int:
    """Return the depth of the nearest picked ancestor of `node`, 0 without one."""
    while parent[node] != ROOT:
        node = parent[node]
        if node in picked:
            return depth[node]
    return 0
