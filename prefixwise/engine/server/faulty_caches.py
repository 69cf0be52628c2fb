"""Caches that are wrong on purpose: entries that come late or expire, and tiers that mix up tenants."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from prefixwise.caches.block_keys import BlockHash, Content, Key, NamespaceId, extend_hashes
from prefixwise.caches.prefix_cache import BlockTable, Match, PrefixCache
from prefixwise.caches.tiers import Tiers


class Times(msgspec.Struct, frozen=True):
    """When a cache finds what was written.

    Attributes:
        ttl: Seconds after which what was not used is not found; 0 for ever.
        ttl_fixed: Seconds after which what was written is not found, however often it was used; 0 for ever.
        visible: Seconds before which what was written is not found.
        minimum: Tokens of a prompt below which nothing is found.
    """

    ttl: float = 0.0
    ttl_fixed: float = 0.0
    visible: float = 0.0
    minimum: int = 0


class TimedCache:
    """A prefix cache whose entries are found at some times only, and by long prompts only.

    Args:
        cache: The cache.
        times: When they are found.
        clock: Seconds that only grow.
    """

    def __init__(self, cache: PrefixCache, times: Times, clock: Callable[[], float]) -> None:
        self._cache = cache
        self._times = times
        self._clock = clock
        self._used: dict[Key, float] = {}
        self._written: dict[Key, float] = {}

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
        """Return what is cached and may be found."""
        now = self._clock()
        living = 0
        for key in self._keys(tokens, len(tokens), namespace):
            if not self._lives(key, now) or now - self._written[key] < self._times.visible:
                break
            living += self._cache.block_size
        if len(tokens) < self._times.minimum:
            living = 0
        most = len(tokens) - 1 if limit is None else limit
        return self._cache.match(tokens, namespace, contents=contents, limit=max(0, min(most, living)), earlier=earlier)

    def _lives(self, key: Key, now: float) -> bool:
        if key not in self._used:
            return False
        times = self._times
        unused, old = now - self._used[key], now - self._written[key]
        return not (times.ttl and unused > times.ttl) and not (times.ttl_fixed and old > times.ttl_fixed)

    def commit(self, table: BlockTable, tokens: Sequence[int], computed: int | None = None) -> None:
        """Note a use of the tokens, and hand them on."""
        self._note(tokens, len(tokens) if computed is None else computed, table.namespace)
        self._cache.commit(table, tokens, computed)

    def release(self, table: BlockTable, tokens: Sequence[int] | None = None) -> None:
        """Note a use of a finished request's tokens, and hand it on."""
        self._note(tokens or (), len(tokens or ()), table.namespace)
        self._cache.release(table, tokens)

    def _note(self, tokens: Sequence[int], end: int, namespace: NamespaceId) -> None:
        now = self._clock()
        for key in self._keys(tokens, end, namespace):
            if not self._lives(key, now):
                self._written[key] = now
            self._used[key] = now

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
