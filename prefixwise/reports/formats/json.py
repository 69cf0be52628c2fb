"""`json`: the envelope, for programs; its keys are what a schema version promises."""

from __future__ import annotations

from prefixwise.core.envelope import envelope
from prefixwise.core.report import Report
from prefixwise.reports.format import FORMATS, Format
from prefixwise.reports.json_text import json_text


def render(report: Report, **_layout: object) -> str:
    """Return the report in the shared envelope, keys in declared order."""
    return json_text(envelope(report))


FORMATS.add("json", Format("json", "application/json", ".json", render))
