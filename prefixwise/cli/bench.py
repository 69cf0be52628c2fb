"""`prefixwise bench`: experiments on engines and endpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from prefixwise.cli import bench_load, bench_probe, bench_program, bench_replay
from prefixwise.cli import bench_options as b
from prefixwise.cli import options as o

app = typer.Typer(
    help="Measure engines and endpoints.", no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False
)


@app.callback()
def bench() -> None:
    """Measure engines and endpoints."""


@app.command("ttft")
def ttft(
    target: Annotated[
        str, typer.Option("--target", metavar="URL", help="Address of the endpoint, such as http://localhost:8000.")
    ],
    model: Annotated[str, typer.Option("--model", metavar="NAME", help="Model, as the endpoint calls it.")],
    protocol: Annotated[
        str,
        typer.Option(
            "--protocol", metavar="NAME", help="How it is spoken to: vllm, sglang, openai-chat, anthropic, gemini, …"
        ),
    ] = "openai-chat",
    key_env: Annotated[
        str | None,
        typer.Option("--key-env", metavar="VAR", help="Environment variable with the API key (default: the vendor's)."),
    ] = None,
    header: Annotated[
        list[str] | None,
        typer.Option("--header", metavar="'NAME: VALUE'", help="Send this header field too. May be repeated."),
    ] = None,
    lengths: Annotated[
        str | None,
        typer.Option(
            "--lengths", metavar="N,N,N", help="Tokens that cold and warm prompts share (default 1024,2048,4096)."
        ),
    ] = None,
    items: Annotated[
        int | None, typer.Option("--items", metavar="N", help="Pairs of each length (default 30, quick 20).", min=1)
    ] = None,
    repeats: Annotated[int, typer.Option("--repeats", metavar="N", help="Warm requests of a pair.", min=1, max=3)] = 1,
    controls: Annotated[
        int, typer.Option("--controls", metavar="N", help="Cold requests to compare with cold ones.", min=0)
    ] = 10,
    suffix: Annotated[int, typer.Option("--suffix", metavar="N", help="Tokens behind the shared ones.", min=1)] = 64,
    mode: Annotated[
        Literal["shared-prefix", "replay"],
        typer.Option("--mode", help="Warm prompts share their beginning only, or everything."),
    ] = "shared-prefix",
    cold: Annotated[
        Literal["nonce", "salt", "isolation-key"] | None,
        typer.Option("--cold", help="How prompts are made new (default: the best way of the protocol)."),
    ] = None,
    block: Annotated[
        int, typer.Option("--block", metavar="N", help="Tokens of a block of the server's cache.", min=1)
    ] = 1,
    quick: Annotated[
        bool, typer.Option("--quick", help="128, 256 and 512 tokens, and at most 20 pairs of each: a first look.")
    ] = False,
    adaptive: Annotated[bool, typer.Option("--adaptive", help="Stop when the interval is 5 % to each side.")] = False,
    request: Annotated[
        str,
        typer.Option(
            "--request",
            metavar="FILE#N",
            help="Measure your own tools, system prompt and history: those of this request.",
        ),
    ] = "",
    metrics: b.Metrics = None,
    keep: Annotated[
        Path | None,
        typer.Option("--keep", metavar="FILE", help="Keep every request in this file; an interrupted run goes on."),
    ] = None,
    parquet: b.Table = None,
    run_id: Annotated[
        str,
        typer.Option(
            "--run-id", metavar="NAME", help="Make the same prompts as another run (the cache may hold them)."
        ),
    ] = "",
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Of the order of requests.")] = 0,
    require: o.Require = None,
    budget: Annotated[
        float | None, typer.Option("--budget", metavar="USD", help="Do not begin a run that may cost more.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Send to an endpoint that is not on this machine.")] = False,
    rules: o.Rules = None,
    output_format: o.OutputFormat = "text",
    json: o.Json = False,
    report: o.Reports = None,
    quiet: o.Quiet = False,
    no_progress: o.NoProgress = False,
    color: o.Color = "auto",
) -> None:
    """Measure what the prefix cache saves: cold against warm time to first token, paired and verified.

    \b
    Examples:
      prefixwise bench ttft --target http://localhost:8000 --protocol vllm --model Qwen3-8B
      prefixwise bench ttft --target http://localhost:8000 --model m --quick --require 'speedup>=2'
      prefixwise bench ttft --target http://localhost:8000 --model m --request requests.jsonl#3
      prefixwise bench ttft --target https://api.openai.com --model gpt-5.5 --keep run.jsonl --budget 2

    Exit codes: 0 measured; 1 a requirement is not met; 4 inconclusive; 5 invalid measurement.
    """  # noqa: D301 - the backspace keeps the lines of the examples apart
    import os

    from prefixwise.bench.ttft.plan import Mode
    from prefixwise.cli.console import Console
    from prefixwise.cli.emit import emit, parse_outputs
    from prefixwise.clients.protocol import Cold
    from prefixwise.workflows.benching import TtftAsked, bench_ttft, header_fields, key_of

    console = Console(color, quiet=quiet, progress=not no_progress)
    outputs = parse_outputs(output_format, json=json, reports=report or ())
    asked = TtftAsked(
        target=target,
        protocol=protocol,
        model=model,
        key=key_of(protocol, key_env, os.environ),
        headers=header_fields(header or ()),
        lengths=_numbers(lengths, "--lengths"),
        items=items,
        repeats=repeats,
        controls=controls,
        suffix=suffix,
        block=block,
        seed=seed,
        run=run_id,
        mode=Mode(mode),
        cold=None if cold is None else Cold(cold),
        quick=quick,
        adaptive=adaptive,
        request=request,
        metrics=tuple(metrics or ()),
        keep=keep,
        table=parquet,
        require=tuple(require or ()),
        yes=yes,
        budget=budget,
        rules=tuple(rules or ()),
    )
    if run_id:
        console.note("prompts of a run that was named before may be in the cache already")
    document = bench_ttft(asked, console.note, console.note)
    emit(document, outputs, console)
    raise typer.Exit(document.exit_code)


app.command("replay")(bench_replay.replay)


@app.command("selfcheck")
def selfcheck(
    concurrency: Annotated[
        str, typer.Option("--concurrency", metavar="N,N", help="Streams at a time, one check each.")
    ] = "1,16,64",
    requests: Annotated[
        int, typer.Option("--requests", metavar="N", help="Requests of each check (at least five a stream).", min=1)
    ] = 320,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Of the server's delays.")] = 0,
    output_format: o.OutputFormat = "text",
    json: o.Json = False,
    report: o.Reports = None,
    quiet: o.Quiet = False,
    color: o.Color = "auto",
) -> None:
    """Measure the error of the client itself, against a server on this machine whose delays are known.

    \b
    Examples:
      prefixwise bench selfcheck
      prefixwise bench selfcheck --concurrency 256 --requests 2560 --json
    """  # noqa: D301 - the backspace keeps the lines of the examples apart
    from prefixwise.bench.selfcheck.check import selfcheck as check
    from prefixwise.bench.selfcheck.report import selfcheck_report
    from prefixwise.cli.console import Console
    from prefixwise.cli.emit import emit, parse_outputs

    console = Console(color, quiet=quiet)
    outputs = parse_outputs(output_format, json=json, reports=report or ())
    counts = _numbers(concurrency, "--concurrency")
    checks = [check(one, max(requests, 5 * one), seed) for one in sorted(set(counts))]
    emit(selfcheck_report(checks), outputs, console)


def _numbers(text: str | None, option: str) -> tuple[int, ...]:
    from prefixwise.core.errors import UserError

    try:
        found = tuple(int(one) for one in text.split(",")) if text else ()
    except ValueError:
        found = (0,)
    if any(one < 1 for one in found):
        raise UserError("this is no list of whole numbers above 0", f"{option} {text}", "for example 16,64,256")
    return found


app.command("probe")(bench_probe.probe)
app.command("load")(bench_load.load)
app.command("program")(bench_program.program)
