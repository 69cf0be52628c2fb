"""What a run of programs is to do, and what is kept of each time that one ran."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

import msgspec

from prefixwise.clients.protocol import Cold


class Arm(StrEnum):
    """How a program is run."""

    ON = "on"
    """Its calls share what they have in common."""
    OFF = "off"
    """Each call is kept apart from all others, so that none finds anything."""
    CONTROL = "control"
    """Off once more: two of them compared show how much noise passes for an effect."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What is run; it is the head of the file that the rows go into.

    Attributes:
        run: Name of the run; nonces are made of it, so a name used again finds its prompts in the cache.
        programs: Names, in the order of the report.
        rounds: How often each is run with and without reuse; `controls`: how many rounds have it without once more.
        scale: Prompts are so many times as long as the programs have them.
        cold: How calls are kept apart.
        seed: Of orders and texts.
    """

    run: str
    target: str
    protocol: str
    model: str
    programs: tuple[str, ...]
    rounds: int = 10
    controls: int = 6
    scale: int = 1
    cold: Cold = Cold.NONCE
    seed: int = 0
    version: str = ""


class Call(msgspec.Struct, frozen=True):
    """One call of a program: times in seconds, tokens as the server counted them; None where there was none."""

    ttft: float | None
    total: float | None
    prompt: int | None
    cached: int | None


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One run of one program.

    Attributes:
        program, round, arm: Its place in the plan; `attempt`: how often the round was begun before, without an end.
        order: Number in the run.
        seconds: From the first byte of the first call to the last byte of the last answer.
        calls: In the order in which they were sent.
        late: By how much the client itself was late at most.
    """

    program: str
    round: int
    arm: Arm
    attempt: int = 0
    order: int = 0
    seconds: float = 0.0
    calls: tuple[Call, ...] = ()
    ok: bool = True
    error: str = ""
    opened: bool = False
    late: float = 0.0

    @property
    def prompt(self) -> int | None:
        """Prompt tokens of all calls."""
        return _sum(call.prompt for call in self.calls)

    @property
    def cached(self) -> int | None:
        """Cached tokens of all calls; None where one did not count."""
        return _sum(call.cached for call in self.calls)


def _sum(counts: Iterable[int | None]) -> int | None:
    total = 0
    for one in counts:
        if one is None:
            return None
        total += one
    return total
