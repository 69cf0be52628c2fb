"""`prefixwise explain`."""

from __future__ import annotations

from typing import Annotated

import typer

from prefixwise.cli import options as o


def explain(
    rule: Annotated[
        str,
        typer.Argument(
            metavar="RULE",
            help="A rule's or threat's name or code, such as clock-in-prefix or PW101: see prefixwise rules.",
        ),
    ],
    output_format: o.OutputFormat = "text",
    json: o.Json = False,
    report: o.Reports = None,
    quiet: o.Quiet = False,
    color: o.Color = "auto",
) -> None:
    """Explain a lint rule, or a threat that audits look for: what goes wrong, examples, and how to mend it.

    \b
    Examples:
      prefixwise explain clock-in-prefix
      prefixwise explain PW101
      prefixwise explain ttl-expired --output-format markdown
      prefixwise explain salt-absent
    """  # noqa: D301 - the backspace keeps the lines of the examples apart
    from prefixwise.analyzers.every_rule import rule_or_threat
    from prefixwise.analyzers.rule_pages import explain_report
    from prefixwise.cli.console import Console
    from prefixwise.cli.emit import emit, parse_outputs

    console = Console(color, quiet=quiet)
    outputs = parse_outputs(output_format, json=json, reports=report or ())
    emit(explain_report(rule_or_threat(rule)), outputs, console)
