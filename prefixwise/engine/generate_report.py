"""What `prefixwise generate` says: the answers, and what each request cost."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from prefixwise.core.envelope import DocumentKind
from prefixwise.core.report import Block, Cell, Column, Report, Table, Text, Unit
from prefixwise.engine.request import Account


class EngineFacts(msgspec.Struct, frozen=True):
    """What the answers were computed with.

    Attributes:
        model: Its name.
        dtype: Of weights, keys and values.
        device: `cpu` or `cuda`.
        threads: Of the processor.
        index: How the prefix cache finds what it has.
        block: Tokens in a block.
        capacity: Tokens that the device's KV cache holds.
        tiers: Tiers below the device, and the tokens that they hold.
        deterministic: Whether every token was computed in the same way whatever was computed beside it.
        load_seconds: From the start until the model was ready.
        schedule_share: Share of the time of all steps that went to the index and the choice of what to compute.
        machine_load: Processes that wanted to run in the last minute, where the system says so; timings of a machine
            that is busy with other work mean little.
    """

    model: str
    dtype: str
    device: str
    threads: int
    index: str
    block: int
    capacity: int
    tiers: dict[str, int]
    deterministic: bool
    load_seconds: float
    schedule_share: float | None
    machine_load: float | None


class Answer(msgspec.Struct, frozen=True):
    """One request: its number, from 1 on, what it was answered, and its account."""

    request: int
    text: str
    account: Account


class Generated(msgspec.Struct, frozen=True):
    """The values of the report."""

    engine: EngineFacts
    answers: tuple[Answer, ...]


GENERATE = DocumentKind("prefixwise/generate", 1, "answers of the bundled engine, with what each cost", Generated)


def generate_report(facts: EngineFacts, answers: Sequence[Answer], notes: Sequence[str] = ()) -> Report:
    """Return the report of `prefixwise generate`."""
    blocks: list[Block] = []
    for answer in answers:
        title = f"Answer {answer.request}" if len(answers) > 1 else "Answer"
        blocks.append(Text(f"answer_{answer.request}", tuple(answer.text.splitlines()) or ("(empty)",), title))
    blocks += [_accounts(answers), _engine(facts)]
    return Report(
        GENERATE.schema,
        GENERATE.version,
        "generate",
        f"{facts.model}: {len(answers)} {'answer' if len(answers) == 1 else 'answers'}",
        tuple(blocks),
        values=Generated(facts, tuple(answers)),
        notes=tuple(notes),
    )


def _accounts(answers: Sequence[Answer]) -> Table:
    tiers = sorted({tier for answer in answers for tier in answer.account.cached_by_tier})
    columns = (
        Column("request", "request", Unit.COUNT),
        Column("prompt_tokens", "prompt", Unit.TOKENS),
        Column("cached_tokens", "cached", Unit.TOKENS),
        *(Column(f"cached_{tier}", tier, Unit.TOKENS) for tier in tiers),
        Column("output_tokens", "answer", Unit.TOKENS),
        Column("queue_seconds", "queued", Unit.SECONDS),
        Column("prefill_seconds", "prefill", Unit.SECONDS),
        Column("decode_seconds", "decode", Unit.SECONDS),
        Column("finish", "ended by"),
    )
    rows: list[tuple[Cell, ...]] = []
    for answer in answers:
        account = answer.account
        rows.append(
            (
                answer.request,
                account.prompt_tokens,
                account.cached_tokens,
                *(account.cached_by_tier.get(tier, 0) for tier in tiers),
                account.output_tokens,
                account.queue_seconds,
                account.prefill_seconds,
                account.decode_seconds,
                account.finish,
            )
        )
    note = (
        "Cached: prompt tokens that were read from the cache, by the tier they lay in (running: held by another "
        "request; idle: held by none). Prefill: until the first token."
    )
    return Table("requests", "Requests", columns, tuple(rows), note)


def _engine(facts: EngineFacts) -> Table:
    held = ", ".join(f"{tokens:,} in {tier}" for tier, tokens in facts.tiers.items())
    rows: list[tuple[Cell, ...]] = [
        ("model", f"{facts.model}, {facts.dtype} on {facts.device}, {_counted(facts.threads, 'thread')}"),
        ("prefix cache", f"{facts.index}, blocks of {_counted(facts.block, 'token')}"),
        ("KV cache", f"{facts.capacity:,} tokens on the device" + (f", {held}" if held else "")),
    ]
    if facts.machine_load is not None:
        rows.append(("machine", f"load {facts.machine_load:.1f}"))
    return Table("engine", "Engine", (Column("what", ""), Column("value", "")), tuple(rows))


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
