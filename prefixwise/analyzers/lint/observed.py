"""What a record shows beside its text: cache markers in their places, headers, route, the vendor's own diagnosis."""

from __future__ import annotations

import msgspec

from prefixwise.core.request import Request


class MarkerPlace(msgspec.Struct, frozen=True):
    """A cache marker of a request.

    Attributes:
        pointer: Of the marker itself (`/system/0/cache_control`).
        kind: Section that it stands in.
        ttl: Seconds that it asks for.
        position: 0-based number of the block position it stands at, counted over the whole prompt as the provider's
            look-back counts.
    """

    pointer: str
    kind: str
    ttl: float
    position: int


class Diagnosis(msgspec.Struct, frozen=True):
    """What the vendor itself says of a miss: its word, and the tokens that it says were missed."""

    reason: str
    missed_tokens: int | None = None


class Observed(msgspec.Struct, frozen=True):
    """What was seen of one record.

    Attributes:
        markers: In cache order; `positions`: how many block positions the prompt has.
        automatic: Whether the provider is asked to place a marker by itself.
        headers: (pointer with `record:`, value) of the request headers that bear on caching; where they stand has an
            empty value.
        route: (pointer with `record:`, value) of what says who served the call, the most telling first; the model that
            answered is among them. Both are filled where a conversation has turns that were not served.
        diagnosis: None where the log has none.
    """

    markers: tuple[MarkerPlace, ...] = ()
    positions: int = 0
    automatic: bool = False
    headers: tuple[tuple[str, str], ...] = ()
    route: tuple[tuple[str, str], ...] = ()
    diagnosis: Diagnosis | None = None


def observe(request: Request) -> Observed | None:
    """Return what a request's record shows, None where there is nothing of the kind."""
    if request.automatic is not None:
        return Observed(automatic=True)
    return None
