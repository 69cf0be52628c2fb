"""Other architectures, run by transformers' own classes over this engine's paged keys and values.

transformers lets an attention function be registered by name and hands it what its caller passes on. Only models
whose layers all attend to everything are run, and only after a short prompt gave the logits of the model's own
attention: anything else would be wrong silently.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import torch

from prefixwise.core.errors import MissingExtraError, UserError
from prefixwise.engine.attention import Attention, SdpaAttention
from prefixwise.engine.batch import Batch, make_batch
from prefixwise.engine.executor import Piece
from prefixwise.engine.kv_pool import KvPool
from prefixwise.engine.model_config import ModelConfig

_NAME = "prefixwise_paged"
_STEP = "prefixwise_step"
# What an attention function may be asked for that this one does not do.
_PROMPT, _BLOCK = 48, 16
_TOLERANCE = {torch.float32: 1e-3, torch.bfloat16: 0.1, torch.float16: 0.05}
"""Largest difference of logits, in their standard deviations."""
_REFUSED = ("sliding_window", "softcap", "s_aux", "position_bias")


class TransformersModel:
    """A causal language model of transformers.

    Args:
        folder: With `config.json` and the weights.
        device: Where it is to run.
        dtype: Of weights, keys and values.

    Raises:
        UserError: The architecture has no replaceable attention, or layers that do not attend to everything.
        MissingExtraError: transformers is not installed.
    """

    def __init__(self, folder: Path, device: torch.device, dtype: torch.dtype) -> None:
        try:
            from transformers import AttentionInterface, AutoConfig, AutoModelForCausalLM
        except ImportError:
            raise MissingExtraError("running a model with transformers", "hf") from None
        AttentionInterface.register(_NAME, _attend)
        config = AutoConfig.from_pretrained(folder, local_files_only=True).get_text_config()
        try:
            self.config = _shape(config, str(folder))
        except AttributeError as problem:
            raise UserError(f"its config.json has no {problem.name}", str(folder)) from None
        try:
            self._model = AutoModelForCausalLM.from_pretrained(
                folder, attn_implementation=_NAME, dtype=dtype, local_files_only=True
            )
        except ValueError as problem:
            raise UserError(f"transformers does not run it: {str(problem)[:200]}", str(folder)) from None
        self._model.to(device).eval().requires_grad_(False)
        self._compare(str(folder))

    @property
    def device(self) -> torch.device:
        """Where it runs."""
        found: torch.device = self._model.device
        return found

    @property
    def dtype(self) -> torch.dtype:
        """Of weights, keys and values."""
        found: torch.dtype = self._model.dtype
        return found

    def forward(self, batch: Batch, pool: KvPool, attention: Attention) -> torch.Tensor:
        """Compute a step as `Model.forward` does."""
        attention.begin(batch)
        found = self._model(
            input_ids=batch.tokens[None],
            position_ids=batch.positions[None],
            use_cache=False,
            logits_to_keep=batch.last_rows,
            **{_STEP: (batch, pool, attention)},
        )
        logits: torch.Tensor = found.logits[0]
        return logits

    def _compare(self, where: str) -> None:
        """Raise UserError where a prompt, cut in two, does not give what the model's own attention gives."""
        ids = [(7 * place + 3) % self.config.vocabulary for place in range(_PROMPT)]
        pool = KvPool(self.config, _PROMPT // _BLOCK, _BLOCK, self.dtype, self.device)
        try:
            with torch.inference_mode():
                for start, end in ((0, _PROMPT - _BLOCK), (_PROMPT - _BLOCK, _PROMPT)):
                    piece = Piece(ids[start:end], start, range(_PROMPT // _BLOCK))
                    batch = make_batch([piece], _BLOCK, self.device, exact=True)
                    found = self.forward(batch, pool, SdpaAttention())
                self._model.set_attn_implementation("eager")
                wanted = self._model(input_ids=torch.tensor([ids], device=self.device), use_cache=False).logits[0, -1]
                self._model.set_attn_implementation(_NAME)
        except UserError:
            raise
        except Exception as problem:  # whatever the architecture stumbles over
            what = f"the architecture does not run over paged keys and values ({type(problem).__name__})"
            raise UserError(what, where) from None
        difference = float((found[0] - wanted).float().abs().max() / wanted.float().std())
        if not difference < _TOLERANCE[self.dtype]:
            raise UserError(f"the architecture computes otherwise over paged keys and values ({difference:.2g})", where)


def _attend(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,  # noqa: ARG001 - transformers' signature
    scaling: float | None = None,
    **more: Any,
) -> tuple[torch.Tensor, None]:
    """Write a layer's keys and values and attend over the pool; tensors are `[1, heads, rows, head_size]`."""
    for name in _REFUSED:
        if more.get(name) is not None:
            raise UserError(f"attention with {name} is not supported")
    batch, pool, attention = more[_STEP]
    layer: Any = module.layer_idx
    keys, values = pool.keys[layer], pool.values[layer]
    keys[batch.slots] = key[0].transpose(0, 1)
    values[batch.slots] = value[0].transpose(0, 1)
    size = query.shape[-1]
    if scaling is not None and not math.isclose(scaling, size**-0.5):
        query = query * (scaling * size**0.5)
    return attention(query[0].transpose(0, 1), keys, values)[None], None


def _shape(config: Any, where: str) -> ModelConfig:
    """Return what the pool and the engine have to know of a configuration."""
    odd = {str(kind) for kind in getattr(config, "layer_types", None) or ()} - {"full_attention"}
    window = getattr(config, "sliding_window", None) if getattr(config, "use_sliding_window", True) else None
    if odd or window is not None:
        raise UserError("layers that do not attend to everything are not supported", where)
    heads = config.num_attention_heads
    ends = getattr(config, "eos_token_id", None)
    return ModelConfig(
        family="transformers",
        vocabulary=config.vocab_size,
        hidden=config.hidden_size,
        intermediate=getattr(config, "intermediate_size", 0) or 0,
        layers=config.num_hidden_layers,
        heads=heads,
        kv_heads=getattr(config, "num_key_value_heads", None) or heads,
        head_size=getattr(config, "head_dim", None) or config.hidden_size // heads,
        context=config.max_position_embeddings,
        ends=tuple(ends) if isinstance(ends, list) else () if ends is None else (ends,),
    )
