"""The report of `why` on a whole log: where the tokens went, then the causes, the costliest first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prefixwise.analyzers.lint.diagnoses_report import diagnoses_blocks
from prefixwise.analyzers.lint.run import Linted
from prefixwise.analyzers.log_notes import log_notes
from prefixwise.analyzers.why.accounts import Account, Entry, accounts
from prefixwise.analyzers.why.document import WHY, WhyLog
from prefixwise.core.finding import Finding
from prefixwise.core.report import Block, Cell, Column, Findings, Report, Table, Text, Unit

TOP = 20

_NAMES = {
    Account.CACHED: "read from the cache, as reported",
    Account.FIRST_SEEN: "first seen",
    Account.GRANULARITY: "below the cache's minimum or unit",
    Account.UNEXPLAINED: "unexplained",
    Account.NOT_REPORTED: "seen before, usage not reported",
}
_MEANINGS = {
    Account.EXPLAINED: "A rule's name: tokens that had to be computed for what it found; cost is what they cost above "
    "reading them from the cache, where a price is known.",
    Account.FIRST_SEEN: "First seen: no earlier request of the model began with the same text.",
    Account.GRANULARITY: "Below the minimum or unit: too little for the cache, or within the error of counting.",
    Account.UNEXPLAINED: "Unexplained: an earlier request began with the same text, usage reports a miss, and no rule "
    "says why: eviction, routing or the provider.",
    Account.NOT_REPORTED: "Usage not reported: an earlier request began with the same text; the log does not say "
    "whether the cache was read.",
}


def why_report(linted: Linted, top: int = TOP) -> Report:
    """Return the report of a linted log with its `top` costliest causes."""
    found = linted.values.findings
    log = linted.log
    cached = [tokens for row in range(len(log.rows)) if (tokens := log.cached(row)) is not None]
    values = WhyLog(
        requests=len(log.rows),
        with_usage=len(cached),
        prompt_tokens=sum(log.prompt(row) for row in range(len(log.rows))),
        cached_tokens=sum(cached) if cached else None,
        accounts=accounts(linted),
        causes=found[:top],
        causes_in_all=len(found),
    )
    return Report(
        schema=WHY.schema,
        schema_version=WHY.version,
        command="why",
        title=f"Where the prompt tokens of {_counted(values.requests, 'request')} went",
        blocks=(*_blocks(values), *diagnoses_blocks(linted)),
        values=values,
        inputs=log.corpus.inputs,
        notes=tuple(log_notes(log.corpus)),
        fail_on=None,
    )


def _blocks(values: WhyLog) -> Iterator[Block]:
    yield Text("summary", tuple(_summary(values)))
    if values.accounts:
        yield accounts_table(values.accounts)
    if values.causes:
        yield _causes(values)


def _summary(values: WhyLog) -> Iterator[str]:
    total = values.prompt_tokens
    if values.cached_tokens is None:
        yield f"{total:,} prompt tokens; the log does not report how many were read from a cache."
    else:
        partly = "" if values.with_usage == values.requests else f" in the {values.with_usage:,} requests with usage"
        yield f"{total:,} prompt tokens, of which {_part(values.cached_tokens, total)} were cached as reported{partly}."
    by = {account: sum(e.tokens for e in values.accounts if e.account is account) for account in Account}
    rest = total - by[Account.CACHED] - by[Account.NOT_REPORTED]
    causes = _counted(values.causes_in_all, "cause")
    said = (
        (Account.EXPLAINED, f"{causes} explain{'s' if values.causes_in_all == 1 else ''} {{}}"),
        (Account.FIRST_SEEN, "{} were first seen"),
        (Account.GRANULARITY, "{} were too few for the cache"),
        (Account.UNEXPLAINED, "{} are unexplained"),
    )
    parts = [words.format(_part(by[account], rest)) for account, words in said if by[account]]
    if parts:
        yield f"Of the {rest:,} tokens that were not, {', '.join(parts)}."


def accounts_table(entries: Sequence[Entry], *, of_one: bool = False) -> Table:
    """Return the table of accounts, without what is only said of a log where it is that `of_one` request."""
    total = sum(entry.tokens for entry in entries)
    counts = (
        Column("tokens", "tokens", Unit.TOKENS),
        Column("share", "share", Unit.RATE),
        Column("usd", "cost", Unit.USD),
    )
    of_log = () if of_one else (Column("level", "level"), Column("requests", "requests", Unit.COUNT))
    rows: list[tuple[Cell, ...]] = []
    for entry in entries:
        name = _NAMES.get(entry.account, entry.rule)
        shown = (entry.tokens, entry.tokens / total if total else None, entry.usd)
        rows.append((name, *shown) if of_one else (name, entry.level, entry.requests, *shown))
    used = {entry.account for entry in entries}
    note = " ".join(meaning for account, meaning in _MEANINGS.items() if account in used)
    title = "Where its tokens went" if of_one else "Where they went"
    return Table("accounts", title, (Column("account", "prompt tokens"), *of_log, *counts), tuple(rows), note)


def _causes(values: WhyLog) -> Findings:
    more = values.causes_in_all - len(values.causes)
    note = f"{more:,} more: --top {values.causes_in_all}. " if more > 0 else ""
    return Findings("causes", "Causes", values.causes, brief=True, note=note + _next(values.causes[0]))


def _next(finding: Finding) -> str:
    return f"In full: prefixwise why --request '{finding.place}'; what a rule means: prefixwise explain {finding.rule}"


def _part(tokens: int, total: int) -> str:
    return f"{tokens:,} ({100 * tokens / total:.1f} %)" if total else f"{tokens:,}"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
