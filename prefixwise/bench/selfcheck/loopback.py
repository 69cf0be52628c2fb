"""The server of the self-check, a process of its own: `python -m prefixwise.bench.selfcheck.loopback`.

It speaks chat completions over kept connections. Every answer begins after a random delay between `--low` and `--high`
and says in its first event when, by its own clock, the request was there and when the event was handed to the socket.
It prints its port and ends when its standard input does.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import random
import sys
from time import monotonic_ns

TOKENS = 8
"""Events with output in an answer, the first one included."""

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
_REST = b'data: {"id":"x","choices":[{"index":0,"delta":{"content":"on "}}]}\n\n'
_LAST = b'data: {"id":"x","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'


class Loopback(asyncio.Protocol):
    """Answers the requests of one connection, one after the other."""

    def __init__(self, low: float, high: float, gap: float, rng: random.Random) -> None:
        self._low, self._high, self._gap, self._rng = low, high, gap, rng
        self._transport: asyncio.Transport | None = None
        self._held = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the connection."""
        self._transport = transport if isinstance(transport, asyncio.Transport) else None

    def data_received(self, data: bytes) -> None:
        """Take a request; its answer begins after the delay."""
        received = monotonic_ns()
        self._held += data
        head, found, body = self._held.partition(b"\r\n\r\n")
        if not found or len(body) < _length(head):
            return
        self._held = b""
        loop = asyncio.get_running_loop()
        if self._transport is not None:
            self._transport.write(HEAD)
        delay = self._rng.uniform(self._low, self._high)
        loop.call_later(delay, self._first, received)
        for place in range(1, TOKENS):
            loop.call_later(delay + place * self._gap, self._write, _REST)
        loop.call_later(delay + TOKENS * self._gap, self._end)

    def _first(self, received: int) -> None:
        stamps = f'"received":{received},"sent":{monotonic_ns()}'
        self._write(b'data: {"id":"x",%s,"choices":[{"index":0,"delta":{"content":"go "}}]}\n\n' % stamps.encode())

    def _write(self, event: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(b"%x\r\n%s\r\n" % (len(event), event))

    def _end(self) -> None:
        self._write(_LAST)
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(b"0\r\n\r\n")


def _length(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    return 0


async def _serve(given: argparse.Namespace) -> None:
    rng = random.Random(given.seed)  # noqa: S311 - not for secrets
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Loopback(given.low, given.high, given.gap, rng), "127.0.0.1", 0)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    async with server:
        await loop.run_in_executor(None, sys.stdin.buffer.read)


def main() -> None:
    """Serve until standard input ends."""
    parser = argparse.ArgumentParser(prog="prefixwise.bench.selfcheck.loopback")
    parser.add_argument("--low", type=float, default=0.02)
    parser.add_argument("--high", type=float, default=0.06)
    parser.add_argument("--gap", type=float, default=0.005)
    parser.add_argument("--seed", type=int, default=0)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(parser.parse_args()))


if __name__ == "__main__":
    main()
