"""`prefixwise tokens`."""

from __future__ import annotations

from typing import Annotated

import typer

from prefixwise.cli import options as o


def tokens(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A prompt file, a log, or a record of it as FILE#N.")],
    block: Annotated[int, typer.Option("--block", min=1, help="Tokens in a block.")] = 16,
    blocks: Annotated[bool, typer.Option("--blocks", help="List every block with its text.")] = False,
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
    """Count a prompt's tokens, segment by segment, and show where its blocks end.

    \b
    Examples:
      prefixwise tokens system.md
      prefixwise tokens requests.jsonl#0 --block 16 --blocks
    """  # noqa: D301 - the backspace keeps the lines of the examples apart
    from prefixwise.analyzers.tokens import tokens_report
    from prefixwise.cli.configuring import configurations
    from prefixwise.cli.console import Console
    from prefixwise.cli.emit import emit, parse_outputs
    from prefixwise.cli.reading import read_options, standard_input
    from prefixwise.cli.tokenizing import chooser
    from prefixwise.core.errors import UserError
    from prefixwise.core.excerpt import Excerpts
    from prefixwise.corpus.single import read_requests

    console = Console(color)
    choose = chooser(tokenizer or (), chat_template or ())
    outputs = parse_outputs(output_format, json=json, reports=report or ())
    settings = configurations(ctx, config, isolated=isolated, excerpts=excerpts).here.settings
    requests, source = read_requests(file, read_options(input_format, record_path), standard_input())
    try:
        document = tokens_report(requests, source, block, blocks, Excerpts(settings.excerpts), choose)
    except ValueError as problem:
        raise UserError(str(problem), file) from None
    emit(document, outputs, console)
