"""`prefixwise verify`."""

from __future__ import annotations

from typing import Annotated

import typer

from prefixwise.cli import bench_options as b
from prefixwise.cli import options as o


def verify(
    paths: Annotated[list[str], typer.Argument(metavar="PATHS...", help="A log, or several, or -.")],
    target: b.Target,
    model: b.Model,
    protocol: b.Protocol = "openai-chat",
    under: Annotated[
        str | None,
        typer.Option("--under", metavar="RULE", help="Predict under this cache's rule (default: the engine's own)."),
    ] = None,
    tolerance: Annotated[
        int | None,
        typer.Option(
            "--tolerance",
            metavar="TOKENS",
            min=0,
            help="Let a request be off by so much (default: 0 for prefixwise serve, else one block).",
        ),
    ] = None,
    wait: Annotated[
        float, typer.Option("--wait", metavar="SECONDS", min=0, help="Wait so long between two requests.")
    ] = 0.0,
    key_env: b.KeyEnv = None,
    header: b.Header = None,
    log_model: b.LogModel = None,
    limit: b.Limit = None,
    cold: b.ColdWay = None,
    metrics: b.Metrics = None,
    run_id: b.RunId = "",
    budget: b.Budget = None,
    yes: b.Yes = False,
    rules: o.Rules = None,
    output_format: o.OutputFormat = "text",
    json: o.Json = False,
    report: o.Reports = None,
    tokenizer: o.Tokenizers = None,
    chat_template: o.ChatTemplates = None,
    input_format: o.InputFormat = None,
    record_path: o.RecordPath = None,
    tenant_field: o.TenantField = None,
    session_field: o.SessionField = None,
    model_field: o.ModelField = None,
    start_field: o.StartField = None,
    salt_field: o.SaltField = None,
    strict: o.Strict = False,
    quiet: o.Quiet = False,
    no_progress: o.NoProgress = False,
    color: o.Color = "auto",
) -> None:
    """Send a log to a live engine, and hold the cached tokens that it reports against those that its rule predicts.

    \b
    Examples:
      prefixwise verify requests.jsonl --target http://localhost:8000 --protocol prefixwise --model smollm2
      prefixwise verify requests.jsonl --target http://localhost:8000 --protocol vllm --model m --under vllm:block=16

    Exit codes: 0 as predicted; 1 a request is off; 4 answers say too little.
    """  # noqa: D301 - the backspace keeps the lines of the examples apart
    from prefixwise.cli.console import Console
    from prefixwise.cli.emit import emit, parse_outputs
    from prefixwise.cli.reading import read_options, read_twice
    from prefixwise.cli.tokenizing import chooser
    from prefixwise.workflows.verifying import VerifyAsked
    from prefixwise.workflows.verifying import verify as verified

    console = Console(color, quiet=quiet, progress=not no_progress)
    outputs = parse_outputs(output_format, json=json, reports=report or ())
    asked = VerifyAsked(
        target=b.target_of(target, protocol, model, key_env, header, budget, yes),
        under=under,
        tolerance=tolerance,
        own_tokenizer=bool(tokenizer),
        cold=cold,
        run=run_id,
        log_model=log_model,
        limit=limit,
        wait=wait,
        metrics=tuple(metrics or ()),
        rules=tuple(rules or ()),
    )
    reading = read_options(
        input_format,
        record_path,
        strict,
        tenant=tenant_field,
        session=session_field,
        model=model_field,
        start=start_field,
        salt=salt_field,
    )
    choose = chooser(tokenizer or (), chat_template or ())
    with (
        read_twice(paths, reading, console, choose) as (corpus, again),
        console.progress("verifying") as progress,
    ):
        document = verified(asked, corpus, again, choose, console.note, progress)
    emit(document, outputs, console)
    raise typer.Exit(document.exit_code)
