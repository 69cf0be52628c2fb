"""The report of an audit of logs."""

from __future__ import annotations

from collections.abc import Iterator

from prefixwise.analyzers.log_notes import log_notes
from prefixwise.analyzers.shared_prefixes import text_after
from prefixwise.analyzers.tenancy.audit import Audit
from prefixwise.analyzers.tenancy.document import AUDIT_LOGS, AuditLogsValues, audit_values, known
from prefixwise.analyzers.tenancy.findings import Found
from prefixwise.analyzers.tenancy.shared_nodes import stretches
from prefixwise.analyzers.tenancy.wording import counted
from prefixwise.core.excerpt import Excerpts
from prefixwise.core.finding import Level
from prefixwise.core.report import Block, Cell, Column, Findings, Matrix, Report, Table, Text, Unit
from prefixwise.corpus.rows import NONE

_MOST_TENANTS = 20
_MOST_PAIRS = 20
_MOST_STRETCHES = 15
_LEAST_REPORTED = 10
_HARDLY = 0.1


def audit_report(
    audit: Audit,
    found: tuple[Found, ...],
    fail_on: Level | None = Level.ERROR,
    excerpts: Excerpts = Excerpts.MASKED,
) -> Report:
    """Return the report: what is wrong, who could see whose, what is shared, and what isolation costs."""
    values = audit_values(audit, found)
    return Report(
        schema=AUDIT_LOGS.schema,
        schema_version=AUDIT_LOGS.version,
        command="audit logs",
        title=_title(values),
        blocks=tuple(_blocks(audit, values, excerpts)),
        values=values,
        inputs=audit.corpus.inputs,
        notes=tuple(_notes(audit, values)),
        fail_on=fail_on,
    )


def _title(values: AuditLogsValues) -> str:
    where = f"{counted(len(values.tenants), 'tenant')} in {counted(values.requests, 'request')}"
    if len(values.tenants) < 2:
        return f"One tenant in {counted(values.requests, 'request')}: nobody to be kept apart from"
    if values.leak:
        return f"Tenants are not apart: {where}"
    return f"{'No tenant meets another' if not values.exposed_events else 'No serious threat'}: {where}"


def _blocks(audit: Audit, values: AuditLogsValues, excerpts: Excerpts) -> Iterator[Block]:
    yield Text("summary", tuple(_summary(values)))
    if values.findings:
        yield Findings("findings", "Findings", values.findings)
    if values.pairs:
        yield _matrix(values)
        yield _pairs(values)
    if values.shared:
        yield _stretches(audit, excerpts)
    yield _isolation(values)


def _summary(values: AuditLogsValues) -> Iterator[str]:
    if values.exposed_events:
        private = f", {values.exposed_private:,} of them private to few tenants" if values.exposed_private else ""
        yield (
            f"{counted(values.exposed_events, 'request')} could be served {values.exposed_tokens:,} tokens that another"
            f" tenant had put into the cache{private}."
        )
    else:
        yield "No request could be served what another tenant had put into the cache."
    salts = values.salts
    said = f"{counted(salts.distinct, 'salt')}; {counted(salts.requests_without, 'request')} without one"
    yield f"{said}; {salts.guessable:,} can be guessed." if salts.guessable else f"{said}."
    yield values.recommendation.text


def _matrix(values: AuditLogsValues) -> Matrix:
    """Return who could see whose: rows read, columns wrote; the tenants with most in it."""
    weight: dict[str, int] = {}
    for pair in values.pairs:
        for name in (pair.reader, pair.writer):
            weight[name] = weight.get(name, 0) + pair.tokens
    shown = sorted(sorted(weight), key=lambda name: -weight[name])[:_MOST_TENANTS]
    cells = {(pair.reader, pair.writer): pair.tokens for pair in values.pairs}
    left = len(weight) - len(shown)
    note = "Tokens that a tenant (row) could be served of what another one (column) wrote last."
    if left > 0:
        note += f" {counted(left, 'more tenant')} with less are in the JSON."
    return Matrix(
        "exposure",
        "Exposure by tenant",
        Unit.TOKENS,
        tuple(shown),
        tuple(shown),
        tuple(tuple(cells.get((reader, writer)) for writer in shown) for reader in shown),
        note,
    )


def _pairs(values: AuditLogsValues) -> Table:
    columns = (
        Column("reader", "could be served"),
        Column("writer", "what was written by"),
        Column("events", "requests", Unit.COUNT),
        Column("tokens", "tokens", Unit.TOKENS),
        Column("first", "first"),
        Column("last", "last"),
    )
    rows: list[tuple[Cell, ...]] = [
        (pair.reader, pair.writer, pair.events, pair.tokens, _moment(pair.first), _moment(pair.last))
        for pair in values.pairs[:_MOST_PAIRS]
    ]
    left = len(values.pairs) - len(rows)
    note = f"{left:,} more pairs, with fewer tokens each, are in the JSON." if left > 0 else ""
    return Table("pairs", "Pairs of tenants", columns, tuple(rows), note)


def _stretches(audit: Audit, excerpts: Excerpts) -> Table:
    columns = [
        Column("kind", "kind"),
        Column("tenants", "tenants", Unit.COUNT),
        Column("requests", "requests", Unit.COUNT),
        Column("start", "from", Unit.TOKENS),
        Column("end", "to", Unit.TOKENS),
        Column("diversity", "tenants a reuse"),
        Column("first", "first"),
        Column("last", "last"),
    ]
    found = stretches(audit.rows, audit.nodes, _MOST_STRETCHES)
    texts = [text_after(audit.corpus, one.node, one.start, excerpts) for one in found]
    rows: list[tuple[Cell, ...]] = [
        (
            one.kind.label,
            one.tenants,
            one.requests,
            one.start,
            one.end,
            f"{one.diversity:.2f}",
            _moment(known(one.first)),
            _moment(known(one.last)),
        )
        for one in found
    ]
    if any(texts):
        columns.append(Column("text", "begins"))
        rows = [(*row, text) for row, text in zip(rows, texts, strict=True)]
    note = "Whatever the namespaces: what several tenants send alike. Approve templates with --write-approved."
    return Table("shared", "What tenants share", tuple(columns), tuple(rows), note)


def _isolation(values: AuditLogsValues) -> Table:
    columns = (
        Column("rule", "rule"),
        Column("isolation", "entries kept apart"),
        Column("cached_tokens", "cached", Unit.TOKENS),
        Column("hit_rate", "hit rate", Unit.RATE),
        Column("cost_usd", "cost", Unit.USD),
        Column("prefill_seconds", "prefill", Unit.SECONDS),
    )
    rows = tuple(
        (
            one.rule,
            one.isolation.value,
            one.cached_tokens,
            one.hit_rate,
            None if one.cost_usd is None else round(one.cost_usd, 9),
            one.prefill_seconds,
        )
        for one in values.isolation
    )
    note = "The log, replayed."
    if values.prefill_speed is None:
        note += " How long prompts take to compute is not known: --prefill-rate says it."
    else:
        note += f" Prefill: {values.prefill_speed}."
    return Table("isolation", "The price of isolation", columns, rows, note)


def _moment(time: float | None) -> str | None:
    from datetime import UTC, datetime

    return None if time is None else f"{datetime.fromtimestamp(time, UTC):%Y-%m-%d %H:%M:%S}"


def _notes(audit: Audit, values: AuditLogsValues) -> Iterator[str]:
    yield from log_notes(audit.corpus)
    if values.unattributed:
        yield f"{counted(values.unattributed, 'request')} name no tenant and are left out of exposure."
    if audit.records is None:
        yield "A trace holds no text: salts, secrets and allow-lists were not looked at."
    if audit.corpus.index is not None and all(start != start for start in audit.rows.start):
        yield "The log has no start times: requests are taken in the order of the file."
    if _far_below(audit):
        yield (
            "Usage reports far less than the namespaces of the requests could give: not isolation, but a minimum "
            "length, eviction, routing, or a salt that the engine does not get."
        )
    if audit.caching_is_off:
        yield "The configuration turns the prefix cache off: what is counted is what it would share."


def _far_below(audit: Audit) -> bool:
    """Say whether the log's usage reports hardly anything of what the requests' own namespaces had."""
    rows = [row for row in audit.known if audit.rows.reported_cached[row] != NONE]
    best = sum(audit.by_space.shared[row] for row in rows)
    served = sum(audit.rows.reported_cached[row] for row in rows)
    return len(rows) >= _LEAST_REPORTED and best > 0 and served < _HARDLY * best
