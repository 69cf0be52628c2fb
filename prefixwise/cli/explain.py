"""`prefixwise explain`."""

from __future__ import annotations

from typing import Annotated

import typer

from prefixwise.cli import options as o


def explain(
    rule: Annotated[
        str,
        typer.Argument(
            metavar="RULE", help="A rule's name or code, such as clock-in-prefix or PW101: see prefixwise rules."
        ),
    ],
    output_format: o.OutputFormat = "text",
    json: o.Json = False,
    report: o.Reports = None,
    quiet: o.Quiet = False,
    color: o.Color = "auto",
) -> None:
    """Explain a lint rule: what goes wrong, a bad and a good example, and how to mend it.

    \b
    Examples:
      prefixwise explain clock-in-prefix
      prefixwise explain PW101
      prefixwise explain ttl-expired --output-format markdown
    """  # noqa: D301 - the backspace keeps the lines of the examples apart
    from prefixwise.analyzers.rule import rule_named
    from prefixwise.analyzers.rule_pages import explain_report
    from prefixwise.cli.console import Console
    from prefixwise.cli.emit import emit, parse_outputs

    console = Console(color, quiet=quiet)
    outputs = parse_outputs(output_format, json=json, reports=report or ())
    emit(explain_report(rule_named(rule)), outputs, console)
