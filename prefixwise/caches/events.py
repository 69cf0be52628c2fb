"""What a prefix cache did: one frozen record for every allocation, hit, eviction, demotion and load.

A cache calls the listener that it was given with each event, in order; `events.append` of a list is one. Times are
stamps of the cache's logical clock, never wall time, so the same calls give the same events.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import msgspec

from prefixwise.caches.block_keys import Key, NamespaceId


class Allocated(msgspec.Struct, frozen=True, tag=True):
    """Free blocks were given to a request; what they held before was evicted first."""

    time: int
    table: int
    blocks: tuple[int, ...]


class Hit(msgspec.Struct, frozen=True, tag=True):
    """A request took cached tokens: `tokens` of them from `tier`, in device blocks `blocks`."""

    time: int
    table: int
    namespace: NamespaceId
    tier: str
    tokens: int
    blocks: tuple[int, ...]


class Stored(msgspec.Struct, frozen=True, tag=True):
    """Device blocks became findable: `tokens` tokens of `namespace` in `blocks`."""

    time: int
    table: int
    namespace: NamespaceId
    tokens: int
    blocks: tuple[int, ...]


class Unregistered(msgspec.Struct, frozen=True, tag=True):
    """Blocks of a step that failed can no longer be found; their request still holds them."""

    time: int
    blocks: tuple[int, ...]


class Evicted(msgspec.Struct, frozen=True, tag=True):
    """Cached tokens are lost from `tier`: device blocks by id, or one entry of a lower tier by key."""

    time: int
    tier: str
    tokens: int
    blocks: tuple[int, ...] = ()
    key: Key | None = None


class Demoted(msgspec.Struct, frozen=True, tag=True):
    """An entry left `source` (the device: its `block` too) and is now in the lower tier `target`, or still is.

    Entries of caches whose lower tiers are not found by key have none.
    """

    time: int
    key: Key | None
    source: str
    target: str
    block: int | None = None


class Copied(msgspec.Struct, frozen=True, tag=True):
    """An entry was also written to the lower tier `target`, from a device block or (None) from another tier."""

    time: int
    key: Key
    block: int | None
    target: str


class Loaded(msgspec.Struct, frozen=True, tag=True):
    """An entry of the lower tier `source` was read back into a device block."""

    time: int
    key: Key | None
    block: int
    source: str


class Freed(msgspec.Struct, frozen=True, tag=True):
    """Blocks that hold nothing findable went back to the free blocks."""

    time: int
    blocks: tuple[int, ...]


Event: TypeAlias = Allocated | Hit | Stored | Unregistered | Evicted | Demoted | Copied | Loaded | Freed
Listener: TypeAlias = Callable[[Event], None]


def ignore(event: Event) -> None:
    """Listen to nothing."""


class LogicalClock:
    """Orders what a cache does; it moves only when told to.

    Attributes:
        stamps: Stamps given so far.
        now: Time that durations (retention) are compared with, in the caller's unit; `advance` moves it.
    """

    def __init__(self) -> None:
        self.stamps = 0
        self.now = 0.0

    def stamp(self) -> int:
        """Return the next stamp, larger than all before."""
        self.stamps += 1
        return self.stamps

    def advance(self, to: float) -> None:
        """Move `now` forward to `to`. Raises ValueError for a time that has passed."""
        if to < self.now:
            raise ValueError(f"the clock is at {self.now} and cannot go back to {to}")
        self.now = to
