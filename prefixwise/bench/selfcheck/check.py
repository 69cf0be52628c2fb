"""Measures the client's error: what it says a first token took, less what the server knows that it took."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from time import perf_counter

import msgspec

from prefixwise.bench.lag import cpu_seconds
from prefixwise.clients.answer import answer_of, record
from prefixwise.clients.connection import Connection
from prefixwise.clients.endpoint import Endpoint
from prefixwise.clients.protocol import Ask, Part
from prefixwise.clients.protocols.openai_chat import OpenAIChat
from prefixwise.clients.server_sent_events import Event
from prefixwise.core.errors import UserError
from prefixwise.stats.quantiles import quantile, quantile_floor

BODY = 2048
"""Bytes of the message in a request."""

BOUND_CPU = 0.8
BOUND_P99_S = 0.005
"""Share of a core, and error of the slowest hundredth, from which the client is what limits a measurement."""


class SelfCheck(msgspec.Struct, frozen=True, kw_only=True):
    """The client's own error, in seconds, at one concurrency.

    Attributes:
        concurrency: Streams at a time; `requests`: how many in all.
        median, p90, p99: Of the error; None where there are too few requests for that quantile.
        worst: The largest one.
        cpu: Share of one core that the client took.
        smallest: A difference smaller than this is not to be believed: twice the error of the slowest hundredth.
        bound: Whether the client itself limits what can be measured here.
    """

    concurrency: int
    requests: int
    median: float
    p90: float | None
    p99: float | None
    worst: float
    cpu: float
    smallest: float
    bound: bool


class _Stamped(OpenAIChat):
    """The protocol of the loopback server: remembers what its first event says."""

    def __init__(self) -> None:
        self.taken_ns: list[int] = []

    def part(self, event: Event) -> Part:
        """Return what a chunk says, and keep the server's own times."""
        if event.data.startswith('{"id":"x","received"'):
            stamps = msgspec.json.decode(event.data)
            self.taken_ns.append(stamps["sent"] - stamps["received"])
        return super().part(event)


def selfcheck(concurrency: int = 1, requests: int = 300, seed: int = 0) -> SelfCheck:
    """Return the client's error against a server on this machine.

    Args:
        concurrency: Streams at a time, each over a connection of its own that is open before it begins.
        requests: In all; the first of each connection are not counted.
        seed: Of the server's delays.

    Raises:
        UserError: The server cannot be started.
    """
    with loopback(seed) as port:
        began, used = perf_counter(), cpu_seconds()
        errors = asyncio.run(_measure(port, concurrency, requests))
        cpu = (cpu_seconds() - used) / (perf_counter() - began)
    n = len(errors)
    p90, p99 = (quantile(errors, q) if n >= quantile_floor(q) else None for q in (0.9, 0.99))
    slow = p99 if p99 is not None else max(errors)
    return SelfCheck(
        concurrency=concurrency,
        requests=n,
        median=median(errors),
        p90=p90,
        p99=p99,
        worst=max(errors),
        cpu=cpu,
        smallest=2 * slow,
        bound=slow > BOUND_P99_S or cpu > BOUND_CPU,
    )


async def _measure(port: int, concurrency: int, requests: int) -> list[float]:
    share = [requests // concurrency + (slot < requests % concurrency) for slot in range(concurrency)]
    found = await asyncio.gather(*(slot(port, count) for count in share if count))
    return [error for errors in found for error in errors]


async def slot(port: int, count: int) -> list[float]:
    """Return the errors of `count` requests over one connection, in seconds. Raises UserError without an answer."""
    protocol = _Stamped()
    endpoint = Endpoint(f"http://127.0.0.1:{port}", protocol, "loopback")
    request = endpoint.ask(Ask(model="loopback", user="x" * BODY))
    connection = await Connection.open(endpoint.host, endpoint.port)
    recordings = [await record(connection, request, timeout=30) for _ in range(count + 1)]
    connection.close()
    errors: list[float] = []
    for recording in recordings[1:]:  # the first exchange of a connection pays for what is set up then
        answer = answer_of(recording, protocol)
        if answer.ttft is None or not protocol.taken_ns:
            raise UserError(f"the loopback server did not answer: {answer.error}")
        errors.append(answer.ttft - protocol.taken_ns[-1] / 1e9)
    return errors


@contextmanager
def loopback(seed: int) -> Iterator[int]:
    """Run the loopback server and yield its port. Raises UserError where it does not start."""
    command = [sys.executable, "-m", "prefixwise.bench.selfcheck.loopback", "--seed", str(seed)]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # noqa: S603 - our own
    try:
        line = child.stdout.readline() if child.stdout else ""
        if not line.strip().isdigit():
            raise UserError("the loopback server does not start", help="is the loopback interface up?")
        yield int(line)
    finally:
        if child.stdin:
            child.stdin.close()
        child.wait(timeout=10)
        if child.stdout:
            child.stdout.close()
