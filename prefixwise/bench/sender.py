"""Sends one request after the other to an endpoint over a connection that is kept."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from prefixwise.clients.answer import Answer, exchange
from prefixwise.clients.connection import Connection
from prefixwise.clients.endpoint import Endpoint
from prefixwise.clients.protocol import Body

_TIMEOUT_S = 600.0


class Sent(NamedTuple):
    """An answer, and whether a connection had to be opened for it: then its times are not comparable."""

    answer: Answer
    opened: bool


class Sender(Protocol):
    """Whatever takes a request body and gives back an answer with its times."""

    async def send(self, body: Body, *, stream: bool = True) -> Sent:
        """Send a request and wait for its answer, complete or not. Raises ExchangeError where nobody is reached."""
        ...

    async def close(self) -> None:
        """Let go of what is held open."""
        ...


class HttpSender:
    """Sends over one HTTP connection; it is opened beforehand, and again where the server has closed it."""

    def __init__(self, endpoint: Endpoint, timeout: float = _TIMEOUT_S) -> None:
        self.endpoint = endpoint
        self._timeout = timeout
        self._tls = endpoint.tls
        self._connection: Connection | None = None

    async def open(self) -> None:
        """Connect where no connection is at hand. Raises ExchangeError."""
        if self._connection is None or not self._connection.usable:
            self._connection = await Connection.open(self.endpoint.host, self.endpoint.port, self._tls)

    async def send(self, body: Body, *, stream: bool = True) -> Sent:
        """Send a request; encoding it and connecting are over before the clock runs. Raises ExchangeError."""
        return await self.send_encoded(self.endpoint.encoded(body, stream=stream), stream=stream)

    async def send_encoded(self, request: bytes, *, stream: bool = True) -> Sent:
        """Send a request that was encoded before. Raises ExchangeError."""
        opened = self._connection is None or not self._connection.usable
        await self.open()
        if self._connection is None:
            raise AssertionError("there is no connection behind `open`")
        answer = await exchange(self._connection, self.endpoint.protocol, request, stream=stream, timeout=self._timeout)
        return Sent(answer, opened)

    async def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
