"""The options that mean the same in every command; a command takes those it needs.

Use them as annotations and give the default in the signature: `output_format: OutputFormat = "text"`.
"""

from __future__ import annotations

from typing import Annotated, Literal, Optional

import typer

_OUTPUT = "Output"
_INPUT = "Input"
_COUNTING = "Counting"

# -- what comes out ---------------------------------------------------------------------------------------

OutputFormat = Annotated[
    str,
    typer.Option(
        "--output-format",
        metavar="FORMAT",
        envvar="PREFIXWISE_OUTPUT_FORMAT",
        help="Write this format to stdout: text, json, csv, markdown.",
        rich_help_panel=_OUTPUT,
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="Write JSON: short for --output-format json.", rich_help_panel=_OUTPUT)
]
Reports = Annotated[
    Optional[list[str]],
    typer.Option(
        "--report",
        metavar="FORMAT=PATH",
        help="Also write the report to a file. May be repeated.",
        rich_help_panel=_OUTPUT,
    ),
]
ExcerptMode = Annotated[
    Literal["none", "masked", "full"],
    typer.Option(
        "--excerpts",
        help="Show none of the prompts' own text, up to 40 characters with secrets masked, or all of it.",
        rich_help_panel=_OUTPUT,
    ),
]
Color = Annotated[
    Literal["auto", "always", "never"],
    typer.Option("--color", help="Colour the output.", rich_help_panel=_OUTPUT),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Say nothing on stderr but errors.", rich_help_panel=_OUTPUT)
]
NoProgress = Annotated[
    bool, typer.Option("--no-progress", help="Do not show how far the work is.", rich_help_panel=_OUTPUT)
]

# -- what goes in -----------------------------------------------------------------------------------------

InputFormat = Annotated[
    Optional[str],
    typer.Option(
        "--input-format",
        metavar="FORMAT",
        help="Read the files as this format instead of finding out.",
        rich_help_panel=_INPUT,
    ),
]
Strict = Annotated[
    bool,
    typer.Option("--strict", help="Stop at the first broken record instead of skipping it.", rich_help_panel=_INPUT),
]


def _pointer(option: str, help: str) -> object:
    return typer.Option(option, metavar="POINTER", help=f"{help} (JSON pointer).", rich_help_panel=_INPUT)


RecordPath = Annotated[Optional[str], _pointer("--record-path", "Find the records of a JSON file here")]
TenantField = Annotated[Optional[str], _pointer("--tenant-field", "Take a record's tenant from here")]
SessionField = Annotated[Optional[str], _pointer("--session-field", "Take a record's session from here")]
ModelField = Annotated[Optional[str], _pointer("--model-field", "Take a record's model from here")]
StartField = Annotated[Optional[str], _pointer("--start-field", "Take a request's start time from here")]
EndField = Annotated[Optional[str], _pointer("--end-field", "Take a request's end time from here")]
ReplicaField = Annotated[Optional[str], _pointer("--replica-field", "Take the replica that served from here")]
SaltField = Annotated[Optional[str], _pointer("--salt-field", "Take a request's cache salt from here")]

# -- how it is counted ------------------------------------------------------------------------------------

Under = Annotated[
    Optional[list[str]],
    typer.Option(
        "--under",
        metavar="RULE",
        help="Count under this cache's rule, such as vllm:block=16. May be repeated.",
        rich_help_panel=_COUNTING,
    ),
]
Require = Annotated[
    Optional[list[str]],
    typer.Option(
        "--require",
        metavar="CONDITION",
        help="Exit with 1 unless this holds, such as 'hit_rate>=0.6'. May be repeated.",
        rich_help_panel=_COUNTING,
    ),
]
By = Annotated[
    Optional[str],
    typer.Option("--by", metavar="FIELD", help="Split the figures by this field.", rich_help_panel=_COUNTING),
]
