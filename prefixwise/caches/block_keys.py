"""What a block is known by: the namespace, all tokens up to its end, and the images, audio or files among them.

A block's hash is chained: it covers the hash of the block before it, so two blocks are equal only where everything
in front of them is equal too. Hashes are free of salts; the key of an entry is the pair (namespace id, hash).
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable, Sequence
from typing import TypeAlias

import msgspec

NamespaceId: TypeAlias = bytes | int
"""`Namespace.id(parts)` or a small number that stands for it."""

BlockHash: TypeAlias = bytes
Key: TypeAlias = tuple[NamespaceId, BlockHash]

DIGEST_SIZE = 16


class Content(msgspec.Struct, frozen=True):
    """An image, audio or file part that stands in a prompt as placeholder tokens.

    Attributes:
        offset: Index of its first placeholder token.
        length: Placeholder tokens.
        digest: Hash of the content.
    """

    offset: int
    length: int
    digest: str


ExtraKey: TypeAlias = tuple[str, int]
"""Digest of a content and its offset from the start of the block."""

HashBlock: TypeAlias = Callable[[BlockHash | None, Sequence[int], tuple[ExtraKey, ...]], BlockHash]
"""Hash of a block from the hash of the block before it (None: first block), its tokens and its extra keys."""


def hash_block(parent: BlockHash | None, tokens: Sequence[int], extra: tuple[ExtraKey, ...]) -> BlockHash:
    """Return the 16-byte BLAKE2b hash of a block, the same in every process.

    Raises:
        OverflowError: A token id does not fit into 64 bits.
    """
    state = hashlib.blake2b(digest_size=DIGEST_SIZE)
    state.update(parent or bytes(DIGEST_SIZE))
    state.update(array("q", tokens).tobytes())
    for digest, offset in extra:
        data = digest.encode("utf-8", "surrogatepass")
        state.update(b"|%d:%d:%s" % (offset, len(data), data))
    return state.digest()


def extra_keys(contents: Sequence[Content], start: int, end: int) -> tuple[ExtraKey, ...]:
    """Return the extra keys of the block of tokens `start` to `end`: one for every content that overlaps it.

    Source: vLLM 0.32.0, `v1/core/kv_cache_utils.py`; the offset may be negative.
    """
    if not contents:
        return ()
    return tuple(
        (item.digest, item.offset - start)
        for item in contents
        if item.offset < end and start < item.offset + item.length
    )


def extend_hashes(
    hashes: list[BlockHash],
    tokens: Sequence[int],
    blocks: int,
    block_size: int,
    contents: Sequence[Content] = (),
    hash_one: HashBlock = hash_block,
) -> None:
    """Append to `hashes` until it holds those of the first `blocks` full blocks of `tokens`."""
    for index in range(len(hashes), blocks):
        start, end = index * block_size, (index + 1) * block_size
        parent = hashes[-1] if hashes else None
        hashes.append(hash_one(parent, tokens[start:end], extra_keys(contents, start, end)))


def common_length(left: Sequence[int], right: Sequence[int], offset: int, most: int) -> int:
    """Return how many leading items of `left` equal those of `right` from `offset` on, at most `most`."""
    most = max(0, min(most, len(left), len(right) - offset))
    # Most comparisons end equal, and comparing whole lists is many times faster than item by item.
    if list(left[:most]) == list(right[offset : offset + most]):
        return most
    return next(index for index in range(most) if left[index] != right[offset + index])


def with_contents(tokens: Sequence[int], contents: Sequence[Content]) -> Sequence[int]:
    """Return `tokens` with every placeholder replaced by a number that stands for the content.

    Caches that compare tokens, not hashes, tell images apart this way. Numbers lie below zero, so none is a token
    id. Source: SGLang 0.5.23 pads placeholders with a value made from the content's hash
    (`managers/schedule_batch.py`); it takes 30 bits, here 62 are taken.
    """
    if not contents:
        return tokens
    padded = list(tokens)
    for item in contents:
        digest = hashlib.blake2b(item.digest.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        value = -1 - (int.from_bytes(digest, "big") >> 2)
        end = min(item.offset + item.length, len(padded))
        padded[item.offset : end] = [value] * max(0, end - item.offset)
    return padded
