"""Probes run against the bundled server with a simulated model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from prefixwise.bench.probe.finding import Finding
from prefixwise.core.report import Report
from prefixwise.workflows.probing import ProbeAsked, bench_probe
from support.serving import serving

COUNTED = "sim:a=0.001,b=0.000002,c=0"
"""So quick that tests take no time: what is counted does not depend on it."""

TIMED = "sim:a=0.001,b=0.00003,c=0"
"""1,024 tokens take 31 ms more than none."""


def asked(url: str, *only: str, **more: Any) -> ProbeAsked:
    usual = {"length": 1024, "longest": 2048, "settle": 0.05, "replicates": 2}
    return ProbeAsked(target=url, protocol="prefixwise", model="sim", only=only, **{**usual, **more})


def probed(
    *only: str, faults: Sequence[str] = (), model: str = COUNTED, server: dict[str, Any] | None = None, **more: Any
) -> Report:
    with serving(model, faults=faults, **(server or {})) as running:
        return bench_probe(asked(running.url, *only, **more), lambda line: None, lambda line: None)


def one(*only: str, **more: Any) -> Finding:
    (found,) = probed(*only, **more).values.findings
    return found
