"""Connections for requests that run at the same time: one each, kept and used again."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from prefixwise.bench.sender import HttpSender, Sent
from prefixwise.clients.endpoint import Endpoint


class Pool:
    """Sends each request over a connection that is free, else over a new one.

    Args:
        endpoints: Where requests go, by the name of the protocol of their body.
        timeout: Seconds until an answer is given up.
    """

    def __init__(self, endpoints: Mapping[str, Endpoint], timeout: float = 600.0) -> None:
        self._endpoints, self._timeout = endpoints, timeout
        self._free: dict[str, list[HttpSender]] = {name: [] for name in endpoints}

    async def open(self, name: str, count: int) -> None:
        """Connect so often beforehand: the first requests would else wait for it. Raises ExchangeError."""
        senders = [HttpSender(self._endpoints[name], self._timeout) for _ in range(count)]
        await asyncio.gather(*(sender.open() for sender in senders))
        self._free[name] += senders

    async def send(self, name: str, content: bytes) -> Sent:
        """Send a body over a free connection and wait for the answer. Raises ExchangeError."""
        request = self._endpoints[name].framed(content, stream=True)
        free = self._free[name]
        sender = free.pop() if free else HttpSender(self._endpoints[name], self._timeout)
        try:
            return await sender.send_encoded(request)
        finally:
            free.append(sender)

    async def close(self) -> None:
        """Close all connections."""
        for senders in self._free.values():
            for sender in senders:
                await sender.close()
