"""What a load run is to do, and what is kept of each request."""

from __future__ import annotations

import random
import re

import msgspec

from prefixwise.clients.protocol import Cold
from prefixwise.core.errors import UserError


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What is run; it is the head of the file that the rows go into.

    Attributes:
        run: Name of the run; nonces are made of it, so a name used again finds its prompts in the cache.
        groups: Prompts' common beginnings; `each`: requests that share one.
        prefix: Tokens of a beginning; `suffix`: tokens behind it, new in every request; `output`: of an answer.
        concurrency: Requests at a time (closed loop: the next is sent when one is answered); 0 for a rate.
        rate: Requests a second (open loop: sent when they are due, whatever is still under way); 0 for a concurrency.
        connections: Most requests under way in an open loop; one more waits, and its wait counts.
        slo: (figure, seconds) that a good request keeps to.
        cold: How the run's prompts are kept apart from all others.
        seed: Of orders, texts and arrivals.
    """

    run: str
    target: str
    protocol: str
    model: str
    groups: int = 8
    each: int = 8
    prefix: int = 1024
    suffix: int = 128
    output: int = 16
    concurrency: int = 0
    rate: float = 0.0
    connections: int = 256
    slo: tuple[tuple[str, float], ...] = ()
    cold: Cold = Cold.NONCE
    seed: int = 0
    version: str = ""

    @property
    def order(self) -> list[int]:
        """The group of every request, mixed at random."""
        groups = [group for group in range(self.groups) for _ in range(self.each)]
        random.Random(f"{self.seed}/order").shuffle(groups)  # noqa: S311 - not for secrets
        return groups

    def arrivals(self, number: int) -> list[float]:
        """Return when so many requests are due, in seconds: a Poisson process of the plan's rate."""
        rng = random.Random(f"{self.seed}/arrivals")  # noqa: S311 - not for secrets
        due, found = 0.0, []
        for _ in range(number):
            found.append(due)
            due += rng.expovariate(self.rate)
        return found


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One request. Times are seconds; None where there was no such thing.

    Attributes:
        number: Of the request in the plan; `group`: whose beginning it has; `first`: whether it is the first with it.
        part: How often the run was continued before.
        due: When it was to be sent, since the part began; None in a closed loop. `at`: when it was.
        ttft: From sending to the first token; `total`: to the last byte; `decode`: from the first token to the last.
        prompt, cached, output: Tokens that the server counted.
        reads: How many times bytes arrived: one or two mean that something held the answer back.
    """

    number: int
    group: int
    first: bool = False
    part: int = 0
    due: float | None = None
    at: float = 0.0
    ttft: float | None = None
    total: float | None = None
    decode: float | None = None
    prompt: int | None = None
    cached: int | None = None
    output: int | None = None
    ok: bool = True
    status: int = 0
    error: str = ""
    opened: bool = False
    reads: int = 0
    late: float = 0.0
    id: str = ""

    @property
    def waited(self) -> float:
        """Seconds from when it was due to when it was sent."""
        return 0.0 if self.due is None else max(0.0, self.at - self.due)

    @property
    def tpot(self) -> float | None:
        """Seconds a token behind the first, by the tokens that the server counted."""
        return self.decode / (self.output - 1) if self.decode is not None and self.output and self.output > 1 else None

    @property
    def ttft_due(self) -> float | None:
        """Time to the first token from when the request was due: what its user waited."""
        return None if self.ttft is None or self.due is None else self.ttft + self.waited

    @property
    def end(self) -> float:
        """When it was answered, since the part began."""
        return self.at + (self.total or 0.0)


SLO_FIGURES = ("ttft", "tpot", "total")
_LIMIT = re.compile(r"\s*([a-z]+)\s*=\s*(\d{1,9}(?:\.\d{1,9})?)\s*(ms|s)?\s*")


def parse_slo(text: str) -> tuple[tuple[str, float], ...]:
    """Read `ttft=500ms,tpot=40ms,total=2s`; a number without a unit is seconds. Raises UserError for what is none."""
    found = []
    for one in text.split(",") if text else ():
        match = _LIMIT.fullmatch(one)
        if match is None or match[1] not in SLO_FIGURES:
            example = "for example ttft=500ms,tpot=40ms,total=2s"
            raise UserError("this is no limit of a time", f"--slo {one}"[:100], example)
        found.append((match[1], float(match[2]) / (1000 if match[3] == "ms" else 1)))
    return tuple(found)
