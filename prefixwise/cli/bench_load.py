"""`prefixwise bench load`."""

from __future__ import annotations

from typing import Annotated

import typer

from prefixwise.cli import bench_options as b
from prefixwise.cli import options as o


def load(
    target: b.Target,
    model: b.Model,
    protocol: b.Protocol = "openai-chat",
    key_env: b.KeyEnv = None,
    header: b.Header = None,
    groups: Annotated[int, typer.Option("--groups", metavar="N", help="Prefixes.", min=1)] = 8,
    each: Annotated[int, typer.Option("--each", metavar="N", help="Requests that share one.", min=1)] = 8,
    prefix: Annotated[int, typer.Option("--prefix", metavar="N", help="Tokens of a prefix.", min=1)] = 1024,
    suffix: Annotated[int, typer.Option("--suffix", metavar="N", help="Tokens behind it.", min=1)] = 128,
    output: Annotated[int, typer.Option("--output", metavar="N", help="Tokens of an answer.", min=1)] = 16,
    concurrency: Annotated[
        int | None,
        typer.Option("--concurrency", "-c", metavar="N", help="Closed loop: so many at a time (default 8).", min=1),
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option("--rate", metavar="R", help="Open loop: so many a second, Poisson, whatever is under way."),
    ] = None,
    connections: Annotated[
        int, typer.Option("--connections", metavar="N", help="Most requests under way in an open loop.", min=1)
    ] = 256,
    slo: Annotated[
        str,
        typer.Option("--slo", metavar="LIMITS", help="What a good request keeps to: ttft=500ms,tpot=40ms,total=2s."),
    ] = "",
    cold: b.Cold = None,
    keep: b.Keep = None,
    run_id: b.RunId = "",
    seed: b.Seed = 0,
    require: o.Require = None,
    budget: b.Budget = None,
    yes: b.Yes = False,
    rules: o.Rules = None,
    output_format: o.OutputFormat = "text",
    json: o.Json = False,
    report: o.Reports = None,
    quiet: o.Quiet = False,
    no_progress: o.NoProgress = False,
    color: o.Color = "auto",
) -> None:
    """Send a shared-prefix workload at a concurrency or a rate: times, throughput, hit rate and goodput.

    \b
    Examples:
      prefixwise bench load --target http://localhost:8000 --protocol vllm --model Qwen3-8B --concurrency 16
      prefixwise bench load --target http://localhost:8000 --model m --rate 4 --each 40 --slo ttft=500ms,tpot=40ms
      prefixwise bench load --target http://localhost:8000 --model m --require 'goodput>=99%' --slo ttft=1s

    Exit codes: 0 measured; 1 a requirement is not met; 4 inconclusive; 5 invalid measurement.
    """  # noqa: D301 - the backspace keeps the lines of the examples apart
    import os

    from prefixwise.cli.console import Console
    from prefixwise.cli.emit import emit, parse_outputs
    from prefixwise.clients.protocol import Cold
    from prefixwise.workflows.benching import header_fields, key_of
    from prefixwise.workflows.loading import LoadAsked, bench_load

    console = Console(color, quiet=quiet, progress=not no_progress)
    outputs = parse_outputs(output_format, json=json, reports=report or ())
    asked = LoadAsked(
        target=target,
        protocol=protocol,
        model=model,
        key=key_of(protocol, key_env, os.environ),
        headers=header_fields(header or ()),
        groups=groups,
        each=each,
        prefix=prefix,
        suffix=suffix,
        output=output,
        concurrency=concurrency,
        rate=rate,
        connections=connections,
        slo=slo,
        cold=None if cold is None else Cold(cold),
        seed=seed,
        run=run_id,
        keep=keep,
        require=tuple(require or ()),
        yes=yes,
        budget=budget,
        rules=tuple(rules or ()),
    )
    document = bench_load(asked, console.note, console.note)
    emit(document, outputs, console)
    raise typer.Exit(document.exit_code)
