"""`prefixwise check`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from prefixwise.cli import options as o

if TYPE_CHECKING:
    from prefixwise.cli.console import Console


def check(
    ctx: typer.Context,
    builder: Annotated[
        str,
        typer.Argument(metavar="MODULE:FUNCTION", help="What builds the prompt: package.module:name, file.py:name."),
    ],
    call: Annotated[
        str | None,
        typer.Option(
            "--call",
            metavar="JSON",
            help='Call it with these: a list, an object of names, or {"args": [...], "kwargs": {...}}.',
        ),
    ] = None,
    until: Annotated[
        Literal["system", "tools", "last-user"],
        typer.Option(
            "--until",
            help="How far the prefix has to be stable: up to the end of the tools, of the "
            "instructions, or up to the last message of the user.",
        ),
    ] = "system",
    min_tokens: Annotated[
        int | None, typer.Option("--min-tokens", min=0, help="Fail when the stable prefix has fewer tokens.")
    ] = None,
    knob: Annotated[
        list[str] | None,
        typer.Option(
            "--knob",
            metavar="NAME",
            help="Change only this: clock, hash-seed, random-seed, zone, locale, "
            "cwd, environment, directory-order, all. May be repeated.",
        ),
    ] = None,
    python: Annotated[
        str | None,
        typer.Option("--python", metavar="PATH", help="Run it with this interpreter instead of the active one."),
    ] = None,
    timeout: Annotated[float, typer.Option("--timeout", min=0.1, help="Seconds a run may take.")] = 60.0,
    allow_network: Annotated[
        bool, typer.Option("--allow-network", help="Let it reach the network, which is refused otherwise.")
    ] = False,
    pass_env: Annotated[
        list[str] | None,
        typer.Option(
            "--pass-env", metavar="NAME", help="Pass this variable on though it looks like a secret. May be repeated."
        ),
    ] = None,
    output_format: o.OutputFormat = "text",
    json: o.Json = False,
    report: o.Reports = None,
    excerpts: o.ExcerptMode = None,
    config: o.Config = None,
    isolated: o.Isolated = False,
    quiet: o.Quiet = False,
    no_progress: o.NoProgress = False,
    color: o.Color = "auto",
) -> None:
    """Run your prompt builder with clock, seeds, zone, environment and more changed, and see whether its prefix moves.

    It runs your code, in fresh processes, with your rights: no sandbox. Exit codes: 0 stable, 1 moved, 2 error, 3
    nothing was tested.

    \b
    Examples:
      prefixwise check app.prompts:build_system
      prefixwise check app/prompts.py:build --call '{"user": "Ada"}' --until tools
      prefixwise check app.prompts:build_system --min-tokens 1024
    """  # noqa: D301 - the backspace keeps the lines of the examples apart
    from prefixwise.analyzers.builder_check.asked import builder_of
    from prefixwise.analyzers.builder_check.check import check as run_check
    from prefixwise.analyzers.builder_check.failures import BuilderError
    from prefixwise.analyzers.builder_check.report import check_report, exit_code
    from prefixwise.analyzers.builder_check.variables import without_secrets
    from prefixwise.cli.configuring import configurations
    from prefixwise.cli.console import Console
    from prefixwise.cli.emit import emit, parse_outputs
    from prefixwise.core.excerpt import Excerpts

    console = Console(color, quiet=quiet, progress=not no_progress)
    outputs = parse_outputs(output_format, json=json, reports=report or ())
    settings = configurations(ctx, config, isolated=isolated, excerpts=excerpts).here.settings
    environ, replaced = without_secrets(os.environ, pass_env or ())
    asked = builder_of(builder, call, python or _active_python(), str(Path.cwd()), environ)
    asked = _with(asked, timeout=timeout, network=allow_network)
    try:
        with console.progress("checking") as progress:
            checked = run_check(asked, until, _known(knob or ()), replaced, progress)
    except BuilderError as problem:
        _show_stderr(problem.stderr, console)
        raise
    document = check_report(checked, min_tokens, Excerpts(settings.excerpts))
    emit(document, outputs, console)
    raise typer.Exit(exit_code(checked, document))


def _with(builder: Any, **changes: Any) -> Any:
    import msgspec

    return msgspec.structs.replace(builder, **changes)


def _known(names: Any) -> tuple[str, ...]:
    """Return the names of knobs. Raises UserError for one that is none."""
    import difflib

    from prefixwise.analyzers.builder_check.knobs import KNOB_NAMES
    from prefixwise.core.errors import UserError

    for name in names:
        if name not in KNOB_NAMES:
            near = difflib.get_close_matches(name, KNOB_NAMES, n=1)
            hint = f"did you mean {near[0]}? " if near else ""
            raise UserError("there is no such knob", f"--knob {name[:100]}", f"{hint}known: {', '.join(KNOB_NAMES)}")
    return tuple(names)


def _active_python() -> str:
    """Return the interpreter of the active environment, else the one that runs this."""
    import sys

    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        root = os.environ.get(variable)
        if root:
            for name in ("bin/python", "Scripts/python.exe", "python.exe"):
                if (Path(root) / name).is_file():
                    return str(Path(root) / name)
    return sys.executable


def _show_stderr(text: str, console: Console) -> None:
    """Show the last lines of what the builder wrote to stderr, masked."""
    from prefixwise.core.excerpt import mask

    for line in mask(text).splitlines()[-10:]:
        console.note(f"builder's stderr: {line[:300]}")
