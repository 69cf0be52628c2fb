"""Names for prefixes that say nothing about their text without a key.

The id of a prefix is the 64-bit BLAKE2b of all its token ids, keyed with a secret: equal ids mean equal prefixes
(two among ten million collide with a chance of about 3e-6), and without the key a guess at a text cannot be
checked against them. Plain chain hashes could be inverted by guessing, block after block.
"""

from __future__ import annotations

import hashlib
from array import array

from prefixwise.corpus.index import CorpusIndex
from prefixwise.corpus.rows import NONE, Rows
from prefixwise.corpus.tokenizer import BYTES_PER_ID
from prefixwise.corpus.tree import TokenTree

KEY_BYTES = 32
_ID_BYTES = 8


def node_ids(index: CorpusIndex, key: bytes, block: int) -> list[list[tuple[int, int]]]:
    """Return by node the (end in tokens, id) of each boundary on its edge, in order.

    Args:
        index: The corpus with its text.
        key: The secret.
        block: Boundaries every so many tokens, and at the end of each prompt; 0 for one at each node.
    """
    tree = index.tree
    found: list[list[tuple[int, int]]] = [[] for _ in range(len(tree))]
    ends = _prompt_ends(index.rows)
    names = {vocabulary.root: vocabulary.tokenizer.name for vocabulary in index.vocabularies.values()}

    def start(root: int) -> hashlib.blake2b:
        person = hashlib.blake2b(names[root].encode(), digest_size=16).digest()
        return hashlib.blake2b(digest_size=_ID_BYTES, key=key, person=person)

    def step(state: hashlib.blake2b, node: int) -> hashlib.blake2b:
        after = state.copy()
        found[node] = _edge_ids(tree, node, after, block, node in ends)
        return after

    for _ in tree.fold(start, step):
        pass
    return found


def _prompt_ends(rows: Rows) -> set[int]:
    return {*rows.node, *(node for node in rows.response_node if node != NONE)}


def _edge_ids(tree: TokenTree, node: int, state: hashlib.blake2b, block: int, is_end: bool) -> list[tuple[int, int]]:
    """Feed a node's edge to `state`; return its boundaries."""
    edge = tree.edge(node)
    end = tree.depth[node]
    boundaries = []
    if block:
        at = end - len(edge) // BYTES_PER_ID
        offset = 0
        for boundary in range(at // block * block + block, end + 1, block):
            size = (boundary - at) * BYTES_PER_ID
            state.update(edge[offset:size])
            offset = size
            boundaries.append((boundary, _number(state)))
        state.update(edge[offset:])
        if is_end and end % block:
            boundaries.append((end, _number(state)))
    else:
        state.update(edge)
        boundaries.append((end, _number(state)))
    return boundaries


def _number(state: hashlib.blake2b) -> int:
    """Return the state's digest as a signed 64-bit number, as Parquet keeps it."""
    return int.from_bytes(state.digest(), "little", signed=True)


def row_path(
    tree: TokenTree, ids: list[list[tuple[int, int]]], node: int, start: int = 0, block: int = 0
) -> tuple[array[int], array[int]]:
    """Return (ids, ends) of the boundaries behind `start` tokens on the way to `node`.

    With a block size, those at its multiples and at the end of `node` only: where other prompts end must not
    show, or paths of one prefix in two files would differ.
    """
    numbers, ends = array("q"), array("i")
    last = tree.depth[node]
    for step in tree.path(node):
        if tree.depth[step] > start:
            for end, number in ids[step]:
                if end > start and (not block or end % block == 0 or end == last):
                    numbers.append(number)
                    ends.append(end)
    return numbers, ends
