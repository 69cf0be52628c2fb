"""The model: a decoder of the Llama and Qwen families over paged keys and values.

Source: Hugging Face transformers' `modeling_llama.py`, `modeling_qwen2.py` and `modeling_qwen3.py`, which the tests
compare it with. Names in brackets are those of the checkpoints.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch.nn.functional import embedding, linear, pad, rms_norm, silu

from prefixwise.engine.attention import Attention
from prefixwise.engine.batch import Batch
from prefixwise.engine.kv_pool import KvPool
from prefixwise.engine.model_config import ModelConfig

_TILE = 16
Product = Callable[[torch.Tensor, torch.Tensor, torch.Tensor | None], torch.Tensor]
"""Multiplies rows with a matrix and adds a bias."""

TakeTensor = Callable[[str], torch.Tensor]
"""Returns the tensor of a checkpoint's name."""


@dataclass(frozen=True, slots=True)
class Layer:
    """Weights of one layer; those of projections that share their input are one matrix."""

    attention_norm: torch.Tensor
    qkv: torch.Tensor
    qkv_bias: torch.Tensor | None
    query_norm: torch.Tensor | None
    key_norm: torch.Tensor | None
    output: torch.Tensor
    output_bias: torch.Tensor | None
    mlp_norm: torch.Tensor
    gate_up: torch.Tensor
    down: torch.Tensor


class Model:
    """A model with its weights.

    Args:
        config: Its shape.
        take: Gives its weights, on the device and in the dtype that it is to run in.
    """

    def __init__(self, config: ModelConfig, take: TakeTensor) -> None:
        self.config = config
        self._embedding = take("model.embed_tokens.weight")
        self._layers = tuple(_layer(config, f"model.layers.{number}", take) for number in range(config.layers))
        self._norm = take("model.norm.weight")
        self._head = self._embedding if config.tied else take("lm_head.weight")
        self._cos, self._sin = rotations(config, self._embedding.device, self.dtype)

    @property
    def dtype(self) -> torch.dtype:
        """Of weights, keys and values."""
        return self._embedding.dtype

    @property
    def device(self) -> torch.device:
        """Where it runs."""
        return self._embedding.device

    def forward(self, batch: Batch, pool: KvPool, attention: Attention) -> torch.Tensor:
        """Compute a step: write its keys and values to the pool, return the logits of the rows that want them."""
        attention.begin(batch)
        config = self.config
        product = linear_in_tiles if batch.exact else linear
        hidden = embedding(batch.tokens, self._embedding)
        cos, sin = self._cos[batch.positions, None], self._sin[batch.positions, None]
        for layer, keys, values in zip(self._layers, pool.keys, pool.values, strict=True):
            turning, value = self._project(layer, self._normed(hidden, layer.attention_norm), product)
            query, key = rotated(turning, cos, sin).split((config.heads, config.kv_heads), dim=1)
            keys[batch.slots] = key
            values[batch.slots] = value
            attended = attention(query, keys, values)
            hidden = hidden + product(attended.flatten(1), layer.output, layer.output_bias)
            gate, up = product(self._normed(hidden, layer.mlp_norm), layer.gate_up, None).chunk(2, dim=-1)
            hidden = hidden + product(silu(gate) * up, layer.down, None)
        return product(self._normed(hidden[batch.last_rows], self._norm), self._head, None)

    def _project(self, layer: Layer, hidden: torch.Tensor, product: Product) -> tuple[torch.Tensor, torch.Tensor]:
        """Return queries and keys, and values, by head: `[rows, heads, head_size]`."""
        config = self.config
        by_head = product(hidden, layer.qkv, layer.qkv_bias).unflatten(-1, (-1, config.head_size))
        turning, value = by_head.split((config.heads + config.kv_heads, config.kv_heads), dim=1)
        if layer.query_norm is not None and layer.key_norm is not None:
            query, key = turning.split((config.heads, config.kv_heads), dim=1)
            turning = torch.cat((self._normed(query, layer.query_norm), self._normed(key, layer.key_norm)), dim=1)
        return turning, value

    def _normed(self, hidden: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return rms_norm(hidden, weight.shape, weight, self.config.norm_epsilon)


def _layer(config: ModelConfig, name: str, take: TakeTensor) -> Layer:
    attention, mlp = f"{name}.self_attn", f"{name}.mlp"

    def joined(kind: str, parts: tuple[str, ...], inside: str) -> torch.Tensor:
        return torch.cat([take(f"{inside}.{part}_proj.{kind}") for part in parts])

    def only_if(has: bool, tensor: str) -> torch.Tensor | None:
        return take(tensor) if has else None

    return Layer(
        attention_norm=take(f"{name}.input_layernorm.weight"),
        qkv=joined("weight", ("q", "k", "v"), attention),
        qkv_bias=joined("bias", ("q", "k", "v"), attention) if config.qkv_bias else None,
        query_norm=only_if(config.qk_norm, f"{attention}.q_norm.weight"),
        key_norm=only_if(config.qk_norm, f"{attention}.k_norm.weight"),
        output=take(f"{attention}.o_proj.weight"),
        output_bias=only_if(config.output_bias, f"{attention}.o_proj.bias"),
        mlp_norm=take(f"{name}.post_attention_layernorm.weight"),
        gate_up=joined("weight", ("gate", "up"), mlp),
        down=take(f"{mlp}.down_proj.weight"),
    )


def linear_in_tiles(hidden: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    """Return `linear`, computed in tiles of always as many rows.

    How a matrix product adds up depends on its size, so that a row would differ in its last bits with how many others
    are computed at once: a token alone, in a chunk, beside those of other requests.
    """
    rows = len(hidden)
    tiles = pad(hidden, (0, 0, 0, -rows % _TILE)).split(_TILE)
    return torch.cat([linear(tile, weight, bias) for tile in tiles])[:rows]


def rotated(heads: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Return queries or keys turned by their positions; the halves of a head are the pairs."""
    first, second = heads.chunk(2, dim=-1)
    return heads * cos + torch.cat((-second, first), dim=-1) * sin


def rotations(config: ModelConfig, device: torch.device, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """Return cosines and sines by position: `[context, head_size]`."""
    speeds = _speeds(config).to(device)
    angles = torch.outer(torch.arange(config.context, dtype=torch.float32, device=device), speeds)
    both = torch.cat((angles, angles), dim=-1)
    return both.cos().to(dtype), both.sin().to(dtype)


def _speeds(config: ModelConfig) -> torch.Tensor:
    """Return radians a position of each pair of a head, stretched as Llama 3.1 does it where the model wants it.

    In single precision throughout, as the models were trained. Source of the scaling: Llama's `apply_scaling`
    (llama-models, `models/llama3/reference_impl/model.py`).
    """
    size = config.head_size
    plain = 1.0 / config.rope_base ** (torch.arange(0, size, 2, dtype=torch.float32) / size)
    if config.rope_factors:
        return plain / torch.tensor(config.rope_factors, dtype=torch.float32)
    scaling = config.rope_scaling
    if scaling is None:
        return plain
    turns = scaling.original * plain / (2 * math.pi)
    share = ((turns - scaling.low) / (scaling.high - scaling.low)).clamp(0, 1)
    return (1 - share) * plain / scaling.factor + share * plain
