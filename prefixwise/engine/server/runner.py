"""An engine in a thread of its own, and the requests of an event loop to it."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from prefixwise.caches.block_keys import NamespaceId
from prefixwise.engine.engine import Engine, Update
from prefixwise.engine.request import Finish, Request, Sampling

T = TypeVar("T")


class BusyError(Exception):
    """More requests wait than are allowed to."""


class StoppedError(Exception):
    """The engine takes no more requests."""


class Handle:
    """A request as the event loop sees it.

    Attributes:
        request: The engine's; to be read once it has ended.
        updates: What comes, until one with `finish`.
    """

    def __init__(self, request: Request) -> None:
        self.request = request
        self.updates: asyncio.Queue[Update] = asyncio.Queue()


class Runner:
    """Runs an engine while there is work; everything else is done between its steps.

    Args:
        engine: The engine; nobody else may touch it from `start` on.
        most_waiting: Requests that may wait; one more is refused.
        warn: Called with what made a step fail.
    """

    def __init__(self, engine: Engine, most_waiting: int, warn: Callable[[str], None]) -> None:
        self.engine = engine
        self._most_waiting = most_waiting
        self._warn = warn
        self._commands: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._handles: dict[int, Handle] = {}
        self._stopping = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)

    def start(self) -> None:
        """Begin; called on the event loop that the requests come from."""
        self._loop = asyncio.get_running_loop()
        self._thread.start()

    async def stop(self) -> None:
        """End every request that is left, then the thread."""

        def end() -> None:
            for handle in list(self._handles.values()):
                self._cancel(handle)
            self._stopping = True

        self._commands.put(end)
        await asyncio.get_running_loop().run_in_executor(None, self._thread.join)

    async def submit(self, prompt: Sequence[int], sampling: Sampling, namespace: NamespaceId) -> Handle:
        """Take a request.

        Raises:
            UserError: It could never run.
            BusyError: Too many wait already.
            StoppedError: The engine is being stopped.
        """

        def take(engine: Engine) -> Handle:
            if len(engine.scheduler.waiting) >= self._most_waiting:
                raise BusyError(f"{self._most_waiting} requests are waiting")
            handle = Handle(engine.submit(prompt, sampling, namespace))
            self._handles[handle.request.number] = handle
            return handle

        return await self.call(take)

    def cancel(self, handle: Handle) -> None:
        """End a request soon, if it has not ended; its blocks are free then."""
        self._commands.put(lambda: self._cancel(handle))

    async def call(self, work: Callable[[Engine], T]) -> T:
        """Return what `work` returns, done between two steps.

        Raises:
            StoppedError: The engine is being stopped.
            Exception: What `work` raised.
        """
        if self._stopping or self._loop is None:
            raise StoppedError
        loop = self._loop
        done: asyncio.Future[T] = loop.create_future()

        def command() -> None:
            if self._stopping:
                _settle(loop, done, None, StoppedError())
                return
            try:
                found = work(self.engine)
            except Exception as problem:
                _settle(loop, done, None, problem)
            else:
                _settle(loop, done, found, None)

        self._commands.put(command)
        return await done

    def _run(self) -> None:
        while not self._stopping:
            if self.engine.idle:
                self._commands.get()()
            while not self._stopping and not self._commands.empty():
                self._commands.get()()
            if self._stopping or self.engine.idle:
                continue
            try:
                self._deliver(self.engine.step())
            except Exception as problem:
                self._warn(f"a step failed: {type(problem).__name__}: {str(problem)[:200]}")
                self._give_up()
        while not self._commands.empty():
            self._commands.get()()

    def _give_up(self) -> None:
        """Tell the requests of a failed step; all, where it failed before it had any, or it would fail for ever."""
        requests = [handle.request for handle in self._handles.values()]
        failed = [request for request in requests if request.finish == Finish.ERROR]
        if not failed:
            failed = [request for request in requests if self.engine.cancel(request)]
        self._deliver([Update(request, None, "", Finish.ERROR) for request in failed])

    def _cancel(self, handle: Handle) -> None:
        if self.engine.cancel(handle.request):
            self._deliver([Update(handle.request, None, "", Finish.CANCELLED)])

    def _deliver(self, updates: Sequence[Update]) -> None:
        pairs = [(self._handles[update.request.number], update) for update in updates if _tells(update)]
        for _, update in pairs:
            if update.finish is not None:
                del self._handles[update.request.number]
        if pairs and self._loop is not None:
            _on(self._loop, lambda: _put(pairs))


def _put(pairs: Sequence[tuple[Handle, Update]]) -> None:
    for handle, update in pairs:
        handle.updates.put_nowait(update)


def _tells(update: Update) -> bool:
    return update.token is not None or update.finish is not None


def _settle(loop: asyncio.AbstractEventLoop, done: asyncio.Future[Any], found: Any, problem: Exception | None) -> None:
    def settle() -> None:
        if done.cancelled():
            return
        if problem is not None:
            done.set_exception(problem)
        else:
            done.set_result(found)

    _on(loop, settle)


def _on(loop: asyncio.AbstractEventLoop, work: Callable[[], object]) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(work)
