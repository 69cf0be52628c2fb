"""Finds out whether an endpoint's counts can be believed, how often a prompt has to be sent, and what times tell."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from statistics import median

import msgspec

from prefixwise.bench.probe.lab import Lab, Unit, Work
from prefixwise.bench.probe.plan import Role, Row
from prefixwise.bench.probe.survey import Counting, Survey
from prefixwise.bench.probe.timing import Calibration, calibration

_COLDS = 3
_IN_A_ROW = 3
"""Hits in a row after which a prompt is taken to be everywhere; with n replicas at random one is missed at times."""
_MOST_SENDS = 10
_PAIRS, _BLIND_PAIRS = 6, 12
_BLIND_PRIMES = 4
_FIRST_WAIT_S = 1.0
_SLACK = 16
"""Tokens more than words' own that two words may have in common at their beginning."""
_MOSTLY = 0.75


async def survey(lab: Lab, *, times: bool) -> Survey:
    """Return what is known of an endpoint; its requests are kept under `usage`.

    Args:
        lab: What to ask with.
        times: Whether times are compared where counts are right, too.

    Raises:
        ExchangeError: It cannot be reached.
    """
    length = lab.possible(lab.plan.length)
    cold = [row for at in range(_COLDS) for row in await lab.unit(f"usage/cold/{at}", _cold(length))]
    found = _from_cold(lab, cold, length)
    if found.counting is Counting.UNKNOWN:
        found = await _repeated(lab, found)
    lab.survey = found
    if found.counting is Counting.RIGHT:
        found = lab.survey = await _half(lab, found)
    if found.counting is not Counting.RIGHT:
        return await _blind(lab, found, cold)
    timing = await _counted_pairs(lab, length) if times else None
    return msgspec.structs.replace(found, caching=True, timing=timing)


def _cold(length: int) -> Work:
    async def work(unit: Unit) -> None:
        await unit.send(Role.COLD, unit.text(length))

    return work


def _from_cold(lab: Lab, cold: Sequence[Row], length: int) -> Survey:
    """Return what new prompts say: nothing yet, or that the counts are missing or wrong."""
    counted = [row.cached for row in cold if row.ok and row.cached is not None]
    if not counted:
        return Survey(counting=Counting.MISSING, length=length)
    if len(counted) < sum(row.ok for row in cold):
        return Survey(counting=Counting.SOMETIMES, length=length)
    floor = max(counted)
    if floor > lab.words.around:
        why = f"{floor:,} tokens of a prompt that was never sent before are counted as cached"
        return Survey(counting=Counting.WRONG, length=length, why=why)
    return Survey(floor=floor, length=length)


async def _repeated(lab: Lab, found: Survey) -> Survey:
    """Send one prompt over and over, with longer and longer waits, until it stays a hit.

    Misses that longer waits do not make fewer are those of replicas; those that they do are of the time that it takes
    until a prompt can be read.
    """
    settle = lab.plan.settle
    before: tuple[int, float] | None = None
    for wait in sorted({0.0, min(_FIRST_WAIT_S, settle), settle}):
        rows = await lab.unit(f"usage/repeat/{wait:g}", _repeat(found, wait))
        missed = _misses([(row.cached or 0) > found.floor for row in rows])
        if missed is None:
            continue
        hits = [row.cached for row in rows[missed:] if row.cached]
        found = msgspec.structs.replace(found, counting=Counting.RIGHT, full=int(median(hits)))
        if before is not None and missed >= before[0]:
            break
        before = (missed, wait)
        if missed == 1:
            break
    if before is None:
        return msgspec.structs.replace(found, counting=Counting.ZERO)
    return msgspec.structs.replace(found, primes=before[0], wait=before[1])


def _repeat(found: Survey, wait: float) -> Work:
    async def work(unit: Unit) -> None:
        prompt = unit.text(found.length)
        hits: list[bool] = []
        while len(hits) < _MOST_SENDS and not (len(hits) > _IN_A_ROW and all(hits[-_IN_A_ROW:])):
            if wait > _FIRST_WAIT_S and len(hits) > _IN_A_ROW and not any(hits):
                break  # so late, a prompt that is not found was not kept
            if hits:
                await asyncio.sleep(wait)
            row = await unit.send(Role.READ if hits else Role.PRIME, prompt)
            hits.append((row.cached or 0) > found.floor)

    return work


def _misses(hits: Sequence[bool]) -> int | None:
    """Return how many sends came before the first hits in a row; None where there are none."""
    for at in range(len(hits) - _IN_A_ROW + 1):
        if all(hits[at : at + _IN_A_ROW]):
            return max(1, at)
    return None


async def _half(lab: Lab, found: Survey) -> Survey:
    """Look whether the count follows what is shared: a prompt of which half is."""
    shared = lab.possible(lab.words.around + found.length // 2) - lab.words.around

    async def work(unit: Unit) -> None:
        await unit.prime(unit.forked(found.length, shared, 0))
        await unit.settle()
        await unit.send(Role.READ, unit.forked(found.length, shared, 1))

    rows = await lab.unit("usage/half", work)
    cached = rows[-1].cached or 0
    if cached > lab.words.around + shared + _SLACK:
        why = f"{cached:,} tokens are counted as cached where half of {found.length:,} are shared"
        return msgspec.structs.replace(found, counting=Counting.WRONG, why=why)
    return found


async def _counted_pairs(lab: Lab, length: int) -> Calibration | None:
    async def work(unit: Unit) -> None:
        prompt = unit.text(length)
        await unit.settle()  # as idle before the cold one as before the warm one
        await unit.prime(prompt)
        await unit.settle()
        await unit.send(Role.READ, prompt)

    return calibration(_pairs([await lab.unit(f"usage/pair/{at}", work) for at in range(_PAIRS)]))


async def _blind(lab: Lab, found: Survey, cold: Sequence[Row]) -> Survey:
    """Find out by times alone: each prompt is sent some times at once, and once more after a wait.

    A wait comes before the first time too: a connection that was idle may be faster or slower than one that was not,
    and only what the cache does may differ between the two that are compared.
    """
    times = [row.seconds or row.total or 0.0 for row in cold]
    wait = min(lab.plan.settle, max(_FIRST_WAIT_S, 2 * median(times)))

    async def work(unit: Unit) -> None:
        prompt = unit.text(found.length)
        await asyncio.sleep(wait)
        for _ in range(_BLIND_PRIMES):
            await unit.send(Role.PRIME, prompt)
        await asyncio.sleep(wait)
        await unit.send(Role.READ, prompt)

    units = [await lab.unit(f"usage/blind/{at}", work) for at in range(_BLIND_PAIRS)]
    made = calibration(_pairs(units))
    if made is None:
        return found
    found = msgspec.structs.replace(found, timing=made, caching=made.faster, wait=wait)
    if not made.usable or not made.faster:
        return found
    primes = _primes(made, units)
    # Where most are found after the wait only, it is the wait that they take.
    return found if primes is None else msgspec.structs.replace(found, primes=primes, wait=0.0)


def _primes(made: Calibration, units: Sequence[Sequence[Row]]) -> int | None:
    """Return after how many sends most prompts were hits; None where there is no such number.

    Most, not all: a hit may stall and look like a miss, but a miss does not look like a hit.
    """
    for at in range(1, _BLIND_PRIMES):
        seen = [rows[at].seconds for rows in units if len(rows) > _BLIND_PRIMES]
        hits = [seconds is not None and made.hit(seconds) is True for seconds in seen]
        if hits and sum(hits) >= _MOSTLY * len(hits):
            return at
    return None


def _pairs(units: Sequence[Sequence[Row]]) -> list[tuple[float, float]]:
    """Return (first, last) times of units, of which both can be compared."""
    return [
        (rows[0].seconds, rows[-1].seconds) for rows in units if len(rows) > 1 and rows[0].seconds and rows[-1].seconds
    ]
