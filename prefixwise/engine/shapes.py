"""Shapes of known models, to be filled with random weights: speed depends on the shape alone.

Sizes are those of the published `config.json` files.
"""

from __future__ import annotations

from prefixwise.core.errors import UserError
from prefixwise.engine.model_config import ModelConfig, RopeScaling

_LLAMA_31 = RopeScaling(factor=8.0, low=1.0, high=4.0, original=8192)

SHAPES: dict[str, ModelConfig] = {
    "tiny": ModelConfig(
        family="llama",
        vocabulary=259,
        hidden=64,
        intermediate=128,
        layers=2,
        heads=4,
        kv_heads=2,
        head_size=16,
        context=4096,
        ends=(257,),
        opens=256,
    ),
    "smollm2-135m": ModelConfig(
        family="llama",
        vocabulary=49152,
        hidden=576,
        intermediate=1536,
        layers=30,
        heads=9,
        kv_heads=3,
        head_size=64,
        context=8192,
        norm_epsilon=1e-5,
        rope_base=100000.0,
        tied=True,
    ),
    "llama-3-8b": ModelConfig(
        family="llama",
        vocabulary=128256,
        hidden=4096,
        intermediate=14336,
        layers=32,
        heads=32,
        kv_heads=8,
        head_size=128,
        context=131072,
        norm_epsilon=1e-5,
        rope_base=500000.0,
        rope_scaling=_LLAMA_31,
    ),
    "qwen3-8b": ModelConfig(
        family="qwen3",
        vocabulary=151936,
        hidden=4096,
        intermediate=12288,
        layers=36,
        heads=32,
        kv_heads=8,
        head_size=128,
        context=40960,
        rope_base=1000000.0,
        qk_norm=True,
    ),
    "qwen3-32b": ModelConfig(
        family="qwen3",
        vocabulary=151936,
        hidden=5120,
        intermediate=25600,
        layers=64,
        heads=64,
        kv_heads=8,
        head_size=128,
        context=40960,
        rope_base=1000000.0,
        qk_norm=True,
    ),
}


def shape_named(name: str) -> ModelConfig:
    """Return a shape. Raises UserError for a name that is none."""
    if name not in SHAPES:
        raise UserError(f"there is no shape called {name[:60]!r}", f"random:{name[:60]}", f"known: {', '.join(SHAPES)}")
    return SHAPES[name]
