"""Which models are here, where they came from, and how those come here that are not."""

from __future__ import annotations

from pathlib import Path

import msgspec

from prefixwise.core.envelope import DocumentKind
from prefixwise.core.errors import UserError
from prefixwise.core.report import Column, Report, Table, Unit
from prefixwise.engine.model_config import ModelConfig, parse_config
from prefixwise.engine.model_sources import (
    DEFAULT_MODEL,
    FETCH_DEFAULT,
    PACKAGE,
    RANDOM,
    TRANSFORMERS,
    hub_models,
    packaged_model,
)
from prefixwise.engine.shapes import SHAPES


class ModelEntry(msgspec.Struct, frozen=True):
    """One model.

    Attributes:
        name: What `--model` takes.
        here: Whether it can be run now.
        origin: Where it came from, or comes from.
        parameters: Its size, where that is known.
        kv_bytes: Bytes of keys and values a token in two-byte precision.
        bytes: On disk; None where nothing lies there.
        fetch: The command that brings it here; empty for one that is here.
        path: Where it lies.
        problem: Why this engine does not run it.
    """

    name: str
    here: bool
    origin: str
    parameters: int | None = None
    kv_bytes: int | None = None
    bytes: int | None = None
    fetch: str = ""
    path: str = ""
    problem: str = ""


class Models(msgspec.Struct, frozen=True):
    """All models that are known here."""

    models: tuple[ModelEntry, ...]


MODELS = DocumentKind("prefixwise/models", 1, "the models that the engine runs, and where they come from", Models)


def models_report() -> Report:
    """Return the report of `prefixwise models`."""
    entries = (_default(), *(_shape(name) for name in SHAPES), *_hub())
    columns = (
        Column("name", "model"),
        Column("here", "here"),
        Column("parameters", "parameters", Unit.COUNT),
        Column("kv_bytes", "KV a token", Unit.BYTES),
        Column("bytes", "on disk", Unit.BYTES),
        Column("origin", "from"),
        Column("note", "fetch it with"),
    )
    rows = tuple(
        (
            entry.name,
            "yes" if entry.here else "no",
            entry.parameters,
            entry.kv_bytes,
            entry.bytes,
            entry.origin,
            entry.fetch or entry.problem or None,
        )
        for entry in entries
    )
    note = (
        "Keys and values at two bytes a number. --model also takes a GGUF file, a folder with config.json and "
        f"safetensors, and {TRANSFORMERS}FOLDER for other architectures with full attention."
    )
    return Report(
        MODELS.schema,
        MODELS.version,
        "models",
        "Models",
        (Table("models", "", columns, rows, note),),
        values=Models(entries),
    )


def _default() -> ModelEntry:
    path = packaged_model()
    shape = SHAPES["smollm2-135m"]
    return ModelEntry(
        DEFAULT_MODEL,
        path is not None,
        f"PyPI package {PACKAGE}",
        shape.parameters,
        2 * shape.token_elements,
        path.stat().st_size if path else None,
        "" if path else FETCH_DEFAULT,
        str(path or ""),
    )


def _shape(name: str) -> ModelEntry:
    shape = SHAPES[name]
    return ModelEntry(f"{RANDOM}{name}", True, "random weights", shape.parameters, 2 * shape.token_elements)


def _hub() -> list[ModelEntry]:
    entries = []
    for name, folder, size in hub_models():
        found, problem = _config(folder)
        entries.append(
            ModelEntry(
                name,
                found is not None,
                "the hub's local cache",
                found.parameters if found else None,
                2 * found.token_elements if found else None,
                size,
                "",
                str(folder),
                problem,
            )
        )
    return entries


def _config(folder: Path) -> tuple[ModelConfig | None, str]:
    try:
        return parse_config(msgspec.json.decode((folder / "config.json").read_bytes()), str(folder)), ""
    except UserError as problem:
        return None, problem.what
    except (OSError, msgspec.MsgspecError, AttributeError):
        return None, "its config.json cannot be read"
