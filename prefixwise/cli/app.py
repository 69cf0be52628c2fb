"""The command line: commands put together, and the boundary that no exception crosses."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from prefixwise import __version__
from prefixwise.cli import diff, hitrate, tokens, trace

_EPILOG = (
    "Exit codes: 0 clean; 1 findings, a failed --require or a leak; 2 could not run; 3 no input; 4 inconclusive; "
    "5 invalid measurement; 130 interrupted."
)

app = typer.Typer(
    name="prefixwise",
    help="Audit and benchmark LLM prompt caching.",
    epilog=_EPILOG,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"prefixwise {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Audit and benchmark LLM prompt caching."""


app.command("hitrate", epilog=_EPILOG)(hitrate.hitrate)
app.command("diff", epilog=_EPILOG)(diff.diff)
app.command("tokens", epilog=_EPILOG)(tokens.tokens)
app.command("trace", epilog=_EPILOG)(trace.trace)


def main() -> None:
    """Run the command line; every failure becomes one line and an exit code of DESIGN section 8."""
    try:
        app()
    except (SystemExit, KeyboardInterrupt, GeneratorExit) as ending:
        if isinstance(ending, KeyboardInterrupt):
            sys.exit(130)
        raise
    except BaseException as problem:  # a panic of a Rust extension is a BaseException too
        sys.exit(_explain(problem))


def _explain(problem: BaseException) -> int:
    """Print what went wrong on stderr and return the exit code."""
    from prefixwise.cli.console import Console
    from prefixwise.core.errors import UserError

    if isinstance(problem, UserError):
        Console().error(problem)
        return problem.exit_code
    if isinstance(problem, MemoryError):
        Console().error(UserError("out of memory"))
        return 2
    what = f"internal error, please report it: {type(problem).__name__}: {str(problem)[:300]}"
    frame = problem.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    where = f"{frame.tb_frame.f_globals.get('__name__', '?')}:{frame.tb_lineno}" if frame else ""
    Console().error(UserError(what, where))
    return 2
