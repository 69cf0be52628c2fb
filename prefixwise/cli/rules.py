"""`prefixwise rules`."""

from __future__ import annotations

from typing import Annotated

import typer

from prefixwise.cli import options as o


def rules(
    select: o.Select = None,
    ignore: o.Ignore = None,
    threats: Annotated[
        bool, typer.Option("--threats", help="List the threats that audit logs looks for instead.")
    ] = False,
    output_format: o.OutputFormat = "text",
    json: o.Json = False,
    report: o.Reports = None,
    quiet: o.Quiet = False,
    color: o.Color = "auto",
) -> None:
    """List the lint rules: names, codes, where they look, and whether a tool may apply their fix.

    \b
    Examples:
      prefixwise rules
      prefixwise rules --threats
      prefixwise rules --select PW2 --output-format csv
    """  # noqa: D301 - the backspace keeps the lines of the examples apart
    from prefixwise.analyzers.rule import RULES, chosen_rules
    from prefixwise.analyzers.rule_pages import rules_report
    from prefixwise.analyzers.tenancy.chosen import chosen_threats
    from prefixwise.analyzers.tenancy.threat import THREATS
    from prefixwise.cli.console import Console
    from prefixwise.cli.emit import emit, parse_outputs

    console = Console(color, quiet=quiet)
    outputs = parse_outputs(output_format, json=json, reports=report or ())
    if threats:
        wanted = chosen_threats(select or (), ignore or ())
        emit(rules_report((one for one in THREATS if one.name in wanted), "threat"), outputs, console)
        return
    chosen = chosen_rules(select or (), ignore or ())
    emit(rules_report(rule for rule in RULES if rule.name in chosen), outputs, console)
