"""Models of transformers with random weights, which say what is right."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import torch
import transformers

SHAPE: dict[str, Any] = {
    "vocab_size": 259,
    "hidden_size": 48,
    "intermediate_size": 96,
    "num_hidden_layers": 3,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
    "bos_token_id": 256,
    "eos_token_id": 257,
}
LLAMA_31 = {
    "rope_type": "llama3",
    "rope_theta": 50000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}
FAMILIES: dict[str, Any] = {
    "llama": lambda: transformers.LlamaConfig(**SHAPE),
    "llama-tied": lambda: transformers.LlamaConfig(**SHAPE, tie_word_embeddings=True, rms_norm_eps=1e-5),
    "llama-3.1": lambda: transformers.LlamaConfig(**SHAPE, rope_parameters=LLAMA_31),
    "llama-biased": lambda: transformers.LlamaConfig(**SHAPE, attention_bias=True),
    "mistral": lambda: transformers.MistralConfig(**SHAPE, sliding_window=None, head_dim=16),
    "qwen2": lambda: transformers.Qwen2Config(**SHAPE),
    "qwen3": lambda: transformers.Qwen3Config(**SHAPE, head_dim=16),
}


def oracle(config: Any, folder: Path) -> Any:
    """Return a model of random weights that are not small, saved to `folder` as well."""
    torch.manual_seed(5)
    model = transformers.AutoModelForCausalLM.from_config(config).eval().float()
    for name, weight in model.named_parameters():
        spread = 0.3 if "norm" in name or "bias" in name else 0.15
        torch.nn.init.normal_(weight, 1.0 if "norm" in name else 0.0, spread)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.save_pretrained(folder)
    return model
