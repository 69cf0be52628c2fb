"""Whole requests against a cache: what a simulator does, and what an engine does when a prompt fits one step."""

from __future__ import annotations

from collections.abc import Sequence

from prefixwise.caches.block_keys import Content, NamespaceId
from prefixwise.caches.prefix_cache import BlockTable, Match, PrefixCache


def blocks_for(tokens: int, block_size: int) -> int:
    """Return the blocks that hold `tokens` tokens."""
    return -(-tokens // block_size)


def new_blocks(match: Match, block_size: int) -> int:
    """Return the blocks that a prompt needs beyond those that its match brings or loads."""
    return blocks_for(match.tokens, block_size) - len(match.blocks) - match.loads


def admit(
    cache: PrefixCache,
    tokens: Sequence[int],
    namespace: NamespaceId = 0,
    *,
    contents: Sequence[Content] = (),
    limit: int | None = None,
    priority: int | None = None,
) -> tuple[Match, BlockTable | None]:
    """Look up, allocate and commit a whole prompt.

    Returns:
        The match, and the table; None where the prompt does not fit, which allocates nothing.
    """
    match = cache.match(tokens, namespace, contents=contents, limit=limit)
    needed = new_blocks(match, cache.block_size)
    if needed > cache.available(match):
        return match, None
    table = cache.lock(match, priority=priority)
    cache.take(table, blocks_for(len(tokens), cache.block_size) - len(table.blocks))
    cache.commit(table, tokens)
    return match, table


def append(cache: PrefixCache, table: BlockTable, tokens: Sequence[int]) -> bool:
    """Make room for the tokens that were appended to a request and commit them.

    Returns:
        False where there is no room; nothing is changed then.
    """
    needed = blocks_for(len(tokens), cache.block_size) - len(table.blocks)
    if needed > cache.available(table):
        return False
    if needed > 0:
        cache.take(table, needed)
    cache.commit(table, tokens)
    return True
