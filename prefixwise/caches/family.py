"""What a matching family of hosted caches is; implementations stand in `families/`, one file each."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from prefixwise.caches.lane import Lane
from prefixwise.core.registry import Registry


class MatchingFamily(msgspec.Struct, frozen=True):
    """How a kind of cache matches.

    Attributes:
        replay: Takes the rows of a lane through an empty cache and fills in the lane's outcome.
        needs_layouts: Whether it counts blocks, so that the corpus has to be read with layouts.
        writes: Whether what it stores is counted, because providers charge for it.
    """

    replay: Callable[[Lane], None]
    needs_layouts: bool = False
    writes: bool = False


FAMILIES: Registry[MatchingFamily] = Registry("matching family", "prefixwise.caches.families", "families")
