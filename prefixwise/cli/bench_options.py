"""The options that mean the same in every command that sends requests to an endpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

Target = Annotated[
    str, typer.Option("--target", metavar="URL", help="Address of the endpoint, such as http://localhost:8000.")
]
Model = Annotated[str, typer.Option("--model", metavar="NAME", help="Model, as the endpoint calls it.")]
Protocol = Annotated[
    str,
    typer.Option(
        "--protocol", metavar="NAME", help="How it is spoken to: vllm, sglang, openai-chat, anthropic, gemini, …"
    ),
]
KeyEnv = Annotated[
    str | None,
    typer.Option("--key-env", metavar="VAR", help="Environment variable with the API key (default: the vendor's)."),
]
Header = Annotated[
    list[str] | None,
    typer.Option("--header", metavar="'NAME: VALUE'", help="Send this header field too. May be repeated."),
]
Cold = Annotated[
    Literal["nonce", "salt", "isolation-key"] | None,
    typer.Option("--cold", help="How prompts are made new (default: the best way of the protocol)."),
]
Keep = Annotated[
    Path | None,
    typer.Option("--keep", metavar="FILE", help="Keep every request in this file; an interrupted run goes on."),
]
RunId = Annotated[
    str,
    typer.Option("--run-id", metavar="NAME", help="Make the same prompts as another run (the cache may hold them)."),
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Of orders and texts.")]
Budget = Annotated[float | None, typer.Option("--budget", metavar="USD", help="Do not begin a run that may cost more.")]
Yes = Annotated[bool, typer.Option("--yes", help="Send to an endpoint that is not on this machine.")]
