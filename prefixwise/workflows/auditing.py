"""Audits of tenants, from what is asked to the report."""

from __future__ import annotations

from pathlib import Path

from prefixwise.bench.audit.reading import read_timings
from prefixwise.bench.audit.report import audit_report
from prefixwise.bench.audit.result import audit_result
from prefixwise.core.report import InputFile, Report


def audit_timings(path: Path, *, strict: bool = False) -> Report:
    """Return the report of recorded timings.

    Args:
        path: The file.
        strict: Whether a record that cannot be read ends the reading.

    Raises:
        UserError: The file cannot be read or holds no probes.
    """
    read = read_timings(path, strict=strict)
    found = audit_result(read.recordings)
    shown = path.as_posix()
    inputs = (InputFile(shown, f"timings ({read.form})", "log", "", read.records, read.broken),)
    return audit_report(found, read.recordings, shown, inputs)
