"""`prefixwise init`."""

from __future__ import annotations

from typing import Annotated

import typer

from prefixwise.cli import options as o


def init(
    pyproject: Annotated[
        bool, typer.Option("--pyproject", help="Add a section to pyproject.toml instead of writing prefixwise.toml.")
    ] = False,
    quiet: o.Quiet = False,
    color: o.Color = "auto",
) -> None:
    """Write a configuration to begin with: every key, explained and commented out. Nothing is overwritten.

    \b
    Examples:
      prefixwise init
      prefixwise init --pyproject
    """  # noqa: D301 - the backspace keeps the lines of the examples apart
    from prefixwise.cli.console import Console
    from prefixwise.core.whole_files import write_whole
    from prefixwise.workflows.starting import started

    path, data = started(pyproject=pyproject)
    write_whole(path, data)
    Console(color, quiet=quiet).note(f"wrote {path}; nothing is set in it yet")
