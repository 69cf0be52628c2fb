"""The options that mean the same in every command; a command takes those it needs.

Use them as annotations and give the default in the signature: `output_format: OutputFormat = "text"`.
"""

from __future__ import annotations

from typing import Annotated, Literal

import typer

# -- what comes out ---------------------------------------------------------------------------------------

OutputFormat = Annotated[
    str,
    typer.Option(
        "--output-format",
        metavar="FORMAT",
        envvar="PREFIXWISE_OUTPUT_FORMAT",
        help="Write this format to stdout: text (or full), concise, json, csv, markdown, html, "
        "sarif, gitlab, junit, github, rdjson.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Write JSON: short for --output-format json.")]
Reports = Annotated[
    list[str] | None,
    typer.Option("--report", metavar="FORMAT=PATH", help="Also write the report to a file. May be repeated."),
]
ExcerptMode = Annotated[
    Literal["none", "masked", "full"] | None,
    typer.Option(
        "--excerpts",
        help="Show none of the prompts' own text, up to 40 characters with secrets masked (the default), or all of it.",
    ),
]
Color = Annotated[
    Literal["auto", "always", "never"],
    typer.Option("--color", help="Colour the output."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing on stderr but errors.")]
NoProgress = Annotated[bool, typer.Option("--no-progress", help="Do not show how far the work is.")]

# -- what goes in -----------------------------------------------------------------------------------------

InputFormat = Annotated[
    str | None,
    typer.Option(
        "--input-format",
        metavar="FORMAT",
        help="Read the files as this format (litellm, otel, claude-code, openai-chat, …) instead of recognising it.",
    ),
]
Strict = Annotated[
    bool,
    typer.Option("--strict", help="Stop at the first broken record instead of skipping it."),
]


def _pointer(option: str, help: str) -> object:
    return typer.Option(option, metavar="POINTER", help=f"{help} (JSON pointer into a record).")


RecordPath = Annotated[
    str | None, _pointer("--record-path", "Find the request body here, * for every element of a list")
]
TenantField = Annotated[str | None, _pointer("--tenant-field", "Take a record's tenant from here")]
SessionField = Annotated[str | None, _pointer("--session-field", "Take a record's session from here")]
ModelField = Annotated[str | None, _pointer("--model-field", "Take a record's model from here")]
StartField = Annotated[str | None, _pointer("--start-field", "Take a request's start time from here")]
EndField = Annotated[str | None, _pointer("--end-field", "Take a request's end time from here")]
ReplicaField = Annotated[str | None, _pointer("--replica-field", "Take the replica that served from here")]
SaltField = Annotated[str | None, _pointer("--salt-field", "Take a request's cache salt from here")]

# -- how it is counted ------------------------------------------------------------------------------------

Tokenizers = Annotated[
    list[str] | None,
    typer.Option(
        "--tokenizer",
        metavar="[MODEL=]PATH",
        help="Count with this tokenizer: a folder, tokenizer.json, GGUF file or hub name. May be repeated.",
    ),
]
ChatTemplates = Annotated[
    list[str] | None,
    typer.Option(
        "--chat-template",
        metavar="[MODEL=]FILE",
        help="Render chats with this Jinja template instead of the tokenizer's own. May be repeated.",
    ),
]
Under = Annotated[
    list[str] | None,
    typer.Option(
        "--under",
        metavar="RULE",
        help="Count under this cache's rule, such as vllm:block=16,capacity=40GiB. May be repeated.",
    ),
]
ModelShape = Annotated[
    str | None,
    typer.Option(
        "--model-shape",
        metavar="SHAPE",
        help="For capacities in bytes: a model's config.json, or layers=36,kv_heads=8,head_size=128,dtype=bf16.",
    ),
]
Require = Annotated[
    list[str] | None,
    typer.Option(
        "--require",
        metavar="CONDITION",
        help="Exit with 1 unless this holds, such as 'hit_rate>=0.6'. May be repeated.",
    ),
]
FailOn = Annotated[
    Literal["error", "warning", "info", "never"] | None,
    typer.Option(
        "--fail-on",
        envvar="PREFIXWISE_FAIL_ON",
        help="Exit with 1 on a finding of this level or worse; by default error.",
    ),
]
ExitZero = Annotated[bool, typer.Option("--exit-zero", help="Never exit with 1: the same as --fail-on never.")]
Select = Annotated[
    list[str] | None,
    typer.Option(
        "--select",
        metavar="RULE",
        help="Run these rules only: a name, a code, or how codes begin (PW101, PW1). May be repeated.",
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        "--ignore",
        metavar="RULE",
        help="Leave out these rules: a name, a code, or how codes begin (PW101, PW1). May be repeated.",
    ),
]
ExtendSelect = Annotated[
    list[str] | None,
    typer.Option("--extend-select", metavar="RULE", help="Run these rules beside those selected. May be repeated."),
]
ExtendIgnore = Annotated[
    list[str] | None,
    typer.Option(
        "--extend-ignore", metavar="RULE", help="Leave out these rules beside those ignored. May be repeated."
    ),
]
Rules = Annotated[
    list[str] | None,
    typer.Option(
        "--rules",
        metavar="PATH",
        help="Lay this file, or folder of files, of cache facts and prices over the packaged ones. May be repeated.",
    ),
]
By = Annotated[
    list[str] | None,
    typer.Option(
        "--by", metavar="FIELD", help="Split by model, tenant, session, family, replica or provider. May be repeated."
    ),
]

# -- the configuration ------------------------------------------------------------------------------------

Config = Annotated[
    str | None,
    typer.Option(
        "--config",
        metavar="FILE",
        envvar="PREFIXWISE_CONFIG",
        help="Take this configuration for all files instead of the one nearest to each.",
    ),
]
Isolated = Annotated[bool, typer.Option("--isolated", help="Read no configuration file.")]
ConfiguredFormat = Annotated[str | None, OutputFormat.__metadata__[0]]
Provider = Annotated[
    str | None,
    typer.Option("--provider", metavar="NAME", envvar="PREFIXWISE_PROVIDER", help="Whose API the prompt files go to."),
]
Model = Annotated[
    str | None,
    typer.Option("--model", metavar="NAME", envvar="PREFIXWISE_MODEL", help="Model that reads the prompt files."),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        metavar="N",
        min=0,
        envvar="PREFIXWISE_JOBS",
        help="Processes that read sources; 0, the default: as many as pay.",
    ),
]
