"""`prefixwise diff`."""

from __future__ import annotations

from typing import Annotated

import typer

from prefixwise.cli import options as o


def diff(
    ctx: typer.Context,
    first: Annotated[str, typer.Argument(metavar="A", help="A prompt file, or a record of a log as FILE#N.")],
    second: Annotated[str, typer.Argument(metavar="B", help="The prompt to compare with it.")],
    under: o.Under = None,
    output_format: o.OutputFormat = "text",
    json: o.Json = False,
    report: o.Reports = None,
    excerpts: o.ExcerptMode = None,
    config: o.Config = None,
    isolated: o.Isolated = False,
    tokenizer: o.Tokenizers = None,
    chat_template: o.ChatTemplates = None,
    input_format: o.InputFormat = None,
    record_path: o.RecordPath = None,
    color: o.Color = "auto",
) -> None:
    """Show where two prompts part, and what of the first one's cache the second one keeps.

    \b
    Examples:
      prefixwise diff old.md new.md
      prefixwise diff requests.jsonl#3 requests.jsonl#4 --under vllm:block=16
    """  # noqa: D301 - the backspace keeps the lines of the examples apart
    from prefixwise.analyzers.diff import difference
    from prefixwise.analyzers.diff_report import diff_report
    from prefixwise.caches.policy import parse_policy
    from prefixwise.cli.configuring import configurations
    from prefixwise.cli.console import Console
    from prefixwise.cli.emit import emit, parse_outputs
    from prefixwise.cli.reading import read_options, standard_input
    from prefixwise.cli.tokenizing import chooser
    from prefixwise.core.errors import UserError
    from prefixwise.core.excerpt import Excerpts
    from prefixwise.corpus.single import read_one

    console = Console(color)
    choose = chooser(tokenizer or (), chat_template or ())
    outputs = parse_outputs(output_format, json=json, reports=report or ())
    settings = configurations(ctx, config, isolated=isolated, excerpts=excerpts).here.settings
    policies = [parse_policy(spec) for spec in under or ("vllm", "sglang")]
    options = read_options(input_format, record_path)
    if first == second == "-":
        raise UserError("standard input can be read once only", "- -", "save one of the prompts to a file")
    one, one_file = read_one(first, options, standard_input())
    other, other_file = read_one(second, options, standard_input())
    try:
        found = difference(one, other, choose)
    except ValueError as problem:
        raise UserError(str(problem), f"{first}, {second}") from None
    files = (one_file,) if one_file == other_file else (one_file, other_file)
    emit(diff_report(found, (first, second), policies, files, Excerpts(settings.excerpts)), outputs, console)
