"""`prefixwise generate`."""

from __future__ import annotations

from typing import Annotated

import typer

from prefixwise.cli import engine_options as e
from prefixwise.cli import options as o


def generate(
    prompts: Annotated[
        list[str], typer.Argument(metavar="PROMPT...", help="What to ask; - reads it from standard input.")
    ],
    system: Annotated[str, typer.Option("--system", metavar="TEXT", help="System prompt of all requests.")] = "",
    bare: Annotated[
        bool, typer.Option("--bare", help="Send the prompts as they are, without the model's chat template.")
    ] = False,
    repeat: Annotated[
        int,
        typer.Option("--repeat", min=1, metavar="N", help="Send all prompts N times, to see them come from the cache."),
    ] = 1,
    together: Annotated[bool, typer.Option("--together", help="Send the prompts at once, not one by one.")] = False,
    max_tokens: Annotated[
        int, typer.Option("--max-tokens", min=1, metavar="N", help="Most tokens of an answer.")
    ] = 128,
    temperature: Annotated[
        float, typer.Option("--temperature", min=0.0, metavar="T", help="0 takes the likeliest token always.")
    ] = 0.0,
    top_p: Annotated[
        float, typer.Option("--top-p", metavar="P", help="Draw from the likeliest tokens of this share.")
    ] = 1.0,
    top_k: Annotated[int, typer.Option("--top-k", min=0, metavar="K", help="Draw from this many; 0 for all.")] = 0,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Decides what is drawn.")] = 0,
    stop: Annotated[
        list[str] | None,
        typer.Option("--stop", metavar="TEXT", help="End an answer before this text. May be repeated."),
    ] = None,
    model: e.Model = "smollm2",
    index: e.Index = "chain",
    block: e.Block = None,
    capacity: e.Capacity = None,
    eviction: e.Eviction = "lru",
    host: e.Host = None,
    disk: e.Disk = None,
    disk_capacity: e.DiskCapacity = "4GiB",
    write: e.Write = "through",
    token_budget: e.TokenBudget = 2048,
    most_running: e.MostRunning = 64,
    order: e.Order = "fcfs",
    dtype: e.Dtype = "auto",
    device: e.Device = "auto",
    attention: e.AttentionWay = "auto",
    threads: e.Threads = None,
    deterministic: e.Deterministic = False,
    context: e.Context = None,
    cache_dir: e.CacheDir = None,
    output_format: o.OutputFormat = "text",
    json: o.Json = False,
    report: o.Reports = None,
    quiet: o.Quiet = False,
    color: o.Color = "auto",
) -> None:
    """Answer prompts with the bundled engine, and say what of each came from the cache and how long it took.

    \b
    Examples:
      prefixwise generate "What is a prefix cache?"
      prefixwise generate "Who are you?" "What can you do?" --system "You answer briefly." --repeat 2
      prefixwise generate "Tell me a story." --temperature 0.8 --seed 7 --max-tokens 200
      prefixwise generate - --model random:tiny --index radix < prompt.txt
    """  # noqa: D301 - the backspace keeps the lines of the examples apart
    from prefixwise.cli.console import Console
    from prefixwise.cli.emit import emit, parse_outputs
    from prefixwise.cli.reading import standard_input
    from prefixwise.core.errors import UserError
    from prefixwise.engine.request import Sampling

    console = Console(color, quiet=quiet)
    outputs = parse_outputs(output_format, json=json, reports=report or ())
    sampling = Sampling(max_tokens, temperature, top_p, top_k, None, tuple(stop or ()))
    sampling.check()
    settings = e.engine_settings(
        disk,
        cache_dir,
        model=model,
        index=index,
        block=block,
        capacity=capacity,
        eviction=eviction,
        host=host,
        disk_capacity=disk_capacity,
        write=write,
        token_budget=token_budget,
        most_running=most_running,
        order=order,
        dtype=dtype,
        device=device,
        attention=attention,
        threads=threads,
        deterministic=deterministic,
        context=context,
        seed=seed,
    )
    if prompts.count("-") > 1:
        raise UserError("standard input can be one prompt only", "-")
    texts = tuple(standard_input().read().decode("utf-8", "replace") if text == "-" else text for text in prompts)

    from prefixwise.engine.generate import Asked, generate

    asked = Asked(texts, system, bare, repeat, together, sampling)
    emit(generate(asked, settings, console.warn), outputs, console)
