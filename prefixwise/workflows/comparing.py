"""Two result files of one kind, compared: which kind it is, the files say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from prefixwise.analyzers.hitrate_compare import FIGURES as HITRATE_FIGURES
from prefixwise.analyzers.hitrate_compare import compared_hit_rates
from prefixwise.analyzers.hitrate_compare_report import hit_rate_comparison_report
from prefixwise.analyzers.hitrate_values import HITRATE
from prefixwise.bench.ttft.compare import FIGURES as TTFT_FIGURES
from prefixwise.bench.ttft.compare import compared_runs, comparison_report
from prefixwise.bench.ttft.report import BENCH_TTFT
from prefixwise.core.condition import Condition, parse_condition
from prefixwise.core.envelope import DocumentKind
from prefixwise.core.errors import UserError
from prefixwise.core.report import Report


class Comparison(msgspec.Struct, frozen=True):
    """How two documents of one kind are compared.

    Attributes:
        kind: Of the documents.
        figures: What `--require` can ask for.
        report: Returns the report of the values of an old and a new document, under conditions.
    """

    kind: DocumentKind
    figures: tuple[str, ...]
    report: Callable[[Any, Any, Sequence[Condition]], Report]


_COMPARISONS = {
    one.kind.schema: one
    for one in (
        Comparison(
            BENCH_TTFT,
            TTFT_FIGURES,
            lambda old, new, conditions: comparison_report(compared_runs(old, new), conditions),
        ),
        Comparison(
            HITRATE,
            HITRATE_FIGURES,
            lambda old, new, conditions: hit_rate_comparison_report(compared_hit_rates(old, new), conditions),
        ),
    )
}
"""By the schema of the documents; another kind is another entry."""


class _Head(msgspec.Struct):
    """What every document begins with, and its values unread."""

    schema: str
    schema_version: int
    values: msgspec.Raw = msgspec.Raw(b"null")


def compare(old: Path, new: Path, require: Sequence[str] = ()) -> Report:
    """Return the report of two result files, as `--json` wrote them.

    Args:
        old: The one to compare with.
        new: The other.
        require: Conditions.

    Raises:
        UserError: A file cannot be read, is no result that can be compared, or they are of two kinds.
    """
    heads = [_read(path) for path in (old, new)]
    if heads[0].schema != heads[1].schema:
        kinds = " and ".join(head.schema[:100] for head in heads)
        raise UserError(f"the files are of two kinds: {kinds}", f"{old}, {new}", "compare two of one command")
    chosen = _COMPARISONS.get(heads[0].schema)
    if chosen is None:
        known = ", ".join(sorted(one.removeprefix("prefixwise/") for one in _COMPARISONS))
        raise UserError(f"results of {heads[0].schema[:100]} cannot be compared", str(old), f"those can: {known}")
    conditions = [parse_condition(one, chosen.figures) for one in require]
    values = [_values(path, head, chosen.kind) for path, head in zip((old, new), heads, strict=True)]
    return chosen.report(values[0], values[1], conditions)


def _read(path: Path) -> _Head:
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Head)
    except OSError as problem:
        raise UserError(f"cannot be read: {problem.strerror}", str(path)) from None
    except (msgspec.MsgspecError, RecursionError):
        raise UserError("is no result file", str(path), "write one with --report json=FILE") from None


def _values(path: Path, head: _Head, kind: DocumentKind) -> Any:
    if head.schema_version > kind.version:
        raise UserError("was written by a newer prefixwise", str(path), "update prefixwise")
    try:
        return msgspec.json.decode(head.values, type=kind.values)
    except (msgspec.MsgspecError, RecursionError) as problem:
        raise UserError(f"is no result of this kind: {str(problem)[:200]}", str(path)) from None
