"""`prefixwise bench replay`."""

from __future__ import annotations

from typing import Annotated

import typer

from prefixwise.cli import bench_options as b
from prefixwise.cli import options as o


def replay(
    paths: Annotated[list[str], typer.Argument(metavar="PATHS...", help="A log or trace, or several, or -.")],
    target: b.Target,
    model: b.Model,
    protocol: b.Protocol = "openai-chat",
    key_env: b.KeyEnv = None,
    header: b.Header = None,
    speed: Annotated[
        float, typer.Option("--speed", metavar="X", min=0.001, help="Open loop: send X times as fast as logged.")
    ] = 1.0,
    concurrency: Annotated[
        int, typer.Option("--concurrency", metavar="N", min=0, help="Closed loop: keep N requests under way.")
    ] = 0,
    ramp: Annotated[
        float, typer.Option("--ramp", metavar="SECONDS", min=0, help="Let the load grow to its full size so long.")
    ] = 0.0,
    slo: Annotated[
        list[str] | None,
        typer.Option(
            "--slo",
            metavar="LIMITS",
            help="What a good request keeps to: ttft=500ms,tpot=40ms,total=2s. May be repeated.",
        ),
    ] = None,
    output_tokens: Annotated[
        int | None,
        typer.Option("--output-tokens", metavar="N", min=1, help="Tokens of every answer (default: as logged)."),
    ] = None,
    synthetic: Annotated[
        bool, typer.Option("--synthetic", help="Make up texts that share what a text-free trace says.")
    ] = False,
    under: o.Under = None,
    log_model: b.LogModel = None,
    limit: b.Limit = None,
    cold: b.ColdWay = None,
    metrics: b.Metrics = None,
    keep: b.Keep = None,
    parquet: b.Table = None,
    run_id: b.RunId = "",
    require: o.Require = None,
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
    """Send a log or trace again: hit rate, time to first token from sending and from arrival, goodput.

    \b
    Examples:
      prefixwise bench replay requests.jsonl --target http://localhost:8000 --protocol vllm --model Qwen3-8B
      prefixwise bench replay requests.jsonl --target http://localhost:8000 --model m --speed 4 --slo ttft=500ms
      prefixwise bench replay mooncake.jsonl --synthetic --target http://localhost:8000 --protocol vllm --model m

    Exit codes: 0 replayed; 1 a requirement is not met; 4 inconclusive; 5 no request was answered.
    """  # noqa: D301 - the backspace keeps the lines of the examples apart
    from prefixwise.cli.console import Console
    from prefixwise.cli.emit import emit, parse_outputs
    from prefixwise.cli.reading import read_options, read_twice
    from prefixwise.cli.tokenizing import chooser
    from prefixwise.workflows.replaying import ReplayAsked, bench_replay

    console = Console(color, quiet=quiet, progress=not no_progress)
    outputs = parse_outputs(output_format, json=json, reports=report or ())
    asked = ReplayAsked(
        target=b.target_of(target, protocol, model, key_env, header, budget, yes),
        speed=speed,
        concurrency=concurrency,
        ramp=ramp,
        output=output_tokens,
        run=run_id,
        cold=cold,
        synthetic=synthetic,
        log_model=log_model,
        limit=limit,
        slos=tuple(slo or ()),
        require=tuple(require or ()),
        under=tuple(under or ()),
        metrics=tuple(metrics or ()),
        keep=keep,
        table=parquet,
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
    with (
        read_twice(paths, reading, console, chooser(tokenizer or (), chat_template or ())) as (corpus, again),
        console.progress("replaying") as progress,
    ):
        document = bench_replay(asked, corpus, again, console.note, progress)
    emit(document, outputs, console)
    raise typer.Exit(document.exit_code)
