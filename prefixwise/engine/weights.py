"""Weights from safetensors files, and random ones."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch

from prefixwise.core.errors import UserError
from prefixwise.engine.model import Model, TakeTensor
from prefixwise.engine.model_config import ModelConfig, parse_config

CONFIG, GENERATION, INDEX = "config.json", "generation_config.json", "model.safetensors.index.json"
_SINGLE = "model.safetensors"
# Tables that some checkpoints carry though they follow from the configuration.
_DERIVED = ("rotary_emb.inv_freq", "attn.masked_bias", "attn.bias")


def read_config(folder: Path) -> ModelConfig:
    """Return the configuration of a model folder; the ends of an answer come from the generation settings too.

    Raises:
        UserError: A file is missing or no JSON, or the model is none that this engine runs.
    """
    config = _json(folder / CONFIG)
    if (folder / GENERATION).is_file():
        ends = _json(folder / GENERATION).get("eos_token_id")
        if ends is not None:
            config["eos_token_id"] = ends
    return parse_config(config, str(folder / CONFIG))


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise UserError(
            "no such file", str(path), "name a folder with config.json and safetensors, or a GGUF file"
        ) from None
    except (OSError, ValueError) as problem:
        raise UserError(f"cannot be read as JSON: {problem}", str(path)) from None
    if not isinstance(found, dict):
        raise UserError("is no model's config", str(path))
    return found


def weight_files(folder: Path) -> list[Path]:
    """Return the safetensors files of a model folder.

    Raises:
        UserError: There are none, or one that the index names is missing.
    """
    if (folder / INDEX).is_file():
        names = sorted(set(_json(folder / INDEX).get("weight_map", {}).values()))
        missing = [name for name in names if not (folder / name).is_file()]
        if missing:
            raise UserError(f"the weights are not whole: {missing[0]} is missing", str(folder), "download it again")
        return [folder / name for name in names]
    found = [folder / _SINGLE] if (folder / _SINGLE).is_file() else sorted(folder.glob("*.safetensors"))
    if not found:
        raise UserError(
            "the folder has no safetensors files", str(folder), "other formats are not read; GGUF files are"
        )
    return found


def load_model(folder: Path, config: ModelConfig, device: torch.device, dtype: torch.dtype) -> Model:
    """Return the model of a folder.

    Raises:
        UserError: A tensor is missing, has another shape, or is one that this engine has no use for.
    """
    from safetensors import SafetensorError, safe_open

    where: dict[str, Any] = {}
    try:
        for path in weight_files(folder):
            file = safe_open(path, framework="pt", device="cpu")
            where.update(dict.fromkeys(file.offset_keys(), file))
    except (OSError, SafetensorError) as problem:
        raise UserError(f"cannot be read as safetensors: {str(problem)[:200]}", str(path)) from None
    names = _with_prefix(where)
    sizes = tensor_shapes(config)
    unknown = [name for name in names if name not in sizes and not name.endswith(_DERIVED) and not _spare(config, name)]
    if unknown:
        more = f" (and {len(unknown) - 1} more)" if unknown[1:] else ""
        raise UserError(f"the tensor {unknown[0]} has no place in this engine's model{more}", str(folder))

    def take(name: str) -> torch.Tensor:
        if name not in names:
            raise UserError(f"the tensor {name} is missing", str(folder))
        tensor: torch.Tensor = where[names[name]].get_tensor(names[name])
        if tuple(tensor.shape) != sizes[name]:
            raise UserError(f"the tensor {name} is {tuple(tensor.shape)}, not {sizes[name]}", str(folder))
        return tensor.to(device=device, dtype=dtype)

    return Model(config, take)


def _spare(config: ModelConfig, name: str) -> bool:
    return config.tied and name == "lm_head.weight"


def _with_prefix(names: Iterable[str]) -> dict[str, str]:
    """Return the names in the file by the names that are used here: some checkpoints leave `model.` away."""
    names = list(names)
    bare = not any(name.startswith("model.") for name in names)
    return {f"model.{name}" if bare and name != "lm_head.weight" else name: name for name in names}


def random_model(config: ModelConfig, seed: int, device: torch.device, dtype: torch.dtype) -> Model:
    """Return a model of random weights: the same for the same seed, kind of device and dtype.

    They are drawn on the device, since a processor would take minutes for the large shapes. Their spread keeps the
    size of what they are multiplied with, so that every token of a prompt tells on the answer.
    """
    generator = torch.Generator(device)
    generator.manual_seed(seed)
    sizes = tensor_shapes(config)

    def take(name: str) -> torch.Tensor:
        if name.endswith("norm.weight"):
            return torch.ones(sizes[name], device=device, dtype=dtype)
        empty = torch.empty(sizes[name], device=device, dtype=dtype)
        return empty.normal_(0.0, config.hidden**-0.5, generator=generator)

    return Model(config, take)


def model_from(config: ModelConfig, tensors: Mapping[str, torch.Tensor]) -> Model:
    """Return a model of tensors that are at hand, by the names of the checkpoints."""
    take: TakeTensor = tensors.__getitem__
    return Model(config, take)


def tensor_shapes(config: ModelConfig) -> dict[str, tuple[int, ...]]:
    """Return the shape of every tensor of a model, by the names of the checkpoints."""
    hidden, size = config.hidden, config.head_size
    shapes: dict[str, tuple[int, ...]] = {"model.embed_tokens.weight": (config.vocabulary, hidden)}
    widths = {"q": config.heads * size, "k": config.kv_heads * size, "v": config.kv_heads * size}
    for number in range(config.layers):
        layer = f"model.layers.{number}"
        for part, width in widths.items():
            shapes[f"{layer}.self_attn.{part}_proj.weight"] = (width, hidden)
            if config.qkv_bias:
                shapes[f"{layer}.self_attn.{part}_proj.bias"] = (width,)
        shapes[f"{layer}.self_attn.o_proj.weight"] = (hidden, config.heads * size)
        if config.output_bias:
            shapes[f"{layer}.self_attn.o_proj.bias"] = (hidden,)
        if config.qk_norm:
            shapes[f"{layer}.self_attn.q_norm.weight"] = shapes[f"{layer}.self_attn.k_norm.weight"] = (size,)
        for part in ("gate", "up"):
            shapes[f"{layer}.mlp.{part}_proj.weight"] = (config.intermediate, hidden)
        shapes[f"{layer}.mlp.down_proj.weight"] = (hidden, config.intermediate)
        shapes[f"{layer}.input_layernorm.weight"] = shapes[f"{layer}.post_attention_layernorm.weight"] = (hidden,)
    shapes["model.norm.weight"] = (hidden,)
    if not config.tied:
        shapes["lm_head.weight"] = (config.vocabulary, hidden)
    return shapes


def digest_of(paths: Iterable[Path]) -> str:
    """Return a hash of the contents of files; what a cache on disk is keyed by."""
    state = hashlib.blake2b(digest_size=16)
    for path in sorted(paths):
        with path.open("rb") as file:
            while piece := file.read(1 << 24):
                state.update(piece)
    return state.hexdigest()
