"""The queue of blocks that no request holds, in the order in which they are given out."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator


class FreeQueue:
    """Block ids, the next one to give out first; every operation takes the same time however long it is.

    Args:
        blocks: Ids in their first order.
    """

    def __init__(self, blocks: Iterable[int]) -> None:
        self._order: OrderedDict[int, None] = OrderedDict.fromkeys(blocks)

    def __len__(self) -> int:
        return len(self._order)

    def __iter__(self) -> Iterator[int]:
        return iter(self._order)

    def __contains__(self, block: int) -> bool:
        return block in self._order

    def pop(self) -> int:
        """Take the block at the head. Raises KeyError when there is none."""
        return self._order.popitem(last=False)[0]

    def remove(self, block: int) -> None:
        """Take a block out of the middle. Raises KeyError when it is not in the queue."""
        del self._order[block]

    def append(self, blocks: Iterable[int]) -> None:
        """Put blocks at the tail in their order."""
        for block in blocks:
            self._order[block] = None

    def prepend(self, blocks: list[int]) -> None:
        """Put blocks at the head; the first of them is the next to be given out."""
        for block in reversed(blocks):
            self._order[block] = None
            self._order.move_to_end(block, last=False)
