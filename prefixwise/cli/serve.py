"""`prefixwise serve`."""

from __future__ import annotations

from typing import Annotated

import typer

from prefixwise.cli import engine_options as e
from prefixwise.cli import options as o


def serve(
    host: Annotated[str, typer.Option("--address", metavar="HOST", help="Listen here.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, metavar="N", help="Its port; 0 takes a free one.")
    ] = 8000,
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="The model's name for clients.")] = "",
    tenants: Annotated[
        str | None,
        typer.Option(
            "--tenants", metavar="FILE", help="TOML with API keys by tenant; tenants do not see each other's cache."
        ),
    ] = None,
    max_body: Annotated[int, typer.Option("--max-body", min=1, metavar="BYTES", help="Largest request.")] = 8 << 20,
    max_prompt: Annotated[
        int | None, typer.Option("--max-prompt", min=1, metavar="TOKENS", help="Longest prompt.")
    ] = None,
    max_waiting: Annotated[
        int, typer.Option("--max-waiting", min=1, metavar="N", help="Requests that may wait; one more gets 429.")
    ] = 256,
    fault: Annotated[
        list[str] | None,
        typer.Option(
            "--fault",
            metavar="FAULT",
            help="Do this wrong on purpose: no-cache, block=64, fifo, ttl=5, ttl-fixed=5, visible=0.5, minimum=1024, "
            "usage=missing|zero|lie, replicas=2, scatter, drift=0.001, stirred=0.002, salt-ignored, contaminated=0.1, "
            "delay=0.2, errors=0.1, early-close=0.1, slow-chunks=0.1. May be repeated.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Of draws and faults.")] = 0,
    model: e.Model = "smollm2",
    index: e.Index = "chain",
    block: e.Block = None,
    capacity: e.Capacity = None,
    eviction: e.Eviction = "lru",
    host_tier: e.Host = None,
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
    quiet: o.Quiet = False,
    color: o.Color = "auto",
) -> None:
    """Serve the bundled engine, or a simulated model, with OpenAI's API; Ctrl-C stops it.

    \b
    Examples:
      prefixwise serve
      prefixwise serve --model sim:a=0.005,b=0.0001,noise=0.1 --port 8123
      prefixwise serve --tenants tenants.toml --index radix --host 2GiB --disk blocks/
      prefixwise serve --model sim: --fault usage=zero --fault replicas=2
    """  # noqa: D301 - the backspace keeps the lines of the examples apart
    from pathlib import Path

    from prefixwise.cli.console import Console
    from prefixwise.engine.server.faults import parse_faults
    from prefixwise.engine.server.limits import Limits
    from prefixwise.engine.server.listen import listen
    from prefixwise.engine.server.served import serve_model
    from prefixwise.engine.server.tenants import Tenants, read_tenants

    console = Console(color, quiet=quiet)
    faults = parse_faults(fault or ())
    known = read_tenants(Path(tenants)) if tenants else Tenants({})
    settings = e.engine_settings(
        disk,
        cache_dir,
        model=model,
        index=index,
        block=block,
        capacity=capacity,
        eviction=eviction,
        host=host_tier,
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
    served = serve_model(settings, faults, name, console.warn)
    if faults.names:
        console.warn(f"this server is wrong on purpose: {', '.join(faults.names)}")

    def ready(address: str) -> None:
        console.note(f"{served.name} at {address}/v1")

    listen(served, known, Limits(max_body, max_prompt, max_waiting), faults, seed, host, port, ready, console.warn)
