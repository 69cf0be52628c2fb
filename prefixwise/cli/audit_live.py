"""`prefixwise audit live`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from prefixwise.cli import options as o


def live(
    target: Annotated[
        str, typer.Option("--target", metavar="URL", help="Address of an endpoint that you run or may audit.")
    ],
    tenant: Annotated[
        list[str],
        typer.Option(
            "--tenant",
            metavar="NAME=VAR",
            help="A tenant and the environment variable with its key; ORG/NAME says its organisation, a name given "
            "twice has two keys. Two or more.",
        ),
    ],
    model: Annotated[str, typer.Option("--model", metavar="NAME", help="Model, as the endpoint calls it.")],
    protocol: Annotated[
        str,
        typer.Option("--protocol", metavar="NAME", help="How it is spoken to: vllm, sglang, openai-chat, anthropic, …"),
    ] = "openai-chat",
    gateway: Annotated[
        list[str] | None,
        typer.Option("--gateway", metavar="URL", help="Compare through this gateway too. May be repeated."),
    ] = None,
    header: Annotated[
        list[str] | None,
        typer.Option("--header", metavar="'NAME: VALUE'", help="Send this header field too. May be repeated."),
    ] = None,
    salts: Annotated[
        Literal["none", "sent", "both"],
        typer.Option("--salts", help="Whether each tenant sends a cache salt of its own; both compares."),
    ] = "none",
    evict: Annotated[
        int,
        typer.Option(
            "--evict",
            metavar="TOKENS",
            min=0,
            help="Look after eviction too: so many tokens push everything off the device.",
        ),
    ] = 0,
    restart_command: Annotated[
        str,
        typer.Option("--restart-command", metavar="COMMAND", help="Look after a restart too, which this command does."),
    ] = "",
    certify: Annotated[
        bool, typer.Option("--certify", help="250 blocks at most instead of 100: may show isolation by times alone.")
    ] = False,
    blocks: Annotated[
        int | None, typer.Option("--blocks", metavar="N", min=1, help="Most blocks of three probes a comparison.")
    ] = None,
    one_way: Annotated[
        bool, typer.Option("--one-way", help="The tenants named later look for prompts of those named earlier only.")
    ] = False,
    tokens: Annotated[
        int, typer.Option("--tokens", metavar="N", min=64, help="Tokens of a prompt; 95 % are looked for.")
    ] = 4096,
    victims: Annotated[
        int,
        typer.Option("--victims", metavar="N", min=1, max=25, help="Send a prompt so often before it is looked for."),
    ] = 1,
    wait: Annotated[
        float | None,
        typer.Option("--wait", metavar="SECONDS", min=0, help="From a prompt to its probe (default: found out)."),
    ] = None,
    pause: Annotated[
        float | None,
        typer.Option("--pause", metavar="SECONDS", min=0, help="Between probes (default 0.5, none on this machine)."),
    ] = None,
    block: Annotated[
        int, typer.Option("--block", metavar="N", help="Tokens of a block of the server's cache.", min=1)
    ] = 1,
    keep: Annotated[
        Path | None,
        typer.Option("--keep", metavar="FILE", help="Keep every probe in this file; an interrupted run goes on."),
    ] = None,
    run_id: Annotated[str, typer.Option("--run-id", metavar="NAME", help="Make the same prompts as another run.")] = "",
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Of orders.")] = 0,
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
    """Find out on an endpoint whether a tenant is served from what another one sent: with your keys, and random text.

    Only the addresses that you name are contacted. Keys are read from the environment and written nowhere.

    \b
    Examples:
      prefixwise audit live --target http://localhost:8000 --protocol vllm --model m --tenant a=KEY_A --tenant b=KEY_B
      prefixwise audit live --target … --model m --tenant a=KEY_A --tenant b=KEY_B --evict 200000 --certify
      prefixwise audit live --target … --model m --tenant a=KEY_A --tenant b=KEY_B --salts both --gateway http://…

    Exit codes: 0 isolated; 1 a leak; 4 inconclusive; 5 invalid measurement.
    """  # noqa: D301 - the backspace keeps the lines of the examples apart
    import os

    from prefixwise.cli.console import Console
    from prefixwise.cli.emit import emit, parse_outputs
    from prefixwise.workflows.benching import header_fields
    from prefixwise.workflows.live_audit import LiveAsked, audit_live, credentials_of

    console = Console(color, quiet=quiet, progress=not no_progress)
    outputs = parse_outputs(output_format, json=json, reports=report or ())
    asked = LiveAsked(
        target=target,
        protocol=protocol,
        model=model,
        tenants=credentials_of(tenant, os.environ),
        gateways=tuple(gateway or ()),
        headers=header_fields(header or ()),
        salts=salts,
        evict_tokens=evict,
        restart=restart_command,
        certify=certify,
        both_ways=not one_way,
        tokens=tokens,
        victims=victims,
        wait_s=wait,
        pause_s=pause,
        block_tokens=block,
        blocks=blocks,
        seed=seed,
        run=run_id,
        keep=keep,
        yes=yes,
        budget=budget,
        rules=tuple(rules or ()),
    )
    document = audit_live(asked, (lambda _: None) if no_progress else console.note, console.note)
    emit(document, outputs, console)
    raise typer.Exit(document.exit_code)
