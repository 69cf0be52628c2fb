"""From a model's name to a model that runs, with its tokenizer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

from prefixwise.corpus.prompt_tokenizer import PromptTokenizer
from prefixwise.corpus.tokenizers.huggingface import load_tokenizer
from prefixwise.engine.byte_tokenizer import ByteTokenizer
from prefixwise.engine.gguf_weights import DIGEST, converted
from prefixwise.engine.model_sources import TRANSFORMERS, ModelSource
from prefixwise.engine.shapes import shape_named
from prefixwise.engine.torch_executor import Runnable
from prefixwise.engine.vocabulary import Vocabulary
from prefixwise.engine.weights import digest_of, load_model, random_model, read_config, weight_files


@dataclass(frozen=True, slots=True)
class LoadedModel(Vocabulary):
    """A model that runs.

    Attributes:
        name: As it was asked for.
        model: The model.
        tokenizer: Its vocabulary and chat template.
        weights: Returns a hash of the weights, which may take a while.
    """

    name: str
    model: Runnable
    tokenizer: PromptTokenizer
    weights: Callable[[], str]


def load(source: ModelSource, cache: Path, device: torch.device, dtype: torch.dtype) -> LoadedModel:
    """Load a model.

    Args:
        source: What `find_model` found.
        cache: Folder for GGUF files converted to safetensors.
        device: Where it is to run.
        dtype: Of weights, keys and values.

    Raises:
        UserError: The files are not whole, or hold a model that this engine does not run.
        MissingExtraError: A package that reads them is not installed.
    """
    if source.path is None:
        shape = shape_named(source.shape)
        model = random_model(shape, source.seed, device, dtype)
        # What a generator draws may change with the release and the kind of device.
        identity = f"random {source.shape} {source.seed} {device.type} {torch.__version__}"
        return LoadedModel(source.name, model, ByteTokenizer(), lambda: identity)
    if source.kind == "transformers":
        from prefixwise.engine.transformers_model import TransformersModel

        adapted = TransformersModel(source.path, device, dtype)
        tokenizer = load_tokenizer(str(source.path))
        return LoadedModel(source.name, adapted, tokenizer, lambda: TRANSFORMERS + _digest(source.path))
    tokenizer = load_tokenizer(str(source.path))
    folder = converted(source.path, cache, dtype) if source.kind == "gguf" else source.path
    model = load_model(folder, read_config(folder), device, dtype)
    return LoadedModel(source.name, model, tokenizer, lambda: _digest(folder))


def _digest(folder: Path | None) -> str:
    assert folder is not None  # noqa: S101
    kept = folder / DIGEST
    return kept.read_text() if kept.is_file() else digest_of(weight_files(folder))
