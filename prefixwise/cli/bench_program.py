"""`prefixwise bench program`."""

from __future__ import annotations

from typing import Annotated

import typer

from prefixwise.cli import bench_options as b
from prefixwise.cli import options as o


def program(
    target: b.Target,
    model: b.Model,
    protocol: b.Protocol = "openai-chat",
    key_env: b.KeyEnv = None,
    header: b.Header = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="PROGRAM", help="Run this one: chat, agent, few-shot or tree. May be repeated."),
    ] = None,
    rounds: Annotated[
        int, typer.Option("--rounds", metavar="N", help="Times that each is run with and without reuse.", min=1)
    ] = 10,
    controls: Annotated[
        int, typer.Option("--controls", metavar="N", help="Rounds that have it without reuse once more.", min=0)
    ] = 6,
    scale: Annotated[
        int, typer.Option("--scale", metavar="N", help="Prompts so many times as long.", min=1, max=1000)
    ] = 1,
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
    """Run programs of many calls with reuse and without: what the cache saves from the first call to the last answer.

    \b
    Examples:
      prefixwise bench program --target http://localhost:8000 --protocol vllm --model Qwen3-8B
      prefixwise bench program --target http://localhost:8000 --model m --only chat --scale 8 --require 'speedup>=2'

    Exit codes: 0 measured; 1 a requirement is not met; 4 inconclusive; 5 invalid measurement.
    """  # noqa: D301 - the backspace keeps the lines of the examples apart
    import os

    from prefixwise.cli.console import Console
    from prefixwise.cli.emit import emit, parse_outputs
    from prefixwise.clients.protocol import Cold
    from prefixwise.workflows.benching import header_fields, key_of
    from prefixwise.workflows.programming import ProgramAsked, bench_program

    console = Console(color, quiet=quiet, progress=not no_progress)
    outputs = parse_outputs(output_format, json=json, reports=report or ())
    asked = ProgramAsked(
        target=target,
        protocol=protocol,
        model=model,
        key=key_of(protocol, key_env, os.environ),
        headers=header_fields(header or ()),
        programs=tuple(only or ()),
        rounds=rounds,
        controls=controls,
        scale=scale,
        cold=None if cold is None else Cold(cold),
        seed=seed,
        run=run_id,
        keep=keep,
        require=tuple(require or ()),
        yes=yes,
        budget=budget,
        rules=tuple(rules or ()),
    )
    document = bench_program(asked, console.note, console.note)
    emit(document, outputs, console)
    raise typer.Exit(document.exit_code)
