"""`prefixwise audit timings`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from prefixwise.cli import options as o


def timings(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="CSV, JSON or JSONL with an arm and a time a record.")],
    strict: o.Strict = False,
    output_format: o.OutputFormat = "text",
    json: o.Json = False,
    report: o.Reports = None,
    quiet: o.Quiet = False,
    color: o.Color = "auto",
) -> None:
    """Say whether recorded timings of an audit show that one tenant was served from what another had sent.

    \b
    A record has an arm (miss, same or cross), a time by one clock or several (client_ms, server_ms, ttft_s, …), and
    where known t_s, block, cached_tokens, victim and prober. Columns of JSON may be lists, arms letters (m, s, p).

    \b
    Examples:
      prefixwise audit timings probes.csv
      prefixwise audit timings audit.json --report html=audit.html --report sarif=audit.sarif

    Exit codes: 0 isolated; 1 a leak; 4 inconclusive; 5 invalid measurement.
    """  # noqa: D301 - the backspace keeps the lines of the examples apart
    from prefixwise.cli.console import Console
    from prefixwise.cli.emit import emit, parse_outputs
    from prefixwise.workflows.auditing import audit_timings

    console = Console(color, quiet=quiet)
    outputs = parse_outputs(output_format, json=json, reports=report or ())
    document = audit_timings(file, strict=strict)
    emit(document, outputs, console)
    raise typer.Exit(document.exit_code)
