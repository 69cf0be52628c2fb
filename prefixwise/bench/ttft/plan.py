"""What a cold-against-warm run is to do, and what is kept of each request."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from prefixwise.bench.ttft.labels import Label
from prefixwise.bench.ttft.schedule import Arm, Design
from prefixwise.clients.failures import Failure
from prefixwise.clients.protocol import Cold


class Mode(StrEnum):
    """What a warm request has in common with its cold one."""

    SHARED_PREFIX = "shared-prefix"
    """The beginning; the end is another one, as in production."""
    REPLAY = "replay"
    """Everything: the upper bound."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What is run; it is the head of the file that the rows go into.

    Attributes:
        run: Name of the run, random unless the user gives it: nonces are made of it, so a name used again finds its
            prompts in the cache.
        lengths: Tokens that cold and warm prompts share, shortest first. One length is a demonstration: what is saved
            has to grow with what is cached.
        suffix: Tokens behind them.
        design: How many requests of each length.
        cold: How cold prompts are made cold.
        mode: What warm requests share.
        block: Tokens of a block of the server's cache, for what a warm request should find there.
        seed: Of orders and texts.
        adaptive: Whether the run stops when it knows enough.
        quick: Whether it is a quick run: short prompts and few pairs.
        request: The user's own request whose beginning all prompts have, as `FILE#N`; '' for made-up texts.
        around: Its tokens by our own count.
    """

    run: str
    target: str
    protocol: str
    model: str
    lengths: tuple[int, ...]
    suffix: int = 64
    design: Design = Design()
    cold: Cold = Cold.NONCE
    mode: Mode = Mode.SHARED_PREFIX
    block: int = 1
    seed: int = 0
    adaptive: bool = False
    quick: bool = False
    request: str = ""
    around: int = 0
    version: str = ""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One request. Times are seconds; None where there was no such thing.

    Attributes:
        length: Tokens meant to be shared; `item`, `arm`, `repeat`: its place in the design; `attempt`: how often the
            pair was begun before, without an end.
        order: Number of the request in the run; `at`: when it was sent, since the run began.
        ttft, ttfo: To the first token, and to the first that is no reasoning; `total`: to the last byte.
        prompt, cached, output: Tokens that the server counted.
        server: To the first token by the server's own clock, where it says.
        expected: Cached tokens that it should count in a warm request.
        opened: Whether a connection was opened for it.
        reads: How many times bytes arrived.
        late: By how much the client itself was late at the time.
    """

    length: int
    item: int
    arm: Arm
    repeat: int = 0
    attempt: int = 0
    order: int = 0
    at: float = 0.0
    ttft: float | None = None
    ttfo: float | None = None
    total: float | None = None
    server: float | None = None
    prompt: int | None = None
    cached: int | None = None
    output: int | None = None
    expected: int = 0
    label: Label = Label.UNKNOWN
    status: int = 0
    error: str = ""
    failure: Failure | None = None
    opened: bool = False
    reads: int = 0
    late: float = 0.0
    id: str = ""
