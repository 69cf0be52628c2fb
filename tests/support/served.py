"""Requests served whole, for tests of prefix caches."""

from __future__ import annotations

from prefixwise.caches.prefix_cache import BlockTable, PrefixCache
from prefixwise.caches.requests import admit


def run(cache: PrefixCache, tokens: list[int], namespace: bytes | int = 0, priority: int | None = None) -> int:
    """Serve a request from start to end; return its cached tokens."""
    match, table = admit(cache, tokens, namespace, priority=priority)
    assert table is not None
    cache.release(table, tokens)
    cache.check_integrity()
    return match.usable


def held(cache: PrefixCache, tokens: list[int]) -> BlockTable:
    """Admit a request and leave it running."""
    table = admit(cache, tokens)[1]
    assert table is not None
    return table
