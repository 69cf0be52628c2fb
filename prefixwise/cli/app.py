"""The command line: commands put together, and the boundary that no exception crosses."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from prefixwise import __version__
from prefixwise.cli import (
    audit,
    bench,
    check,
    compare,
    config,
    diff,
    explain,
    generate,
    hitrate,
    init,
    lint,
    lock,
    lsp,
    models,
    providers,
    rules,
    schema,
    serve,
    tokens,
    trace,
    verify,
    why,
)

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


app.command("lint", epilog=_EPILOG)(lint.lint)
app.command("why", epilog=_EPILOG)(why.why)
app.command("hitrate", epilog=_EPILOG)(hitrate.hitrate)
app.command("providers", epilog=_EPILOG)(providers.providers)
app.command("diff", epilog=_EPILOG)(diff.diff)
app.command("tokens", epilog=_EPILOG)(tokens.tokens)
app.command("trace", epilog=_EPILOG)(trace.trace)
app.command("check", epilog=_EPILOG)(check.check)
app.command("generate", epilog=_EPILOG)(generate.generate)
app.command("serve", epilog=_EPILOG)(serve.serve)
app.command("models", epilog=_EPILOG)(models.models)
app.command("compare", epilog=_EPILOG)(compare.compare)
app.command("verify", epilog=_EPILOG)(verify.verify)
app.add_typer(bench.app, name="bench")
app.add_typer(audit.app, name="audit")
app.command("rules", epilog=_EPILOG)(rules.rules)
app.command("lock", epilog=_EPILOG)(lock.lock)
app.command("lsp", epilog=_EPILOG)(lsp.lsp)
app.command("explain", epilog=_EPILOG)(explain.explain)
app.command("config", epilog=_EPILOG)(config.config)
app.command("init", epilog=_EPILOG)(init.init)
app.command("schema", epilog=_EPILOG)(schema.schema)


def run() -> int:
    """Run the command line and return its exit code (DESIGN section 8); every failure becomes one line on stderr.

    Raises:
        KeyboardInterrupt: The user pressed Ctrl-C.
    """
    try:
        code = app(standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        raise KeyboardInterrupt from None
    except SystemExit as ending:
        return ending.code if isinstance(ending.code, int) else 2
    except BaseException as problem:  # a panic of a Rust extension is a BaseException too
        return _explain(problem)
    return code if isinstance(code, int) else 0


def _explain(problem: BaseException) -> int:
    """Print what went wrong on stderr and return the exit code."""
    from prefixwise.cli.console import Console
    from prefixwise.core.errors import UserError

    if hasattr(problem, "format_message"):  # Typer's usage errors have no public class
        return _usage_error(problem)
    error = problem if isinstance(problem, UserError) else None
    if isinstance(problem, OSError):
        error = UserError(problem.strerror or str(problem) or type(problem).__name__, str(problem.filename or ""))
    elif isinstance(problem, MemoryError):
        error = UserError("out of memory")
    Console().error(error or _internal(problem))
    return error.exit_code if error else 2


def _internal(problem: BaseException) -> Any:
    from prefixwise.core.errors import UserError

    what = f"internal error, please report it: {type(problem).__name__}: {str(problem)[:300]}"
    frame = problem.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    where = f"{frame.tb_frame.f_globals.get('__name__', '?')}:{frame.tb_lineno}" if frame else ""
    return UserError(what, where)


def _usage_error(problem: Any) -> int:
    """Print a usage error in the house's shape; a bare call gets the help."""
    from prefixwise.cli.console import Console
    from prefixwise.core.errors import UserError

    context = getattr(problem, "ctx", None)
    if type(problem).__name__ == "NoArgsIsHelpError" and context is not None:
        sys.stderr.write(context.get_help() + "\n")
        return 2
    command = context.command_path if context is not None else "prefixwise"
    message = str(problem.format_message())
    Console().error(UserError(message[:500], help=f"see {command} --help"))
    return 2
