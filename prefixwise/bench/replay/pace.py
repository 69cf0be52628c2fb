"""When each request of a replay is sent: at the log's arrivals, or as soon as one of so many streams is free."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Coroutine, Sequence
from time import perf_counter

from prefixwise.bench.replay.work import Item

Send = Callable[[Item, float], Coroutine[None, None, None]]
"""Sends an item that was due at a time (seconds since the beginning), and takes its answer."""


def due(at: float, speed: float, ramp: float = 0.0) -> float:
    """Return when a request of a log's second `at` is due, at `speed` times the log's pace.

    Over the first `ramp` seconds the pace grows evenly from nothing to `speed`.
    """
    scaled = at / speed
    if ramp <= 0:
        return scaled
    return math.sqrt(2 * ramp * scaled) if scaled < ramp / 2 else scaled + ramp / 2


async def open_loop(items: Sequence[Item], send: Send, speed: float, ramp: float, began: float) -> None:
    """Send every item when it is due, however many are under way: a slow server meets the load that users make.

    Deadlines are absolute, so that lateness does not add up. Timers of the loop are about a millisecond late; when a
    request really went out is what the rows hold.
    """
    first = items[0].at if items else 0.0
    async with asyncio.TaskGroup() as group:
        for item in items:
            when = due(item.at - first, speed, ramp)
            while (wait := began + when - perf_counter()) > 0:
                await asyncio.sleep(wait)
            group.create_task(send(item, when))


async def closed_loop(items: Sequence[Item], send: Send, concurrency: int, ramp: float, began: float) -> None:
    """Keep so many requests under way; streams begin one after the other over `ramp` seconds.

    A turn of a conversation waits until the turn before it is answered: whoever sends it needs the answer.
    """
    queue = _Queue(items)

    async def stream(number: int) -> None:
        await asyncio.sleep(ramp * number / concurrency)
        while (item := await queue.take()) is not None:
            try:
                await send(item, perf_counter() - began)
            finally:
                queue.done(item)

    async with asyncio.TaskGroup() as group:
        for number in range(concurrency):
            group.create_task(stream(number))


class _Queue:
    """Items in order, but never two of one conversation at a time."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._left = dict.fromkeys(range(len(items)))  # in order, and quick to take from
        self._items = items
        self._busy: set[str] = set()
        self._freed = asyncio.Event()

    async def take(self) -> Item | None:
        """Return the next item that may be sent, None when there is none left."""
        while self._left:
            for place in self._left:
                item = self._items[place]
                if item.session not in self._busy:
                    del self._left[place]
                    if item.session:
                        self._busy.add(item.session)
                    return item
            self._freed.clear()
            await self._freed.wait()
        return None

    def done(self, item: Item) -> None:
        """Take note that an item is answered."""
        self._busy.discard(item.session)
        self._freed.set()
