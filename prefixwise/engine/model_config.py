"""What a model is made of, as far as this engine can run it; everything else is refused by name.

Configurations come in Hugging Face's form (`config.json`), with the names that transformers 4 and 5 give them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from prefixwise.core.errors import UserError

FAMILIES = ("llama", "mistral", "qwen2", "qwen3")
_ADVICE = f"this engine runs {', '.join(FAMILIES)} with full attention; others may run with --model transformers:PATH"
# What changes the computation, with the values under which it changes nothing.
_INERT: dict[str, tuple[Any, ...]] = {
    "hidden_act": ("silu",),
    "mlp_bias": (False,),
    "rope_interleaved": (False,),
    "partial_rotary_factor": (1, 1.0),
    "quantization_config": (None,),
    "logit_scale": (None, 1, 1.0),
    "attention_multiplier": (None,),
    "residual_multiplier": (None, 1, 1.0),
    "embedding_multiplier": (None, 1, 1.0),
    "num_nextn_predict_layers": (None, 0),
    "is_encoder_decoder": (False,),
    "add_cross_attention": (False,),
}


class RopeScaling(msgspec.Struct, frozen=True):
    """Llama 3.1's stretching of the slow rotations.

    Attributes:
        factor: By which long wave lengths are stretched.
        low, high: Wave lengths above `original / low` are stretched whole, those below `original / high` not at all.
        original: Context that the model was trained with.
    """

    factor: float
    low: float
    high: float
    original: int


class ModelConfig(msgspec.Struct, frozen=True):
    """The shape of a decoder with full attention, rotary positions, RMS norms and a gated MLP.

    Attributes:
        family: One of `FAMILIES`.
        vocabulary, hidden, intermediate, layers, heads, kv_heads, head_size: Its sizes.
        context: Most tokens of prompt and answer.
        norm_epsilon: Of the RMS norms.
        rope_base: Base of the rotations.
        rope_scaling: Llama 3.1's scaling, None without.
        rope_factors: Divisors of the rotations' speeds one by one, as GGUF files carry a scaling; empty without.
        qkv_bias, output_bias: Whether the projections of the attention have biases.
        qk_norm: Whether queries and keys are normalised by head.
        tied: Whether the output layer is the embedding.
        ends: Ids that end an answer.
        opens: Id that begins a text, None where there is none.
    """

    family: str
    vocabulary: int
    hidden: int
    intermediate: int
    layers: int
    heads: int
    kv_heads: int
    head_size: int
    context: int
    norm_epsilon: float = 1e-6
    rope_base: float = 10000.0
    rope_scaling: RopeScaling | None = None
    rope_factors: tuple[float, ...] = ()
    qkv_bias: bool = False
    output_bias: bool = False
    qk_norm: bool = False
    tied: bool = False
    ends: tuple[int, ...] = ()
    opens: int | None = None

    @property
    def token_elements(self) -> int:
        """Numbers in the keys and values of a token."""
        return 2 * self.layers * self.kv_heads * self.head_size

    @property
    def parameters(self) -> int:
        """Weights, biases and norms."""
        attention = self.hidden * self.head_size * (2 * self.heads + 2 * self.kv_heads)
        biases = self.qkv_bias * self.head_size * (self.heads + 2 * self.kv_heads) + self.output_bias * self.hidden
        norms = 2 * self.hidden + self.qk_norm * 2 * self.head_size
        layer = attention + biases + norms + 3 * self.hidden * self.intermediate
        return self.layers * layer + self.hidden + self.vocabulary * self.hidden * (1 if self.tied else 2)


def parse_config(config: Mapping[str, Any], where: str) -> ModelConfig:
    """Return the model that a `config.json` describes.

    Args:
        config: The file's content.
        where: The file, for messages.

    Raises:
        UserError: A family, or a feature of one, that this engine does not run; or a value that is none.
    """
    family = config.get("model_type")
    if family not in FAMILIES:
        raise UserError(f"models of the type {str(family)[:60]!r} are not run here", where, _ADVICE)
    for name, inert in _INERT.items():
        if name in config and config[name] not in inert:
            raise UserError(f"{name}={str(config[name])[:60]} is not supported", where, _ADVICE)
    _refuse_windows(config, where)
    base, scaling = _rope(config, where)
    heads = config.get("num_attention_heads")
    hidden = config.get("hidden_size")
    head_size = config.get("head_dim")
    if head_size is None and isinstance(heads, int) and heads and isinstance(hidden, int):
        head_size = hidden // heads
    bias = bool(config.get("attention_bias", False))
    ends = config.get("eos_token_id")
    values = {
        "family": family,
        "vocabulary": config.get("vocab_size"),
        "hidden": hidden,
        "intermediate": config.get("intermediate_size"),
        "layers": config.get("num_hidden_layers"),
        "heads": heads,
        "kv_heads": config.get("num_key_value_heads") or heads,
        "head_size": head_size,
        "context": config.get("max_position_embeddings"),
        "norm_epsilon": config.get("rms_norm_eps", 1e-6),
        "rope_base": base,
        "rope_scaling": scaling,
        "rope_factors": config.get("rope_factors", ()),
        "qkv_bias": bias or family == "qwen2",
        "output_bias": bias,
        "qk_norm": family == "qwen3",
        "tied": bool(config.get("tie_word_embeddings", False)),
        "ends": ends if isinstance(ends, list) else [] if ends is None else [ends],
        "opens": config.get("bos_token_id"),
    }
    try:
        return _checked(msgspec.convert(values, ModelConfig), where)
    except msgspec.ValidationError as problem:
        raise UserError(f"does not describe a model: {problem}", where) from None


def _checked(model: ModelConfig, where: str) -> ModelConfig:
    sizes = (model.vocabulary, model.hidden, model.intermediate, model.layers, model.heads, model.kv_heads)
    if min(*sizes, model.head_size, model.context) < 1:
        raise UserError("does not describe a model: a size is below one", where)
    if model.heads % model.kv_heads:
        raise UserError(f"{model.heads} heads cannot share {model.kv_heads} heads of keys and values", where)
    if model.head_size % 2:
        raise UserError(f"a head of {model.head_size} numbers cannot be rotated in pairs", where)
    if model.rope_factors and len(model.rope_factors) != model.head_size // 2:
        raise UserError("the rotations' factors do not fit the heads", where)
    return model


def _refuse_windows(config: Mapping[str, Any], where: str) -> None:
    """Raise UserError where a layer does not attend to all tokens."""
    window = config.get("sliding_window")
    if config.get("use_sliding_window", config.get("model_type") == "mistral") and window is not None:
        raise UserError(f"sliding_window={str(window)[:60]} is not supported", where, _ADVICE)
    odd = {str(kind) for kind in config.get("layer_types") or ()} - {"full_attention"}
    if odd:
        raise UserError(f"layers of the type {sorted(odd)[0][:60]} are not supported", where, _ADVICE)


def _rope(config: Mapping[str, Any], where: str) -> tuple[float, RopeScaling | None]:
    """Return base and scaling of the rotations, from `rope_parameters` or from `rope_theta` and `rope_scaling`."""
    given = config.get("rope_parameters") or config.get("rope_scaling") or {}
    base = given.get("rope_theta", config.get("rope_theta", 10000.0))
    kind = given.get("rope_type", given.get("type", "default"))
    if given.get("partial_rotary_factor", 1) != 1:
        raise UserError("rotations of a part of a head are not supported", where, _ADVICE)
    if kind == "default":
        return base, None
    if kind != "llama3":
        raise UserError(f"the rope scaling {str(kind)[:60]!r} is not supported", where, _ADVICE)
    original = given.get("original_max_position_embeddings", config.get("original_max_position_embeddings"))
    values = {
        "factor": given.get("factor"),
        "low": given.get("low_freq_factor"),
        "high": given.get("high_freq_factor"),
        "original": original,
    }
    try:
        return base, msgspec.convert(values, RopeScaling)
    except msgspec.ValidationError as problem:
        raise UserError(f"the rope scaling is not whole: {problem}", where) from None
