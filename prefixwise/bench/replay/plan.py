"""What a replay is to do, and what is kept of each request."""

from __future__ import annotations

import msgspec

from prefixwise.clients.failures import Failure
from prefixwise.clients.protocol import Cold


class ReplayPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What is run; it is the head of the file that the rows go into.

    Attributes:
        run: Name of the run; salts, nonces and synthetic texts are made of it, so a name used again finds its prompts
            in the cache.
        inputs: The files that are replayed; `requests`: how many of their requests.
        speed: How much faster than logged requests arrive, in open loop; 0 for closed loop.
        concurrency: Requests under way at a time in closed loop; 0 for open loop.
        ramp: Seconds in which the load grows to its full size.
        cold: How the run is kept apart from what the cache holds already; None for not at all.
        synthetic: Whether texts are made up, since the input has none.
        output: Tokens of every answer; None for as many as were logged.
        slo: (Figure, seconds) that a good request keeps to.
    """

    run: str
    target: str
    protocol: str
    model: str
    inputs: tuple[str, ...]
    requests: int
    speed: float = 1.0
    concurrency: int = 0
    ramp: float = 0.0
    cold: Cold | None = None
    synthetic: bool = False
    output: int | None = None
    slo: tuple[tuple[str, float], ...] = ()
    seed: int = 0
    version: str = ""

    @property
    def load(self) -> str:
        """The load model, in words: a time to first token means nothing without it."""
        ramp = f", growing over {self.ramp:g} s" if self.ramp else ""
        if self.concurrency:
            return f"closed loop, {self.concurrency:,} at a time{ramp}"
        return f"open loop, arrivals as logged at {self.speed:g} times their speed{ramp}"


class ReplayRow(msgspec.Struct, frozen=True, kw_only=True):
    """One request. Times are seconds; None where there was no such thing.

    Attributes:
        number: Its place in the replay; `record`: where the input has it.
        part: How often the run was interrupted before it.
        due: When it should have been sent, since this part of the run began; in closed loop the time it was sent.
        at: When it was.
        ttft: From sending to the first token; `total`: to the last byte.
        tpot: Seconds a token behind the first one.
        prompt, cached, output: Tokens that the server counted.
        opened: Whether a connection was opened for it.
    """

    number: int
    record: str = ""
    part: int = 0
    due: float = 0.0
    at: float = 0.0
    ttft: float | None = None
    tpot: float | None = None
    total: float | None = None
    prompt: int | None = None
    cached: int | None = None
    output: int | None = None
    status: int = 0
    error: str = ""
    failure: Failure | None = None
    opened: bool = False
    reads: int = 0
    id: str = ""

    @property
    def ok(self) -> bool:
        """Whether there is a complete answer."""
        return self.failure is None and self.status == 200 and not self.error

    @property
    def late(self) -> float:
        """By how much later than due it was sent: what a client adds that waits for something."""
        return max(0.0, self.at - self.due)

    @property
    def ttft_due(self) -> float | None:
        """From when it should have been sent to the first token: what a user would have waited."""
        return None if self.ttft is None else self.late + self.ttft

    def time(self, figure: str) -> float | None:
        """Return `ttft`, `tpot` or `total` as the user has it: from when the request was due."""
        if figure == "ttft":
            return self.ttft_due
        if figure == "tpot":
            return self.tpot
        return None if self.total is None else self.late + self.total
