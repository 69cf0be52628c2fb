"""What a run of probes is to do, and what is kept of each request."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from prefixwise.clients.protocol import Cold


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What is run; it is the head of the file that the rows go into.

    Attributes:
        run: Name of the run; nonces are made of it, so a name used again finds its prompts in the cache.
        only: Probes that were asked for; none for those that take seconds.
        length: Tokens of a prompt, where a probe does not vary them; above any minimum that may be.
        longest: Most tokens of a prompt.
        ages: Seconds at which the lifetime is looked at, rising.
        replicates: Prompts of one kind; a bracket holds where all of them agree.
        fill: Most tokens that are written to find the cache's room; 0 for no such probe.
        at_once: Identical requests that are sent at once.
        settle: Most seconds that are waited for a written prompt to be found.
        cold: How prompts are made new.
        seed: Of orders and texts.
    """

    run: str
    target: str
    protocol: str
    model: str
    only: tuple[str, ...] = ()
    length: int = 2048
    longest: int = 8192
    ages: tuple[float, ...] = (5.0, 15.0, 30.0, 60.0)
    replicates: int = 3
    fill: int = 0
    at_once: int = 8
    settle: float = 6.4
    cold: Cold = Cold.NONCE
    seed: int = 0
    version: str = ""


class Role(StrEnum):
    """What a request of a probe is for."""

    COLD = "cold"
    """Nobody sent it before."""
    PRIME = "prime"
    """It writes what is read later."""
    READ = "read"
    END = "end"
    """No request: all of the unit has been answered."""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One request, or the end of a unit. Times are seconds; None where there was no such thing.

    Attributes:
        unit: Probe and what it tried, such as `ttl/60/2`; `attempt`: how often that was begun before, without an end.
        length: Tokens the prompt was made to have; `shared`: words' tokens in common with the unit's other prompts.
        at: When it was sent, since the run began; `age`: since the end of the prime before it.
        late: By how much the client itself was late at the time.
    """

    unit: str
    role: Role
    attempt: int = 0
    length: int = 0
    shared: int = 0
    at: float = 0.0
    age: float | None = None
    ttft: float | None = None
    total: float | None = None
    prompt: int | None = None
    cached: int | None = None
    ok: bool = True
    error: str = ""
    opened: bool = False
    late: float = 0.0
    id: str = ""

    @property
    def seconds(self) -> float | None:
        """Time to the first token; to the end where the one token that was asked for has no text."""
        return (self.ttft or self.total) if self.ok and not self.opened else None
