"""`prefixwise providers`."""

from __future__ import annotations

from typing import Annotated

import typer

from prefixwise.cli import options as o


def providers(
    ctx: typer.Context,
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="A system, a provider or a model. Without it: all systems.")
    ] = None,
    rules: o.Rules = None,
    output_format: o.OutputFormat = "text",
    json: o.Json = False,
    report: o.Reports = None,
    config: o.Config = None,
    isolated: o.Isolated = False,
    quiet: o.Quiet = False,
    color: o.Color = "auto",
) -> None:
    """Show the cache rules and prices of providers and engines, with their sources.

    \b
    Examples:
      prefixwise providers
      prefixwise providers anthropic
      prefixwise providers gpt-5.5 --rules ours.toml
    """  # noqa: D301 - the backspace keeps the lines of the examples apart
    from prefixwise.analyzers.facts_report import found_report, overview_report
    from prefixwise.caches.rulebook import Rulebook
    from prefixwise.cli.configuring import configurations
    from prefixwise.cli.console import Console
    from prefixwise.cli.emit import emit, parse_outputs

    console = Console(color, quiet=quiet)
    outputs = parse_outputs(output_format, json=json, reports=report or ())
    settings = configurations(ctx, config, isolated=isolated, rules=rules).here.settings
    book = Rulebook(settings.rules)
    document = overview_report(book) if name is None else found_report(name, book.find(name))
    emit(document, outputs, console)
    raise typer.Exit(document.exit_code)
