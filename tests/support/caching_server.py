"""A server that speaks chat completions and caches prefixes: one token a word, times by a formula, faults on demand."""

from __future__ import annotations

import asyncio
import json
import threading
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass
class Faults:
    """What is wrong with it.

    Attributes:
        caches: False for no cache at all.
        usage: Whether there is any; `reports`: whether it counts cached tokens; `lies`: what it counts in their place.
        gains: Whether cached tokens save time.
        breaks_at: Number of the request at which it closes the connection in the middle, once.
    """

    caches: bool = True
    reports: bool = True
    usage: bool = True
    lies: int | None = None
    gains: bool = True
    breaks_at: int | None = None
    cold_hits: bool = False


@dataclass
class CachingServer:
    """Serves one request after the other."""

    block: int = 16
    header: int = 5
    fixed_s: float = 0.002
    token_s: float = 0.00006
    faults: Faults = field(default_factory=Faults)
    port: int = 0
    served: int = 0
    bodies: list[dict] = field(default_factory=list)
    _blocks: set[tuple] = field(default_factory=set)

    def tokens(self, body: dict) -> list[str]:
        words = ["<s>"] * self.header
        for message in body["messages"]:
            words += [f"<{message['role']}>", *message["content"].split()]
        return [*words, "<assistant>"]

    def look(self, body: dict) -> tuple[int, int]:
        """Return prompt tokens and cached tokens, and remember the prompt."""
        words = self.tokens(body)
        salt = body.get("cache_salt", "")
        chains = [(salt, *words[: at + self.block]) for at in range(0, len(words) - self.block + 1, self.block)]
        hit = 0
        for chain in chains[: (len(words) - 1) // self.block]:
            if chain not in self._blocks:
                break
            hit += self.block
        if self.faults.caches:
            self._blocks.update(chains)
        return len(words), hit

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(line for line in head.split(b"\r\n") if line.startswith(b"content-length"))
                body = json.loads(await reader.readexactly(int(length[15:])))
                self.bodies.append(body)
                self.served += 1
                if self.served == self.faults.breaks_at:
                    break
                await self._answer(body, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _answer(self, body: dict, writer: asyncio.StreamWriter) -> None:
        total, hit = self.look(body)
        await asyncio.sleep(self.fixed_s + self.token_s * (total - (hit if self.faults.gains else 0)))
        usage = {"prompt_tokens": total, "completion_tokens": 1, "total_tokens": total + 1}
        if self.faults.reports:
            said = hit if self.faults.lies is None else self.faults.lies
            usage["prompt_tokens_details"] = {"cached_tokens": total - 1 if self.faults.cold_hits else said}
        chunks = [
            {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "ok"}}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]},
            *([{"choices": [], "usage": usage}] if self.faults.usage else []),
        ]
        data = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
        head = f"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {len(data)}\r\n\r\n"
        writer.write((head + data).encode())
        await writer.drain()


@asynccontextmanager
async def caching(tls=None, **settings):
    made = CachingServer(**settings)
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0, ssl=tls)
    made.port = server.sockets[0].getsockname()[1]
    async with server:
        yield made


class ServedInThread:
    """A caching server in a thread, for clients that are processes of their own."""

    def __init__(self, **settings) -> None:
        self._settings = settings
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()))
        self.server = CachingServer()

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        async with caching(**self._settings) as self.server:
            self._ready.set()
            await self._stop.wait()

    def __enter__(self) -> CachingServer:
        self._thread.start()
        self._ready.wait(5)
        return self.server

    def __exit__(self, *problem) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(5)
