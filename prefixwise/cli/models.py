"""`prefixwise models`."""

from __future__ import annotations

from prefixwise.cli import options as o


def models(
    output_format: o.OutputFormat = "text",
    json: o.Json = False,
    report: o.Reports = None,
    quiet: o.Quiet = False,
    color: o.Color = "auto",
) -> None:
    """List the models that the bundled engine runs, where they come from, and how to fetch those that are not here.

    \b
    Examples:
      prefixwise models
      prefixwise models --json
    """  # noqa: D301 - the backspace keeps the lines of the examples apart
    from prefixwise.cli.console import Console
    from prefixwise.cli.emit import emit, parse_outputs
    from prefixwise.engine.models_report import models_report

    console = Console(color, quiet=quiet)
    outputs = parse_outputs(output_format, json=json, reports=report or ())
    emit(models_report(), outputs, console)
