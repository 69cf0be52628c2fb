"""`prefixwise compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from prefixwise.cli import options as o


def compare(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="Result file, as --report json=FILE writes it.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="Another one of the same command.")],
    require: o.Require = None,
    output_format: o.OutputFormat = "text",
    json: o.Json = False,
    report: o.Reports = None,
    quiet: o.Quiet = False,
    color: o.Color = "auto",
) -> None:
    """Compare two result files of one command: what changed, and whether it is more than noise where it was measured.

    Results of bench ttft: the ratio of their speed-ups (speedup_ratio), and of cold and warm times (cold_ratio,
    warm_ratio). Results of hitrate: hit rates, accounts and cost by rule and group (hit_rate_change, cost_ratio,
    reported_hit_rate_change, achievable_hit_rate_change, ceiling_change, cached_tokens_change, cost_usd_change).

    \b
    Examples:
      prefixwise compare main.json branch.json
      prefixwise compare main.json branch.json --require 'speedup_ratio>=0.9'
      prefixwise compare main.json branch.json --require 'hit_rate_change>=-0.01'

    Exit codes: 0 compared; 1 a requirement is not met; 4 undecided; 5 a run is invalid.
    """  # noqa: D301 - the backspace keeps the lines of the examples apart
    from prefixwise.cli.console import Console
    from prefixwise.cli.emit import emit, parse_outputs
    from prefixwise.workflows.comparing import compare as compared

    console = Console(color, quiet=quiet)
    outputs = parse_outputs(output_format, json=json, reports=report or ())
    document = compared(old, new, require or ())
    emit(document, outputs, console)
    raise typer.Exit(document.exit_code)
