"""The size of a token's keys and values, from a model's shape.

Two vectors (key and value) of `kv_heads x head_size` a layer; with multi-head latent attention (DeepSeek V2 and V3)
one compressed vector and one rotary key a layer instead, shared by all heads.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from prefixwise.core.errors import UserError

_DTYPE_BYTES = {
    "fp32": 4, "float32": 4, "bf16": 2, "bfloat16": 2, "fp16": 2, "float16": 2,
    "fp8": 1, "fp8_e4m3": 1, "fp8_e5m2": 1, "int8": 1, "float8_e4m3fn": 1, "float8_e5m2": 1,
}  # fmt: skip
_WHERE = "--model-shape"


class ModelShape(msgspec.Struct, frozen=True):
    """What decides the size of the KV cache.

    Attributes:
        layers: Layers with attention.
        kv_heads, head_size: Of keys and values.
        latent: Length of the compressed vector of latent attention, 0 without; `rope` is its rotary key's.
        dtype: Of the cache.
    """

    layers: int
    kv_heads: int = 0
    head_size: int = 0
    latent: int = 0
    rope: int = 0
    dtype: str = "bf16"

    @property
    def token_bytes(self) -> int:
        """Bytes of KV a token."""
        vectors = self.latent + self.rope if self.latent else 2 * self.kv_heads * self.head_size
        return self.layers * vectors * _DTYPE_BYTES[self.dtype]


def parse_model_shape(text: str) -> ModelShape:
    """Return the shape in a model's `config.json` (or its folder), or in `layers=…,kv_heads=…,head_size=…,dtype=…`.

    Raises:
        UserError: The file cannot be read or does not say enough, or the text is no shape.
    """
    path = Path(text)
    if path.is_dir():
        path = path / "config.json"
    if path.is_file():
        return _from_config(path)
    if "=" not in text:
        raise UserError("no such file", f"{_WHERE} {text[:100]}", "name a config.json, or give layers=…,kv_heads=…")
    given: dict[str, Any] = {}
    for item in text.split(","):
        key, _, value = (part.strip() for part in item.partition("="))
        if key not in ModelShape.__struct_fields__:
            known = ", ".join(ModelShape.__struct_fields__)
            raise UserError(f"a model's shape has no {key[:100]!r}", _WHERE, f"it has {known}")
        given[key] = int(value) if value.isascii() and value.isdecimal() else value
    return _checked(given, _WHERE)


def _from_config(path: Path) -> ModelShape:
    try:
        config = msgspec.json.decode(path.read_bytes())
    except (OSError, msgspec.MsgspecError) as problem:
        raise UserError(f"cannot be read: {problem}", str(path)) from None
    if isinstance(config, dict) and isinstance(config.get("text_config"), dict):  # of a model that sees or hears too
        config = {**config, **config["text_config"]}
    if not isinstance(config, dict):
        raise UserError("is no model's config", str(path))
    heads = config.get("num_attention_heads")
    size = config.get("head_dim")
    if size is None and isinstance(heads, int) and heads and isinstance(config.get("hidden_size"), int):
        size = config["hidden_size"] // heads
    given = {
        "layers": config.get("num_hidden_layers"),
        "kv_heads": config.get("num_key_value_heads") or heads,
        "head_size": size,
        "latent": config.get("kv_lora_rank") or 0,
        "rope": config.get("qk_rope_head_dim") or 0,
        "dtype": str(config.get("torch_dtype") or config.get("dtype") or "bf16"),
    }
    return _checked(given, str(path))


def _checked(given: dict[str, Any], where: str) -> ModelShape:
    try:
        shape = msgspec.convert(given, ModelShape)
    except msgspec.ValidationError as problem:
        raise UserError(f"does not say the shape of a KV cache: {problem}", where) from None
    if shape.dtype not in _DTYPE_BYTES:
        raise UserError(f"unknown dtype {shape.dtype[:100]!r}", where, f"known: {', '.join(sorted(_DTYPE_BYTES))}")
    if shape.token_bytes <= 0:
        raise UserError("a token would take no room", where, "give layers, kv_heads and head_size, or latent and rope")
    return shape
