"""`prefixwise schema`."""

from __future__ import annotations

from typing import Annotated

import typer

from prefixwise.cli import options as o


def schema(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="A kind of document, such as lint. Without it: all kinds.")
    ] = None,
    output_format: o.OutputFormat = "text",
    json: o.Json = False,
    report: o.Reports = None,
    quiet: o.Quiet = False,
    color: o.Color = "auto",
) -> None:
    """Print the JSON Schema of a result document, as --json writes it.

    \b
    Examples:
      prefixwise schema
      prefixwise schema lint > lint.schema.json
    """  # noqa: D301 - the backspace keeps the lines of the examples apart
    from prefixwise.cli.console import Console
    from prefixwise.cli.emit import emit, parse_outputs, write_document
    from prefixwise.core.errors import UserError
    from prefixwise.reports.json_schema import schema_document
    from prefixwise.workflows.documents import document_kind, schemas_report

    console = Console(color, quiet=quiet)
    outputs = parse_outputs(output_format, json=json, reports=report or ())
    if name is None:
        emit(schemas_report(), outputs, console)
        return
    kind = document_kind(name)
    if report or outputs.stdout.name not in ("text", "json"):
        raise UserError("a schema is written to stdout, as JSON", name, "leave the formats away")
    write_document(schema_document(kind), console)
