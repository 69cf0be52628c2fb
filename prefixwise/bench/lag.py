"""How late the client itself is: a clock that ought to tick every few milliseconds, and by how much it did not."""

from __future__ import annotations

import asyncio
import contextlib
import resource
from time import perf_counter

TICK_S = 0.005
GRAIN_S = 0.002
"""How late a timer of an idle loop may be: it is rounded up to whole milliseconds, and the core has to wake up."""


class LagMeter:
    """While open, measures how much later than asked for the event loop comes back; `worst` since the last reset.

    What runs long in the loop, and other processes that hold the core, make every time that is measured too long.

    Args:
        keep: Whether every tick's lateness is kept, in `seen`.
    """

    def __init__(self, *, keep: bool = False) -> None:
        self.worst = 0.0
        self.seen: list[float] = []
        self._keep = keep
        self._task: asyncio.Task[None] | None = None

    def reset(self) -> None:
        """Forget what was seen."""
        self.worst = 0.0

    async def _tick(self) -> None:
        while True:
            began = perf_counter()
            await asyncio.sleep(TICK_S)
            late = perf_counter() - began - TICK_S - GRAIN_S
            self.worst = max(self.worst, late)
            if self._keep:
                self.seen.append(max(0.0, late))

    async def __aenter__(self) -> LagMeter:
        self._task = asyncio.create_task(self._tick())
        return self

    async def __aexit__(self, *problem: object) -> None:
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task


def cpu_seconds() -> float:
    """Return the CPU time that this process has taken."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
