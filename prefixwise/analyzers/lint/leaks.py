"""What was found of private values in texts that several share: where and of what kind, never the value."""

from __future__ import annotations

import msgspec

from prefixwise.core.finding import Where
from prefixwise.core.private_data import Exposed


class Leak(msgspec.Struct, frozen=True):
    """One private value in a shared text.

    Attributes:
        row: First request that has it.
        where, field, char_offset: Its place.
        value: Its bounds and its kind.
        sharers: How many tenants have the text, or conversations where no tenants are known, as far as was counted.
        of_tenants: Which of the two.
        digest: A keyed hash of the value, where one was asked for.
    """

    row: int
    where: Where
    field: str
    char_offset: int
    value: Exposed
    sharers: int
    of_tenants: bool
    digest: str = ""
