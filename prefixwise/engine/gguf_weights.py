"""GGUF files: what model they hold, and their tensors converted once to safetensors.

Facts of llama.cpp: names of the tensors (`gguf-py/gguf/tensor_mapping.py`), and that its converter interleaves the
halves of the heads of models of the architecture `llama` (`convert_hf_to_gguf.py`, `permute`), which is undone here.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from prefixwise.core.errors import UserError
from prefixwise.corpus.tokenizers.gguf_file import read_metadata
from prefixwise.engine.model_config import FAMILIES, ModelConfig, parse_config
from prefixwise.engine.weights import CONFIG, INDEX, digest_of

VERSION = 3
"""Of the conversion: another one makes its files anew."""
DIGEST = "weights.digest"
_SHARD = "model-{:05}.safetensors"
_SHARD_BYTES = 2 << 30
_NAMES = {
    "token_embd": "model.embed_tokens",
    "output_norm": "model.norm",
    "output": "lm_head",
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
_ARCHITECTURES = {name: f"{name.capitalize()}ForCausalLM" for name in FAMILIES}
_FACTORS = "rope_freqs.weight"


def gguf_config(path: Path) -> dict[str, Any]:
    """Return the configuration of the model in a GGUF file as a `config.json` has it, without what only tensors say.

    Raises:
        UserError: The file cannot be read, or holds a model that this engine does not run.
    """
    pairs = read_metadata(path)
    family = pairs.get("general.architecture")
    if family not in FAMILIES:
        raise UserError(f"models of the architecture {str(family)[:60]!r} are not run here", str(path))

    def value(key: str, default: Any = None) -> Any:
        return pairs.get(f"{family}.{key}", default)

    if value("expert_count"):
        raise UserError("mixtures of experts are not run here", str(path))
    if value("attention.sliding_window"):
        raise UserError("sliding windows are not supported", str(path))
    scaling = value("rope.scaling.type", "none")
    if scaling != "none":
        raise UserError(f"the rope scaling {str(scaling)[:60]!r} is not supported", str(path))
    heads, hidden = value("attention.head_count"), value("embedding_length")
    head_size = value("attention.key_length") or (hidden // heads if heads and hidden else None)
    if value("rope.dimension_count", head_size) != head_size:
        raise UserError("rotations of a part of a head are not supported", str(path))
    ends = [pairs.get(f"tokenizer.ggml.{name}_token_id") for name in ("eos", "eot")]
    return {
        "model_type": family,
        "architectures": [_ARCHITECTURES[family]],
        "hidden_act": "silu",
        "vocab_size": value("vocab_size") or len(pairs.get("tokenizer.ggml.tokens", ())),
        "hidden_size": hidden,
        "intermediate_size": value("feed_forward_length"),
        "num_hidden_layers": value("block_count"),
        "num_attention_heads": heads,
        "num_key_value_heads": value("attention.head_count_kv", heads),
        "head_dim": head_size,
        "max_position_embeddings": value("context_length"),
        "rms_norm_eps": value("attention.layer_norm_rms_epsilon", 1e-6),
        "rope_theta": value("rope.freq_base", 10000.0),
        "eos_token_id": sorted({end for end in ends if isinstance(end, int)}),
        "bos_token_id": pairs.get("tokenizer.ggml.bos_token_id"),
    }


def converted(path: Path, cache: Path, dtype: torch.dtype) -> Path:
    """Return the folder with a GGUF file's model as safetensors; made where it is not there, whole or not at all.

    Args:
        path: The GGUF file.
        cache: Folder of conversions.
        dtype: To convert to; quantised weights are exact in single precision only.

    Raises:
        UserError: The file cannot be read, or holds a model that this engine does not run.
        MissingExtraError: The `gguf` package is not installed.
    """
    state = path.resolve().stat()
    kind = str(dtype).removeprefix("torch.")
    key = digest_of_text(f"{path.resolve()} {state.st_size} {state.st_mtime_ns} {VERSION}")
    folder = cache / f"{path.stem}-{kind}-{key}"
    if (folder / CONFIG).is_file():
        return folder
    cache.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=".converting-", dir=cache))
    try:
        _convert(path, partial, dtype)
        try:
            os.replace(partial, folder)
        except OSError:  # another process was faster
            if not (folder / CONFIG).is_file():
                raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return folder


def digest_of_text(text: str) -> str:
    """Return a short name for a text."""
    import hashlib

    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _convert(path: Path, folder: Path, dtype: torch.dtype) -> None:
    from safetensors.torch import save_file

    config = gguf_config(path)
    model = parse_config(config, str(path))
    shard: dict[str, torch.Tensor] = {}
    # The file of each tensor, in the layout that transformers reads too.
    where: dict[str, str] = {}
    shards, size = 1, 0
    for name, tensor in _tensors(path, model):
        if name == _FACTORS:
            config["rope_factors"] = tensor.tolist()
            continue
        where[name] = _SHARD.format(shards)
        shard[name] = tensor.to(dtype).contiguous()
        size += shard[name].nbytes
        if size >= _SHARD_BYTES:
            save_file(shard, folder / _SHARD.format(shards))
            shard = {}
            shards, size = shards + 1, 0
    if shard:
        save_file(shard, folder / _SHARD.format(shards))
    (folder / INDEX).write_text(json.dumps({"metadata": {}, "weight_map": where}), encoding="utf-8")
    config["tie_word_embeddings"] = "lm_head.weight" not in where
    config["attention_bias"] = "model.layers.0.self_attn.o_proj.bias" in where
    (folder / DIGEST).write_text(digest_of(folder.glob("*.safetensors")))
    # Last: a folder with a configuration is whole.
    (folder / CONFIG).write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")


def _tensors(path: Path, model: ModelConfig) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield every tensor in single precision under its checkpoint's name."""
    import numpy

    from prefixwise.core.errors import MissingExtraError

    try:
        import gguf
    except ImportError:
        raise MissingExtraError("a GGUF file", "engine") from None

    for entry in gguf.GGUFReader(path).tensors:
        try:
            data = gguf.dequantize(entry.data, entry.tensor_type)
        except NotImplementedError:
            raise UserError(f"the tensor {entry.name} is quantised in a way that is not known", str(path)) from None
        tensor = torch.from_numpy(numpy.array(data, dtype=numpy.float32))
        if entry.name == _FACTORS:
            yield _FACTORS, tensor
            continue
        name = _name(entry.name, path)
        if model.family in ("llama", "mistral") and name.endswith(("q_proj.weight", "k_proj.weight")):
            tensor = _uninterleaved(tensor, model.heads if "q_proj" in name else model.kv_heads)
        yield name, tensor


def _uninterleaved(tensor: torch.Tensor, heads: int) -> torch.Tensor:
    """Put the halves of each head back one behind the other."""
    return tensor.unflatten(0, (heads, -1, 2)).transpose(1, 2).flatten(0, 2)


def _name(name: str, path: Path) -> str:
    """Return the checkpoint's name of a GGUF tensor. Raises UserError for one that is not known."""
    stem, _, kind = name.rpartition(".")
    layer = ""
    if stem.startswith("blk."):
        _, number, stem = stem.split(".", 2)
        layer = f"model.layers.{number}."
    if stem not in _NAMES or kind not in ("weight", "bias"):
        raise UserError(f"the tensor {name[:80]} has no place in this engine's model", str(path))
    return f"{layer}{_NAMES[stem]}.{kind}"
