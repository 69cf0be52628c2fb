"""`prefixwise bench probe`."""

from __future__ import annotations

from typing import Annotated

import typer

from prefixwise.cli import bench_options as b
from prefixwise.cli import options as o


def probe(
    target: b.Target,
    model: b.Model,
    protocol: b.Protocol = "openai-chat",
    key_env: b.KeyEnv = None,
    header: b.Header = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="PROBE",
            help="Run this one: usage, replicas, block-size, minimum, visibility, dedupe, capacity or ttl. "
            "May be repeated.",
        ),
    ] = None,
    length: Annotated[
        int, typer.Option("--length", metavar="N", help="Tokens of a prompt, more than the shortest cached.", min=64)
    ] = 2048,
    longest: Annotated[int, typer.Option("--longest", metavar="N", help="Most tokens of a prompt.", min=64)] = 8192,
    ages: Annotated[
        str | None,
        typer.Option("--ages", metavar="T,T", help="Look so late, such as 30s,5m,1h (default 5s,15s,30s,60s)."),
    ] = None,
    replicates: Annotated[
        int, typer.Option("--replicates", metavar="N", help="Prompts of one kind that have to agree.", min=1)
    ] = 3,
    fill: Annotated[
        int,
        typer.Option(
            "--fill", metavar="TOKENS", help="Write so many to find the cache's room; else that is left out.", min=0
        ),
    ] = 0,
    at_once: Annotated[
        int, typer.Option("--at-once", metavar="N", help="Identical requests at a time.", min=2, max=256)
    ] = 8,
    settle: Annotated[
        float, typer.Option("--settle", metavar="S", help="Most seconds until a prompt can be read.", min=0.1)
    ] = 6.4,
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
    """Find out the rules of a cache from outside: block size, shortest prompt, lifetime, room, what is counted.

    \b
    Examples:
      prefixwise bench probe --target http://localhost:8000 --protocol vllm --model Qwen3-8B
      prefixwise bench probe --target http://localhost:8000 --model m --only block-size --require 'block_size==16'
      prefixwise bench probe --target http://localhost:8000 --model m --only capacity --fill 400000
      prefixwise bench probe --target https://api.openai.com --model gpt-5.5 --only ttl --ages 1m,5m,10m,1h --budget 2

    Exit codes: 0 all found; 1 a requirement is not met; 4 a probe is inconclusive.
    """  # noqa: D301 - the backspace keeps the lines of the examples apart
    import os

    from prefixwise.cli.console import Console
    from prefixwise.cli.emit import emit, parse_outputs
    from prefixwise.clients.protocol import Cold
    from prefixwise.workflows.benching import header_fields, key_of
    from prefixwise.workflows.probing import ProbeAsked, bench_probe

    console = Console(color, quiet=quiet, progress=not no_progress)
    outputs = parse_outputs(output_format, json=json, reports=report or ())
    asked = ProbeAsked(
        target=target,
        protocol=protocol,
        model=model,
        key=key_of(protocol, key_env, os.environ),
        headers=header_fields(header or ()),
        only=tuple(only or ()),
        length=length,
        longest=longest,
        ages=_ages(ages),
        replicates=replicates,
        fill=fill,
        at_once=at_once,
        settle=settle,
        cold=None if cold is None else Cold(cold),
        seed=seed,
        run=run_id,
        keep=keep,
        require=tuple(require or ()),
        yes=yes,
        budget=budget,
        rules=tuple(rules or ()),
    )
    document = bench_probe(asked, console.note, console.note)
    emit(document, outputs, console)
    raise typer.Exit(document.exit_code)


def _ages(text: str | None) -> tuple[float, ...]:
    """Read `30s,5m,1h`; a number alone is seconds."""
    import re

    from prefixwise.core.errors import UserError

    scale = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
    found = []
    for one in text.split(",") if text else ():
        match = re.fullmatch(r"\s*(\d{1,6}(?:\.\d{1,6})?)\s*([smh]?)\s*", one)
        if match is None or not float(match[1]):
            raise UserError("this is no list of ages", f"--ages {text}"[:100], "for example 30s,5m,1h")
        found.append(float(match[1]) * scale[match[2]])
    return tuple(found)
