"""The options that mean the same in every command that sends requests to an endpoint."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from prefixwise.workflows.replaying import Target as Endpoint

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
ColdWay = Annotated[
    Literal["nonce", "salt", "isolation-key", "none"] | None,
    typer.Option(
        "--cold", help="How the run is kept apart from what the cache holds (default: the protocol's best way)."
    ),
]
LogModel = Annotated[
    str | None, typer.Option("--log-model", metavar="NAME", help="Only the log's requests to this model.")
]
Limit = Annotated[int | None, typer.Option("--limit", metavar="N", min=1, help="Only the first N requests.")]
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
Table = Annotated[
    Path | None, typer.Option("--parquet", metavar="FILE", help="Write the requests as a table (Parquet), at the end.")
]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metrics",
        metavar="URL|auto",
        help="Read a worker's Prometheus counters around the run; auto: the endpoint's own. May be repeated.",
    ),
]
Budget = Annotated[float | None, typer.Option("--budget", metavar="USD", help="Do not begin a run that may cost more.")]
Yes = Annotated[bool, typer.Option("--yes", help="Send to an endpoint that is not on this machine.")]


def target_of(
    address: str,
    protocol: str,
    model: str,
    key_env: str | None,
    header: list[str] | None,
    budget: float | None,
    yes: bool,
) -> Endpoint:
    """Return the endpoint that the options name. Raises UserError for what is none."""
    import os

    from prefixwise.workflows.benching import header_fields, key_of
    from prefixwise.workflows.replaying import Target

    target = Target(
        address=address,
        protocol=protocol,
        model=model,
        key=key_of(protocol, key_env, os.environ),
        headers=header_fields(header or ()),
        yes=yes,
        budget=budget,
    )
    target.endpoint()  # a wrong address is said before a log is read
    return target
