"""One HTTP/1.1 connection whose bytes are stamped as they arrive: the timed path of every measurement.

It is as small as that, since what lies between the socket and the clock is the error of a measurement. Nothing is
retried, redirected, decompressed or pooled here.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from time import perf_counter_ns

import msgspec

from prefixwise.clients.failures import Exchanged, ExchangeError, Failure
from prefixwise.clients.http_framing import Head, ResponseReader

OnBody = Callable[[bytes, int], None]
"""Takes bytes of a body and when they came (nanoseconds of `perf_counter_ns`)."""


class Connecting(msgspec.Struct, frozen=True):
    """How long it took to connect, in seconds: to look up the name, to reach the host, to agree on TLS."""

    lookup_s: float
    tcp_s: float
    tls_s: float


class Connection(asyncio.Protocol):
    """A connection for one exchange after the other; `open` makes it."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._lost: Exception | None = None
        self._reader: ResponseReader | None = None
        self._on_body: OnBody | None = None
        self._ended: asyncio.Future[None] | None = None
        self._first_byte = self._head = self._end = self._reads = self._size = 0
        self.exchanges = 0
        self.connecting = Connecting(0.0, 0.0, 0.0)

    @classmethod
    async def open(cls, host: str, port: int, tls: ssl.SSLContext | None = None, timeout: float = 10.0) -> Connection:
        """Connect. Raises ExchangeError where that does not work within `timeout` seconds."""
        try:
            async with asyncio.timeout(timeout):
                return await cls._open(host, port, tls)
        except TimeoutError:
            raise ExchangeError(Failure.CONNECT, f"no connection to {host}:{port} within {timeout:g} s") from None
        except (OSError, ssl.SSLError) as problem:
            raise ExchangeError(Failure.CONNECT, f"no connection to {host}:{port}: {_said(problem)}") from problem

    @classmethod
    async def _open(cls, host: str, port: int, tls: ssl.SSLContext | None) -> Connection:
        loop = asyncio.get_running_loop()
        began = perf_counter_ns()
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        looked_up = perf_counter_ns()
        sock = await _reach(loop, found)
        reached = perf_counter_ns()
        _, connection = await loop.create_connection(cls, sock=sock, ssl=tls, server_hostname=host if tls else None)
        agreed = perf_counter_ns()
        connection.connecting = Connecting(
            (looked_up - began) / 1e9, (reached - looked_up) / 1e9, (agreed - reached) / 1e9 if tls else 0.0
        )
        return connection

    @property
    def usable(self) -> bool:
        """Whether another exchange may begin."""
        return self._transport is not None and self._reader is None and not self._transport.is_closing()

    async def exchange(self, request: bytes, on_body: OnBody, timeout: float = 600.0) -> Exchanged:
        """Send an encoded request and return the answer when it is complete; its body goes to `on_body`.

        A connection whose exchange failed or was cancelled is closed, and cannot be used again.

        Raises:
            ExchangeError: There was no complete answer within `timeout` seconds.
            RuntimeError: Another exchange is under way or the connection is closed: see `usable`.
        """
        if not self.usable or self._transport is None:
            raise RuntimeError("the connection is not free")
        self._reader, self._on_body = ResponseReader(), on_body
        self._ended = asyncio.get_running_loop().create_future()
        self._first_byte = self._head = self._end = self._reads = self._size = 0
        self.exchanges += 1
        sent = perf_counter_ns()
        try:
            async with asyncio.timeout(timeout):
                sent = perf_counter_ns()
                self._transport.write(request)
                await self._ended
        except TimeoutError:
            what = f"no complete answer within {timeout:g} s"
            raise ExchangeError(Failure.TIMEOUT, what, self._exchanged(sent)) from None
        except ExchangeError as problem:
            problem.seen = self._exchanged(sent)
            raise
        else:
            return self._exchanged(sent)
        finally:
            self._release()

    def _exchanged(self, sent: int) -> Exchanged:
        head = self._reader.head if self._reader else None
        first, at_head, end = self._first_byte, self._head, self._end
        status, fields = (head.status, head.fields) if head else (0, {})
        return Exchanged(status, fields, sent, first, at_head, end, self._reads, self._size)

    def _release(self) -> None:
        reader, transport = self._reader, self._transport
        self._reader = self._on_body = self._ended = None
        reusable = reader is not None and reader.done and _reusable(reader.head) and not reader.rest
        if transport is not None and not reusable:
            transport.abort() if reader is None or not reader.done else transport.close()

    def close(self) -> None:
        """Close the connection; what is under way fails."""
        if self._transport is not None:
            self._transport.close()

    # -- what asyncio calls --------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the open transport."""
        self._transport = transport if isinstance(transport, asyncio.Transport) else None

    def data_received(self, data: bytes) -> None:
        """Stamp bytes and pass on those of the body."""
        now = perf_counter_ns()
        reader, ended = self._reader, self._ended
        if reader is None or ended is None or ended.done() or self._on_body is None:
            self.close()  # nobody asked
            return
        self._reads += 1
        self._first_byte = self._first_byte or now
        try:
            for part in reader.feed(data):
                self._size += len(part)
                self._on_body(part, now)
        except Exception as problem:
            ended.set_exception(problem)
            return
        if reader.head is not None:
            self._head = self._head or now
        if reader.done:
            self._end = now
            ended.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        """Take the end of the connection: of some answers it is the end too."""
        now = perf_counter_ns()
        reader, ended = self._reader, self._ended
        self._transport = None
        if reader is None or ended is None or ended.done():
            return
        if not reader.started:
            how = _said(exc) if exc else "closed by the server"
            ended.set_exception(ExchangeError(Failure.LOST, f"the connection was lost before an answer: {how}"))
            return
        try:
            reader.close()
        except ExchangeError as problem:
            ended.set_exception(problem)
            return
        self._end = now
        ended.set_result(None)


async def _reach(loop: asyncio.AbstractEventLoop, found: list[tuple]) -> socket.socket:  # type: ignore[type-arg]
    """Return a socket connected to the first of the addresses that answers."""
    last: OSError | None = None
    for family, kind, protocol, _, address in found:
        sock = socket.socket(family, kind, protocol)
        try:
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await loop.sock_connect(sock, address)
        except OSError as problem:
            sock.close()
            last = problem
        except BaseException:
            sock.close()
            raise
        else:
            return sock
    raise last or OSError("the name has no address")


def _reusable(head: Head | None) -> bool:
    framed = head is not None and (head.chunked or head.length is not None or head.status in (204, 304))
    return framed and head is not None and head.keeps_open


def _said(problem: Exception) -> str:
    return getattr(problem, "strerror", None) or str(problem) or type(problem).__name__
