"""What was locked, as a report: each prompt and what became of it since the lock before."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import msgspec

from prefixwise.analyzers.static.lock import Lock, LockedPrompt
from prefixwise.analyzers.static.lock_cost import ChangeCost, change_costs, cost_table
from prefixwise.caches.prices import Price
from prefixwise.core.envelope import DocumentKind
from prefixwise.core.report import Column, Report, Table, Unit


class LockChange(StrEnum):
    """What became of a prompt since the lock before."""

    NEW = "new"
    SAME = "same"
    CHANGED = "changed"
    REMOVED = "removed"


class LockedFacts(msgspec.Struct, frozen=True):
    """A prompt of the lock: `number` counts the prompts of its file from 0, `tokens` are those of its prefix."""

    path: str
    number: int
    version: str
    tokens: int
    segments: int
    change: LockChange


class LockedValues(msgspec.Struct, frozen=True):
    """The prompts of a lock and those that went, by path, and what changes cost; `encoding` counted the tokens."""

    encoding: str
    prompts: tuple[LockedFacts, ...]
    changes: tuple[ChangeCost, ...] = ()


LOCKED = DocumentKind("prefixwise/locked", 1, "the prompts that were locked", LockedValues)


def lock_report(
    lock: Lock, before: Lock | None, notes: Sequence[str], calls: int | None = None, price: Price | None = None
) -> Report:
    """Return the report of a lock.

    Args:
        lock: As it was written.
        before: The one that it replaces, if there was one.
        notes: What could not be locked.
        calls: Calls a month of each prompt, where that is known.
        price: Of the model that they go to, likewise.
    """
    costs = change_costs(lock, before, calls, price)
    old = {(prompt.path, prompt.number): prompt for prompt in before.prompts} if before else {}
    facts = [_facts(prompt, _change(prompt, old.get((prompt.path, prompt.number)))) for prompt in lock.prompts]
    kept = {(prompt.path, prompt.number) for prompt in lock.prompts}
    facts += [_facts(prompt, LockChange.REMOVED) for key, prompt in old.items() if key not in kept]
    facts.sort(key=lambda one: (one.path, one.number))
    columns = (
        Column("prompt", "prompt"),
        Column("version", "version"),
        Column("tokens", "prefix", Unit.TOKENS),
        Column("segments", "segments", Unit.COUNT),
        Column("change", "since before"),
    )
    rows = tuple((_name(one), one.version or "–", one.tokens, one.segments, one.change.value) for one in facts)
    note = f"Tokens of {lock.encoding} in front of the first value that changes from request to request."
    count = len(lock.prompts)
    return Report(
        schema=LOCKED.schema,
        schema_version=LOCKED.version,
        command="lock",
        title=f"{count:,} prompt{'s' if count != 1 else ''} locked",
        blocks=(
            *((Table("prompts", "Prompts", columns, rows, note),) if rows else ()),
            *((cost_table(costs, calls),) if costs else ()),
        ),
        values=LockedValues(lock.encoding, tuple(facts), costs),
        notes=tuple(notes),
    )


def _change(now: LockedPrompt, then: LockedPrompt | None) -> LockChange:
    if then is None:
        return LockChange.NEW
    same = (then.version, then.digests) == (now.version, now.digests)
    return LockChange.SAME if same else LockChange.CHANGED


def _facts(prompt: LockedPrompt, change: LockChange) -> LockedFacts:
    return LockedFacts(prompt.path, prompt.number, prompt.version, prompt.tokens, len(prompt.segments), change)


def _name(one: LockedFacts) -> str:
    return f"{one.path} ({one.number + 1})" if one.number else one.path
