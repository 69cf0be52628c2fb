"""What a live audit is to do, and what is kept of each probe."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from itertools import combinations

import msgspec

from prefixwise.bench.audit.recording import Arm, Level
from prefixwise.clients.failures import Failure
from prefixwise.core.errors import UserError

SCREEN, CERTIFY = 100, 250
"""Blocks of an audit that looks for leaks, and of one that may show isolation by times alone."""

BATCH = 10
"""Blocks that are sent before a cache is emptied, and looked for behind it."""

DIRECT = "direct"


class Stage(StrEnum):
    """What happens between a prompt and the probe that looks for it."""

    FRESH = "at once"
    EVICTED = "after eviction"
    RESTARTED = "after restart"


class Comparison(msgspec.Struct, frozen=True):
    """Who looks for whose prompts, and how.

    Attributes:
        victim, prober: Names of credentials, such as `north` or `north#2`.
        level: How far apart they are.
        route: `direct`, or the address of a gateway.
        salted: Whether each tenant sends a salt of its own.
        stage: What happens in between.
    """

    victim: str
    prober: str
    level: Level
    route: str = DIRECT
    salted: bool = False
    stage: Stage = Stage.FRESH

    @property
    def condition(self) -> str:
        """How, as people say it; '' for the plain way."""
        parts = [
            "" if self.route == DIRECT else f"through {self.route}",
            "salted" if self.salted else "",
            "" if self.stage is Stage.FRESH else self.stage.value,
        ]
        return ", ".join(part for part in parts if part)

    @property
    def name(self) -> str:
        """What reports call it."""
        return ", ".join(part for part in (f"{self.victim} → {self.prober}", self.condition) if part)


class LivePlan(msgspec.Struct, frozen=True, kw_only=True):
    """What is run; it is the head of the file that the rows go into, and holds no key.

    Attributes:
        run: Name of the run, random unless the user gives it: every prompt is made of it.
        comparisons: All of them; the chance of a false alarm is split among them.
        blocks: Most blocks of each; a block is a probe of each arm, in random order.
        tokens: Tokens of a prompt; `shared`: those at its beginning that a probe has in common with it.
        victims: How often a prompt is sent before it is looked for.
        sham: Whether controls come after the same traffic for another prompt. Without it, whatever that traffic does
            to times looks like a leak.
        wait_s: Between a prompt and its probe; None for as long as one's own prompts take to be found.
        pause_s: Between probes, half of it random.
        evict_tokens: Tokens that push everything off the device.
        seed: Of orders.
    """

    run: str
    target: str
    protocol: str
    model: str
    comparisons: tuple[Comparison, ...]
    blocks: int = SCREEN
    tokens: int = 4096
    shared: float = 0.95
    victims: int = 1
    sham: bool = True
    wait_s: float | None = None
    pause_s: float = 0.0
    evict_tokens: int = 0
    block_tokens: int = 1
    seed: int = 0
    version: str = ""

    @property
    def prefix(self) -> int:
        """Tokens that a probe has in common with the prompt it looks for."""
        return round(self.tokens * self.shared)


class LiveRow(msgspec.Struct, frozen=True, kw_only=True):
    """One probe. Times are seconds; None where there was no such thing.

    Attributes:
        victim, prober, level, condition: Of the comparison; `block`, `arm`: the place in it.
        order: Number of the probe in the run; `at`: when it was sent, since the run began.
        ttft: To the first token; `total`: to the last byte.
        prompt, cached: Tokens that the server counted.
        header: Cached tokens that any prompt may have.
        left_out: Why its time is not used.
        opened: Whether a connection was opened for it; `late`: by how much the client itself was.
    """

    victim: str
    prober: str
    level: Level
    condition: str
    block: int
    arm: Arm
    order: int
    at: float
    ttft: float | None = None
    total: float | None = None
    prompt: int | None = None
    cached: int | None = None
    header: int = 0
    left_out: str = ""
    status: int = 0
    failure: Failure | None = None
    opened: bool = False
    late: float = 0.0


class Credential(msgspec.Struct, frozen=True):
    """A key of a tenant; the key itself is in no representation.

    Attributes:
        tenant: Name; what stands before a `/` is its organisation.
        variable: Environment variable that holds the key.
        key: The key.
    """

    tenant: str
    variable: str
    key: str

    def __repr__(self) -> str:
        return f"Credential({self.tenant!r}, {self.variable!r})"


def labelled(credentials: Sequence[Credential]) -> dict[str, Credential]:
    """Return credentials by name: the tenant's, with a number from its second key on.

    Raises:
        UserError: There are fewer than two, or two are one key.
    """
    if len(credentials) < 2:
        raise UserError(
            "an audit needs two keys or more",
            "--tenant",
            "for example --tenant north=NORTH_KEY --tenant south=SOUTH_KEY",
        )
    found: dict[str, Credential] = {}
    for one in credentials:
        twin = next((other for other in found.values() if other.key == one.key), None)
        if twin is not None:
            raise UserError(f"{twin.variable} and {one.variable} hold the same key", "--tenant", "name two keys")
        number = 1 + sum(other.tenant == one.tenant for other in found.values())
        found[one.tenant if number == 1 else f"{one.tenant}#{number}"] = one
    return found


def level_of(victim: Credential, prober: Credential) -> Level:
    """Return how far apart two credentials are, by the names that the user gave them."""
    if victim.tenant == prober.tenant:
        return Level.KEYS
    own, other = (one.tenant.partition("/") for one in (victim, prober))
    apart = own[1] and other[1] and own[0] != other[0]
    return Level.ORGANISATIONS if apart else Level.TENANTS


def comparisons(
    credentials: dict[str, Credential],
    *,
    both_ways: bool = True,
    routes: Sequence[str] = (DIRECT,),
    salted: Sequence[bool] = (False,),
    stages: Sequence[Stage] = (Stage.FRESH,),
) -> tuple[Comparison, ...]:
    """Return every pair of credentials, each way where asked for, in all circumstances."""
    pairs = list(combinations(credentials, 2))
    if both_ways:
        pairs += [(prober, victim) for victim, prober in pairs]
    return tuple(
        Comparison(victim, prober, level_of(credentials[victim], credentials[prober]), route, salt, stage)
        for stage in stages
        for route in routes
        for salt in salted
        for victim, prober in pairs
    )


def requests_of(plan: LivePlan) -> tuple[int, int]:
    """Return the requests that a plan may take at most, and their prompt tokens, without those that find out how."""
    each = plan.blocks * (len(Arm) + (len(Arm) + 1) * plan.victims)  # one's own prompt is followed by a sham too
    requests = each * len(plan.comparisons)
    tokens = requests * plan.tokens
    evicting = sum(one.stage is Stage.EVICTED for one in plan.comparisons) * -(-plan.blocks // BATCH)
    floods = -(-plan.evict_tokens // plan.tokens)
    return requests + evicting * floods, tokens + evicting * floods * plan.tokens
