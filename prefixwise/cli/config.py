"""`prefixwise config`."""

from __future__ import annotations

from typing import Annotated

import typer

from prefixwise.cli import options as o


def config(
    ctx: typer.Context,
    path: Annotated[str, typer.Argument(metavar="[PATH]", help="A file or folder that is linted.")] = ".",
    select: o.Select = None,
    ignore: o.Ignore = None,
    extend_select: o.ExtendSelect = None,
    extend_ignore: o.ExtendIgnore = None,
    fail_on: o.FailOn = None,
    exit_zero: o.ExitZero = False,
    provider: o.Provider = None,
    model: o.Model = None,
    rules: o.Rules = None,
    jobs: o.Jobs = None,
    excerpts: o.ExcerptMode = None,
    config: o.Config = None,
    isolated: o.Isolated = False,
    output_format: o.OutputFormat = "text",
    json: o.Json = False,
    report: o.Reports = None,
    quiet: o.Quiet = False,
    color: o.Color = "auto",
) -> None:
    """Show the settings that hold for a file or folder, and where each value came from.

    Options of lint may be added, to see what they would do.

    \b
    Examples:
      prefixwise config
      prefixwise config services/desk/prompts/refund.md
      prefixwise config --select PW1 --json
    """  # noqa: D301 - the backspace keeps the lines of the examples apart
    from prefixwise.analyzers.config_report import config_report
    from prefixwise.analyzers.configured import Configured
    from prefixwise.cli.configuring import configurations
    from prefixwise.cli.console import Console
    from prefixwise.cli.emit import emit, parse_outputs

    console = Console(color, quiet=quiet)
    outputs = parse_outputs(output_format, json=json, reports=report or ())
    found = configurations(
        ctx,
        config,
        isolated=isolated,
        select=select,
        ignore=ignore,
        extend_select=extend_select,
        extend_ignore=extend_ignore,
        fail_on=fail_on,
        exit_zero=exit_zero,
        provider=provider,
        model=model,
        rules=rules,
        jobs=jobs,
        excerpts=excerpts,
    )
    emit(config_report(path, found, Configured(found)), outputs, console)
