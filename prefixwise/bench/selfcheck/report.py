"""The report of a self-check."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from prefixwise.bench.selfcheck.check import SelfCheck
from prefixwise.core.envelope import DocumentKind
from prefixwise.core.report import Column, Report, Table, Text, Unit


class SelfChecks(msgspec.Struct, frozen=True):
    """Self-checks by rising concurrency."""

    checks: tuple[SelfCheck, ...]


BENCH_SELFCHECK = DocumentKind("prefixwise/bench-selfcheck", 1, "the error of the measuring client itself", SelfChecks)


def selfcheck_report(checks: Sequence[SelfCheck]) -> Report:
    """Return the report: what the client's error is here, and which differences are too small to be believed."""
    columns = (
        Column("concurrency", "streams", Unit.COUNT),
        Column("requests", "requests", Unit.COUNT),
        Column("median", "median error", Unit.SECONDS),
        Column("p90", "p90", Unit.SECONDS),
        Column("p99", "p99", Unit.SECONDS),
        Column("worst", "worst", Unit.SECONDS),
        Column("cpu", "CPU of a core", Unit.RATE),
        Column("smallest", "smallest difference", Unit.SECONDS),
        Column("bound", "client-bound"),
    )
    rows = tuple(
        (one.concurrency, one.requests, one.median, one.p90, one.p99, one.worst, one.cpu, one.smallest, one.bound)
        for one in checks
    )
    bound = [str(one.concurrency) for one in checks if one.bound]
    line = (
        f"The client limits what can be measured here with {', '.join(bound)} streams."
        if bound
        else "The client does not limit what can be measured here."
    )
    note = (
        "The error is the time to first token that the client measures, less what the server on this machine took by "
        "its own; a difference below twice its 99th percentile is not to be believed."
    )
    return Report(
        schema=BENCH_SELFCHECK.schema,
        schema_version=BENCH_SELFCHECK.version,
        command="bench selfcheck",
        title="Client-bound" if bound else "Not client-bound",
        blocks=(Text("verdict", (line,)), Table("errors", "Error of the client", columns, rows, note)),
        values=SelfChecks(tuple(checks)),
    )
