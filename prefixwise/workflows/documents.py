"""Every kind of result document that a command writes."""

from __future__ import annotations

import difflib

import msgspec

from prefixwise.analyzers.builder_check.document import CHECK
from prefixwise.analyzers.config_report import CONFIG
from prefixwise.analyzers.diff_report import DIFF
from prefixwise.analyzers.facts_report import PROVIDERS
from prefixwise.analyzers.hitrate_compare import COMPARE_HITRATE
from prefixwise.analyzers.hitrate_values import HITRATE
from prefixwise.analyzers.lint.document import LINT
from prefixwise.analyzers.rule_pages import EXPLAIN, RULES_LIST
from prefixwise.analyzers.static.files_report import FILES
from prefixwise.analyzers.static.lock_report import LOCKED
from prefixwise.analyzers.tenancy.document import AUDIT_LOGS
from prefixwise.analyzers.tokens import TOKENS
from prefixwise.analyzers.why.document import WHY
from prefixwise.bench.audit.live_report import AUDIT_LIVE
from prefixwise.bench.audit.report import AUDIT_TIMINGS
from prefixwise.bench.load.report import BENCH_LOAD
from prefixwise.bench.probe.report import BENCH_PROBE
from prefixwise.bench.program.report import BENCH_PROGRAM
from prefixwise.bench.replay.report import BENCH_REPLAY
from prefixwise.bench.selfcheck.report import BENCH_SELFCHECK
from prefixwise.bench.ttft.compare import COMPARE_TTFT
from prefixwise.bench.ttft.report import BENCH_TTFT
from prefixwise.bench.verify.report import VERIFY
from prefixwise.core.envelope import DocumentKind
from prefixwise.core.errors import UserError
from prefixwise.core.report import Column, Report, Table, Unit
from prefixwise.engine.generate_report import GENERATE
from prefixwise.engine.models_report import MODELS


class SchemaName(msgspec.Struct, frozen=True):
    """One kind of document: its name for `prefixwise schema`, its `schema` and version, what it holds."""

    name: str
    schema: str
    version: int
    summary: str


class SchemaNames(msgspec.Struct, frozen=True):
    """All kinds of document, by name."""

    schemas: tuple[SchemaName, ...]


SCHEMAS = DocumentKind("prefixwise/schemas", 1, "this list", SchemaNames)

_ALL = (
    AUDIT_LOGS,
    AUDIT_LIVE,
    AUDIT_TIMINGS,
    BENCH_REPLAY,
    BENCH_SELFCHECK,
    BENCH_LOAD,
    BENCH_PROBE,
    BENCH_PROGRAM,
    BENCH_TTFT,
    CHECK,
    COMPARE_HITRATE,
    COMPARE_TTFT,
    CONFIG,
    DIFF,
    EXPLAIN,
    FILES,
    GENERATE,
    HITRATE,
    LINT,
    LOCKED,
    MODELS,
    PROVIDERS,
    RULES_LIST,
    SCHEMAS,
    TOKENS,
    VERIFY,
    WHY,
)
_KINDS = {kind.name: kind for kind in sorted(_ALL, key=lambda kind: kind.name)}


def document_kinds() -> tuple[DocumentKind, ...]:
    """Return every kind, by name."""
    return tuple(_KINDS.values())


def document_kind(name: str) -> DocumentKind:
    """Return the kind called `name`, with or without `prefixwise/`. Raises UserError with the nearest name."""
    short = name.removeprefix("prefixwise/")
    if short in _KINDS:
        return _KINDS[short]
    near = difflib.get_close_matches(short, _KINDS, n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    raise UserError(f"there is no schema called {name[:100]!r}", help=f"{hint}known: {', '.join(_KINDS)}")


def schemas_report() -> Report:
    """Return the report of all kinds."""
    kinds = document_kinds()
    columns = (Column("name", "name"), Column("version", "version", Unit.COUNT), Column("summary", "holds"))
    rows = tuple((kind.name, kind.version, kind.summary) for kind in kinds)
    note = "`prefixwise schema NAME` prints the JSON Schema of a document's `--json`."
    return Report(
        schema=SCHEMAS.schema,
        schema_version=SCHEMAS.version,
        command="schema",
        title="Result documents",
        blocks=(Table("schemas", "", columns, rows, note),),
        values=SchemaNames(tuple(SchemaName(kind.name, kind.schema, kind.version, kind.summary) for kind in kinds)),
    )
