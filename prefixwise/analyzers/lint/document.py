"""What `prefixwise/lint` promises to machines: its fields and their meaning change only with the schema version."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec

from prefixwise.core.envelope import DocumentKind
from prefixwise.core.finding import ComparedPair, Finding, Level, Mode
from prefixwise.core.report import InputFile
from prefixwise.core.suppression import Suppression


class LintInput(msgspec.Struct, frozen=True):
    """What was read from one file, and as what.

    `provider` is None where the requests name none; `record_path` is the pointer to the request bodies, with `*` for
    every element of a list; `reason_skipped` is None where the file was read.
    """

    path: str
    format: str | None
    provider: str | None
    mode: Mode
    record_path: str
    records: int
    broken: int
    reason_skipped: str | None


class LintSummary(msgspec.Struct, frozen=True):
    """How many findings there are: of each rule that found something, by name, and of each level, worst first."""

    by_rule: dict[str, int]
    by_level: dict[str, int]


class LintValues(msgspec.Struct, frozen=True):
    """The result of a lint run; findings are in the order in which they are to be read.

    `suppressed` are findings that somebody knows of; they count nowhere. `suppressions` says of each why.
    """

    inputs: tuple[LintInput, ...]
    findings: tuple[Finding, ...]
    pairs: tuple[ComparedPair, ...]
    suppressed: tuple[Finding, ...]
    summary: LintSummary
    suppressions: tuple[Suppression, ...] = ()


LINT = DocumentKind("prefixwise/lint", 1, "findings, the pairs that were compared, and counts", LintValues, flat=True)


def lint_input(file: InputFile, provider: str, mode: Mode = Mode.LOG) -> LintInput:
    """Return what is said of an input; empty strings stand for what nobody knows."""
    return LintInput(
        path=file.path,
        format=file.format or None,
        provider=provider or None,
        mode=mode,
        record_path=file.record_path,
        records=file.records,
        broken=file.broken,
        reason_skipped=file.reason_skipped or None,
    )


def lint_summary(findings: Iterable[Finding]) -> LintSummary:
    """Count `findings`; every level is there, if only with a zero."""
    found = list(findings)
    by_rule = Counter(finding.rule for finding in found)
    by_level = Counter(finding.level for finding in found)
    return LintSummary(dict(sorted(by_rule.items())), {level.value: by_level[level] for level in Level})
