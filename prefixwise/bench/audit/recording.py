"""What an audit is judged by: probes of three kinds, in the order in which they were sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum

import msgspec


class Arm(StrEnum):
    """What was sent before a probe."""

    MISS = "miss"
    """Nothing that it could find: the control."""
    SAME = "same"
    """Its own beginning, by its own sender: the positive control."""
    CROSS = "cross"
    """Its beginning, by somebody else: what is tested."""


class Probe(msgspec.Struct, frozen=True, kw_only=True):
    """One probe.

    Attributes:
        arm: What was sent before it.
        times: Its time by each clock of the recording, in seconds; None where a clock has none.
        block: Number of the group inside which the order was drawn at random; None where it was drawn over all.
        cached: Cached tokens that the server counted; None where it did not say.
        left_out: Why its times are not used, '' where they are.
    """

    arm: Arm
    times: tuple[float | None, ...] = ()
    block: int | None = None
    cached: int | None = None
    left_out: str = ""


class Level(StrEnum):
    """How far apart the sender of a prompt and the one who looks for it are."""

    SAME_KEY = "same key"
    KEYS = "two keys of one tenant"
    TENANTS = "two tenants"
    ORGANISATIONS = "two organisations"
    UNKNOWN = "not said"

    @property
    def apart(self) -> bool:
        """Whether reuse is a leak: not where both are the same tenant."""
        return self not in (Level.SAME_KEY, Level.KEYS)


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    """The probes of one comparison: one sender, one who looks, one set of circumstances.

    Attributes:
        name: Of the comparison, such as `north → south`.
        level: How far apart the two are.
        clocks: What the times of a probe were measured by.
        probes: In the order in which they were sent.
        header: Tokens that every prompt begins with, which may be cached in any probe; None where nobody looked.
        block: Tokens of a block of the server's cache.
        matched: Whether controls were preceded by a sham, the same traffic for another prompt; None where that is not
            known.
        failed: Probes without a complete answer: they were sent, and count as such.
        broken: Records that could not be read.
        stopped: Why sending ended early, '' where it did not.
    """

    name: str
    level: Level = Level.UNKNOWN
    clocks: tuple[str, ...] = ("client",)
    probes: tuple[Probe, ...] = ()
    header: int | None = None
    block: int = 1
    matched: bool | None = None
    failed: int = 0
    broken: int = 0
    stopped: str = ""

    def of(self, arm: Arm) -> list[Probe]:
        """Return the probes of an arm."""
        return [one for one in self.probes if one.arm is arm]


def usable(probes: Iterable[Probe]) -> list[Probe]:
    """Return the probes whose times can be used, by every clock."""
    return [one for one in probes if not one.left_out and one.times and None not in one.times]


def two_arms(recording: Recording, arm: Arm) -> list[Probe]:
    """Return usable probes of an arm and of the controls, in order, whole blocks only where there are blocks."""
    chosen = [one for one in usable(recording.probes) if one.arm in (arm, Arm.MISS)]
    if all(one.block is None for one in chosen):
        return chosen
    whole = {
        number
        for number, members in grouped(chosen, lambda one: one.block).items()
        if {one.arm for one in members} == {arm, Arm.MISS}
    }
    return [one for one in chosen if one.block in whole]


def grouped(probes: Sequence[Probe], key: Callable[[Probe], int | None]) -> dict[int | None, list[Probe]]:
    """Return probes by a key, in order."""
    groups: dict[int | None, list[Probe]] = {}
    for one in probes:
        groups.setdefault(key(one), []).append(one)
    return groups
