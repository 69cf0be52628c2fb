"""The options of commands that run the bundled engine, and the settings that they make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from pathlib import Path

    from prefixwise.engine.settings import EngineSettings


Model = Annotated[
    str,
    typer.Option(
        "--model",
        "-m",
        metavar="MODEL",
        help="A name that `prefixwise models` lists, a GGUF file, a folder or a hub name.",
    ),
]
Index = Annotated[
    Literal["chain", "radix", "partial", "none"],
    typer.Option(
        "--index",
        help="Find cached prefixes by block hashes (vLLM), in a radix tree (SGLang), in blocks of which a part may be "
        "used (TensorRT-LLM), or not at all.",
    ),
]
Block = Annotated[
    int | None,
    typer.Option("--block", min=1, metavar="TOKENS", help="Tokens in a block: 16, 1 in a tree, 32 in parts."),
]
Capacity = Annotated[
    str | None,
    typer.Option("--capacity", metavar="AMOUNT", help="Size of the KV cache: 1GiB, 20ktokens, 5000blocks."),
]
Eviction = Annotated[str, typer.Option("--eviction", metavar="ORDER", help="What a radix tree evicts first.")]
Host = Annotated[str | None, typer.Option("--host", metavar="AMOUNT", help="Keep evicted blocks in host memory.")]
Disk = Annotated[str | None, typer.Option("--disk", metavar="FOLDER", help="Keep evicted blocks in files.")]
DiskCapacity = Annotated[str, typer.Option("--disk-capacity", metavar="AMOUNT", help="How much the files may take.")]
Write = Annotated[
    Literal["through", "selective", "back"],
    typer.Option("--write", help="Write blocks to the tiers once computed, at their second use, or when evicted."),
]
TokenBudget = Annotated[int, typer.Option("--token-budget", min=1, metavar="TOKENS", help="Most tokens a step.")]
MostRunning = Annotated[int, typer.Option("--most-running", min=1, metavar="N", help="Most requests at a time.")]
Order = Annotated[
    Literal["fcfs", "longest-prefix-first"],
    typer.Option("--order", help="Which waiting request is next."),
]
Dtype = Annotated[Literal["auto", "fp32", "bf16", "fp16"], typer.Option("--dtype", help="Of weights, keys and values.")]
Device = Annotated[Literal["auto", "cpu", "cuda"], typer.Option("--device", help="Where the model runs.")]
AttentionWay = Annotated[
    Literal["auto", "sdpa", "flash"],
    typer.Option("--attention", help="How attention is computed; flash needs flash-attn."),
]
Threads = Annotated[int | None, typer.Option("--threads", min=1, metavar="N", help="Threads of the processor.")]
Deterministic = Annotated[
    bool,
    typer.Option(
        "--deterministic", help="Compute in fp32, every token in the same way whatever is computed beside it."
    ),
]
Context = Annotated[
    int | None, typer.Option("--context", min=1, metavar="TOKENS", help="Most tokens of prompt and answer.")
]
CacheDir = Annotated[
    str | None,
    typer.Option(
        "--cache-dir",
        metavar="FOLDER",
        envvar="PREFIXWISE_CACHE_DIR",
        help="Keep converted models here instead of in the user's cache folder.",
    ),
]


def cache_folder(given: str | None) -> Path:
    """Return the folder for converted models: the one given, else `prefixwise` in the user's cache folder."""
    import os
    from pathlib import Path

    if given:
        return Path(given)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "prefixwise"


def engine_settings(disk: str | None, cache_dir: str | None, **values: object) -> EngineSettings:
    """Return the settings that options make; those that were not given keep their defaults.

    Raises:
        UserError: Two of them do not go together, or the model is not there.
        MissingExtraError: torch is not installed.
    """
    import importlib.util
    from pathlib import Path

    from prefixwise.core.errors import MissingExtraError
    from prefixwise.engine.model_sources import find_model
    from prefixwise.engine.settings import EngineSettings
    from prefixwise.engine.sim_model import SIM

    given = {name: value for name, value in values.items() if value is not None}
    settings = EngineSettings(disk=Path(disk) if disk else None, files=cache_folder(cache_dir), **given)  # type: ignore[arg-type]
    settings.check()
    if not settings.model.startswith(SIM):
        if importlib.util.find_spec("torch") is None:
            raise MissingExtraError("the bundled engine", "engine")
        find_model(settings.model)  # a name that leads nowhere is said before torch is imported
    return settings
