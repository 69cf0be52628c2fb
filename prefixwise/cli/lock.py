"""`prefixwise lock`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from prefixwise.cli import options as o


def lock(
    ctx: typer.Context,
    paths: Annotated[list[str], typer.Argument(metavar="PATHS...", help="Prompt files, or folders to look in.")],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="Write the lock here; its folder is where paths begin."),
    ] = Path("prefixwise.lock"),
    calls: Annotated[
        int | None,
        typer.Option("--calls", metavar="N", min=0, help="Calls a month of each prompt: what changes cost by then."),
    ] = None,
    model: Annotated[str, typer.Option("--model", metavar="NAME", help="Model whose price they pay.")] = "",
    output_format: o.OutputFormat = "text",
    json: o.Json = False,
    report: o.Reports = None,
    config: o.Config = None,
    isolated: o.Isolated = False,
    quiet: o.Quiet = False,
    color: o.Color = "auto",
) -> None:
    """Lock prompts: write down each one's version, prefix tokens and hashes, for lint --locked to hold them against.

    \b
    Examples:
      prefixwise lock prompts/
      prefixwise lock prompts/ --calls 200000 --model claude-sonnet-4-5
      prefixwise lock prompts/desk.md system.prompty -o ci/prefixwise.lock
    """  # noqa: D301 - the backspace keeps the lines of the examples apart
    from prefixwise.analyzers.configured import Configured
    from prefixwise.cli.configuring import configurations
    from prefixwise.cli.console import Console
    from prefixwise.cli.emit import emit, parse_outputs
    from prefixwise.cli.reading import refuse_overwriting
    from prefixwise.core.errors import UserError
    from prefixwise.core.whole_files import write_whole
    from prefixwise.workflows.locking import locked

    console = Console(color, quiet=quiet)
    outputs = parse_outputs(output_format, json=json, reports=report or ())
    refuse_overwriting([output, *(path for _, path in outputs.files)], paths)
    configured = Configured(configurations(ctx, config, isolated=isolated))
    text, document = locked(paths, output, configured, calls, model)
    try:
        write_whole(output, text)
    except OSError as problem:
        raise UserError(f"cannot write the lock: {problem.strerror or problem}", str(output)) from problem
    emit(document, outputs, console)
