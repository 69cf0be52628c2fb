"""What rules for histories share: they look at the first message that differs, and at what became of the others."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, NamedTuple

from prefixwise.analyzers.lint.alignment import Alignment, Message
from prefixwise.analyzers.lint.blocks import Block
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.compared import Compared
from prefixwise.analyzers.rule import PairRule
from prefixwise.analyzers.values.hunks import common_prefix, differing
from prefixwise.core.finding import Where

_SHOWN = 200


class HistoryRule(PairRule):
    """Asked where an earlier message differs, with both histories aligned."""

    where: ClassVar[tuple[Where, ...]] = (Where.MESSAGES,)

    def detect(self, pair: Compared) -> Claim | None:
        """Return what `look` says of two histories, None where the texts part elsewhere."""
        alignment = pair.alignment
        return None if alignment is None else self.look(pair, alignment)

    @abstractmethod
    def look(self, pair: Compared, alignment: Alignment) -> Claim | None:
        """Return what it has to say of two histories, None where it is not its kind."""

    def claim(self, pair: Compared, field: str, message: str, before: str = "", after: str = "") -> Claim:
        """Return a claim on a pair; texts are cut to what is worth showing."""
        return Claim(
            rule=self.name,
            where=Where.MESSAGES,
            after=pair.after,
            before=pair.before,
            field=field,
            from_text=before[:_SHOWN],
            to_text=after[:_SHOWN],
            message=message,
        )


class Replaced(NamedTuple):
    """The first blocks in which a message differs from what it became: what was there, and what is there now.

    Attributes:
        left, right: The message before and after.
        lefts, rights: The differing blocks; one of the two may be empty.
        at: Number of the first differing block in the later message.
    """

    left: Message
    right: Message
    lefts: tuple[Block, ...]
    rights: tuple[Block, ...]
    at: int

    @property
    def field(self) -> str:
        """Pointer of the first differing block: in the later body where it is there, else where it was."""
        if self.rights:
            return self.right.entry.pointer + self.rights[0].pointer
        return self.left.entry.pointer + self.lefts[0].pointer


def replaced(alignment: Alignment) -> Replaced | None:
    """Return how the first differing message differs from what it became; None where it did not become anything."""
    right = alignment.partner.get(alignment.start)
    if right is None:
        return None
    one, other = alignment.before(alignment.start), alignment.after(right)
    ranges = differing([block.said for block in one.blocks], [block.said for block in other.blocks])
    if not ranges:
        return None
    low, high, down, up = ranges[0]
    return Replaced(one, other, one.blocks[low:high], other.blocks[down:up], down)


def offset_in(before: str, after: str) -> int | None:
    """Return how many characters two texts share from their start, None where there is no text on one side."""
    return common_prefix(before, after) if before and after else None


def messages(count: int) -> str:
    """Return a number of messages in words."""
    return f"{count} message{'s' if count != 1 else ''}"


def name_of(message: Message) -> str:
    """Return what people call a message: who speaks, and where it stands."""
    return f"the {message.entry.role or 'first'} message `{message.entry.pointer}`"
