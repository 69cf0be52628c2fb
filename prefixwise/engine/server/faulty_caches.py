"""Caches that are wrong on purpose: entries that expire, and tiers that mix up tenants."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from prefixwise.caches.block_keys import BlockHash, Content, Key, NamespaceId, extend_hashes
from prefixwise.caches.prefix_cache import BlockTable, Match, PrefixCache
from prefixwise.caches.tiers import Tiers


class ExpiringCache:
    """A prefix cache in which what was not used for some time is not found.

    Args:
        cache: The cache.
        seconds: How long entries live after their last use.
        clock: Seconds that only grow.
    """

    def __init__(self, cache: PrefixCache, seconds: float, clock: Callable[[], float]) -> None:
        self._cache = cache
        self._seconds = seconds
        self._clock = clock
        self._used: dict[Key, float] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)

    def match(
        self,
        tokens: Sequence[int],
        namespace: NamespaceId = 0,
        *,
        contents: Sequence[Content] = (),
        limit: int | None = None,
        earlier: Match | None = None,
    ) -> Match:
        """Return what is cached and not too old."""
        now = self._clock()
        living = 0
        for key in self._keys(tokens, len(tokens), namespace):
            if now - self._used.get(key, float("-inf")) > self._seconds:
                break
            living += self._cache.block_size
        most = len(tokens) - 1 if limit is None else limit
        return self._cache.match(tokens, namespace, contents=contents, limit=max(0, min(most, living)), earlier=earlier)

    def commit(self, table: BlockTable, tokens: Sequence[int], computed: int | None = None) -> None:
        """Note a use of the tokens, and hand them on."""
        now = self._clock()
        end = len(tokens) if computed is None else computed
        self._used.update((key, now) for key in self._keys(tokens, end, table.namespace))
        self._cache.commit(table, tokens, computed)

    def release(self, table: BlockTable, tokens: Sequence[int] | None = None) -> None:
        """Note a use of a finished request's tokens, and hand it on."""
        now = self._clock()
        self._used.update((key, now) for key in self._keys(tokens or (), len(tokens or ()), table.namespace))
        self._cache.release(table, tokens)

    def _keys(self, tokens: Sequence[int], end: int, namespace: NamespaceId) -> Iterable[Key]:
        hashes: list[BlockHash] = []
        extend_hashes(hashes, tokens, end // self._cache.block_size, self._cache.block_size)
        return [(namespace, one) for one in hashes]


class LeakyTiers(Tiers):
    """Tiers that find a block whoever wrote it."""

    def find(self, key: Key) -> str | None:
        """Return the nearest tier that has an entry, of any namespace."""
        return super().find(_anyone(key))

    def pin(self, keys: Iterable[Key]) -> None:
        """Keep entries."""
        super().pin(map(_anyone, keys))

    def unpin(self, keys: Iterable[Key]) -> None:
        """End a `pin`."""
        super().unpin(map(_anyone, keys))

    def used(self, key: Key, block: int) -> None:
        """Note a use."""
        super().used(_anyone(key), block)

    def evicting(self, key: Key, block: int) -> str | None:
        """Note an eviction."""
        return super().evicting(_anyone(key), block)

    def load(self, key: Key, block: int) -> str | None:
        """Read an entry."""
        return super().load(_anyone(key), block)


def _anyone(key: Key) -> Key:
    return 0, key[1]
