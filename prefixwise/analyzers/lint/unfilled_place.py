"""Where a placeholder of a template stands in a text that was sent."""

from __future__ import annotations

import msgspec

from prefixwise.core.finding import Where


class Unfilled(msgspec.Struct, frozen=True):
    """One placeholder that was sent as it is written.

    Attributes:
        row: First request that has it.
        where, field, char_offset: Its place.
        text: The placeholder.
        value: What another request of the application has in its place, empty where none was seen to have one.
        content: Of the item that holds it, where all requests with that item have it.
    """

    row: int
    where: Where
    field: str
    char_offset: int
    text: str
    value: str = ""
    content: int = 0
