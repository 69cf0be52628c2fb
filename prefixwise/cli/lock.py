"""`prefixwise lock`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from prefixwise.cli import options as o


def lock(
    paths: Annotated[list[str], typer.Argument(metavar="PATHS...", help="Prompt files, or folders to look in.")],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="Write the lock here; its folder is where paths begin."),
    ] = Path("prefixwise.lock"),
    output_format: o.OutputFormat = "text",
    json: o.Json = False,
    report: o.Reports = None,
    quiet: o.Quiet = False,
    color: o.Color = "auto",
) -> None:
    """Lock prompts: write down each one's version, prefix tokens and hashes, for lint --locked to hold them against.

    \b
    Examples:
      prefixwise lock prompts/
      prefixwise lock prompts/desk.md system.prompty -o ci/prefixwise.lock
    """  # noqa: D301 - the backspace keeps the lines of the examples apart
    from prefixwise.analyzers.static.files_report import prompt_files
    from prefixwise.analyzers.static.lock import lock_of, lock_text, read_lock, read_prompts
    from prefixwise.analyzers.static.lock_report import lock_report
    from prefixwise.cli.console import Console
    from prefixwise.cli.emit import emit, parse_outputs
    from prefixwise.cli.reading import refuse_overwriting
    from prefixwise.core.errors import UserError
    from prefixwise.core.whole_files import write_whole

    console = Console(color, quiet=quiet)
    outputs = parse_outputs(output_format, json=json, reports=report or ())
    refuse_overwriting([output, *(path for _, path in outputs.files)], paths)
    prompts, notes = read_prompts(prompt_files(paths), output.parent)
    if not prompts:
        raise UserError("; ".join(notes) or "no prompt files there", ", ".join(paths), exit_code=3)
    try:
        before = read_lock(output) if output.exists() else None
    except UserError as problem:
        before = None
        notes.append(f"the lock before could not be read: {problem}")
    written = lock_of(prompts)
    try:
        write_whole(output, lock_text(written))
    except OSError as problem:
        raise UserError(f"cannot write the lock: {problem.strerror or problem}", str(output)) from problem
    emit(lock_report(written, before, notes), outputs, console)
