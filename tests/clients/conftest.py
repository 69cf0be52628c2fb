"""A server whose answers are written out byte by byte."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

Script = list[bytes | float | None]
"""What a server does with one request: bytes are sent, a number is a pause, None closes the connection."""


class Scripted:
    """A server on a free port that plays one script a request, in order, whatever is asked."""

    def __init__(self, scripts: list[Script]) -> None:
        self.scripts = list(scripts)
        self.requests: list[bytes] = []
        self.connections = 0
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while self.scripts:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(
                    next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length"))[15:]
                )
                self.requests.append(head + await reader.readexactly(length))
                if not await self._play(self.scripts.pop(0), writer):
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _play(self, script: Script, writer: asyncio.StreamWriter) -> bool:
        for step in script:
            if step is None:
                return False
            if isinstance(step, float):
                await asyncio.sleep(step)
            else:
                writer.write(step)
                await writer.drain()
        return True


@asynccontextmanager
async def scripted(scripts: list[Script], **tls) -> AsyncIterator[Scripted]:
    played = Scripted(scripts)
    server = await asyncio.start_server(played.serve, "127.0.0.1", 0, **tls)
    played.port = server.sockets[0].getsockname()[1]
    async with server:
        yield played


@pytest.fixture
def run() -> Callable[[Awaitable], object]:
    """Run a coroutine to its end, within ten seconds."""

    async def limited(work: Awaitable) -> object:
        async with asyncio.timeout(10):
            return await work

    return lambda work: asyncio.run(limited(work))
