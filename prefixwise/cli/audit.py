"""`prefixwise audit`: whether tenants are apart in the cache."""

from __future__ import annotations

import typer

from prefixwise.cli import audit_live, audit_logs, audit_timings

app = typer.Typer(
    help="Find out whether tenants are apart in the cache.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.callback()
def audit() -> None:
    """Find out whether tenants are apart in the cache."""


app.command("logs")(audit_logs.logs)
app.command("live")(audit_live.live)
app.command("timings")(audit_timings.timings)
