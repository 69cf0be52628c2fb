"""How much a cache holds: in blocks, in tokens, or in bytes of a model's KV."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from prefixwise.caches.model_shape import parse_model_shape
from prefixwise.caches.policy import positive
from prefixwise.core.errors import UserError

_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]*)")
_BINARY = {"kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}
_DECIMAL = {"b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_BYTES = {**_BINARY, **_DECIMAL}
_TOKENS = {"tokens": 1, "ktokens": 10**3, "mtokens": 10**6}
KV_SIZE = "token_bytes"
"""The parameter that says how many bytes of KV a token takes; `--model-shape` fills it in."""


def for_model(rules: Sequence[str], shape: str | None) -> list[str]:
    """Return `--under` rules with the size of a token's KV in those that name a capacity.

    Args:
        rules: As `--under` takes them.
        shape: As `--model-shape` takes it, or None.

    Raises:
        UserError: The shape is none.
    """
    if shape is None:
        return list(rules)
    size = parse_model_shape(shape).token_bytes
    return [f"{rule},{KV_SIZE}={size}" if "capacity=" in rule and KV_SIZE not in rule else rule for rule in rules]


def capacity_in(parameters: Mapping[str, str], unit: int) -> int | None:
    """Return the parameter `capacity` in units of `unit` tokens, None where it is not given.

    `5000` and `5000blocks` are units, `2Mtokens` tokens, `40GiB` and `40GB` bytes.

    Raises:
        UserError: It is no amount, holds not even one unit, or is in bytes and the model's shape is not known.
    """
    text = parameters.get("capacity")
    if text is None:
        return None
    found = _AMOUNT.fullmatch(text)
    name = found[2].lower() if found else ""
    if found is None or (name and name not in _BYTES and name not in _TOKENS and name not in ("blocks", "pages")):
        advice = "for example capacity=5000blocks, 2Mtokens or 40GiB"
        raise UserError(f"capacity={text[:100]} is no amount", help=advice)
    amount = float(found[1])
    if name in _BYTES:
        if KV_SIZE not in parameters:
            raise UserError(
                "a capacity in bytes needs the size of a token's KV",
                help="name the model: --model-shape config.json, or layers=36,kv_heads=8,head_size=128,dtype=bf16",
            )
        units = amount * _BYTES[name] / positive(parameters, KV_SIZE, 1) / unit
    elif name in _TOKENS:
        units = amount * _TOKENS[name] / unit
    else:
        units = amount
    if not 1 <= units < 2**40:
        raise UserError(f"capacity={text[:100]} holds {'no whole unit' if units < 1 else 'more than can be counted'}")
    return int(units)
