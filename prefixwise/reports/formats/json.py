"""`json`: the envelope, for programs; its keys are what a schema version promises."""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec

from prefixwise.core.envelope import envelope
from prefixwise.core.excerpt import UNSAFE
from prefixwise.core.report import Report
from prefixwise.reports.format import FORMATS, Format


def render(report: Report, **_layout: object) -> str:
    r"""Return the report in the shared envelope, indented, keys in declared order.

    Strings keep their exact value: what would deceive a terminal is written as a `\u` escape. Numbers that
    JSON does not have (infinity, not a number) become null.
    """
    document = _finite(msgspec.to_builtins(envelope(report), str_keys=True))
    # Not msgspec's encoder: it refuses lone surrogates, which a log may hold.
    compact = UNSAFE.sub(_escaped, json.dumps(document, ensure_ascii=False, separators=(",", ":")))
    return msgspec.json.format(compact, indent=2) + "\n"


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _escaped(match: Any) -> str:
    return json.dumps(match[0])[1:-1]


FORMATS.add("json", Format("json", "application/json", ".json", render))
