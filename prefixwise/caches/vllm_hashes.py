"""vLLM's own block hashes, for checks against a live vLLM and its KV events; no cache here needs them.

Source: vLLM 0.32.0, `v1/core/kv_cache_utils.py` and `utils/hashing.py`. A hash is SHA-256 over the serialised tuple
(hash of the block before or NONE_HASH, tokens, extra keys or None). `sha256` serialises with pickle's highest
protocol, which is 5 from Python 3.8 to 3.14; `sha256_cbor` with canonical CBOR (RFC 8949), which other languages can
reproduce. The seed is "vllm-none-hash" unless vLLM was started with PYTHONHASHSEED.
"""

from __future__ import annotations

import hashlib
import pickle
import struct
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

import msgspec

from prefixwise.caches.block_keys import Content, extra_keys

Algorithm: TypeAlias = Literal["sha256", "sha256_cbor"]

PICKLE_PROTOCOL = 5
SEED = "vllm-none-hash"


class Adapter(msgspec.Struct, frozen=True):
    """A LoRA adapter as vLLM names it."""

    name: str
    path: str


def none_hash(algorithm: Algorithm = "sha256", seed: str = SEED) -> bytes:
    """Return the hash that stands before a first block; `seed` is PYTHONHASHSEED where vLLM had one."""
    return _HASHES[algorithm](seed)


def block_hashes(
    tokens: Sequence[int],
    block_size: int,
    *,
    cache_salt: str | None = None,
    adapter: Adapter | None = None,
    contents: Sequence[Content] = (),
    embeds: Sequence[bytes] = (),
    algorithm: Algorithm = "sha256",
    seed: str = SEED,
) -> list[bytes]:
    """Return the 32-byte hashes of all full blocks of a prompt.

    Args:
        tokens: Token ids.
        block_size: Tokens in a block.
        cache_salt: The request's `cache_salt`; only the first block names it, the chain carries it on.
        adapter: Its LoRA adapter; every block names it.
        contents: Multimodal items in order of their offsets.
        embeds: For prompts given as embeddings, the SHA-256 digest of each block's.
        algorithm: vLLM's `--prefix-caching-hash-algo`.
        seed: See `none_hash`.
    """
    hash_one = _HASHES[algorithm]
    parent = hash_one(seed)
    hashes: list[bytes] = []
    for index in range(len(tokens) // block_size):
        start, end = index * block_size, (index + 1) * block_size
        extra: list[object] = []
        if adapter:
            extra.append(("lora", _own(adapter.name), _own(adapter.path)))
        extra.extend(("mm", _own(digest), offset) for digest, offset in extra_keys(contents, start, end))
        if cache_salt and not index:
            extra.append(("cache_salt", _own(cache_salt)))
        if embeds:
            extra.append(("prompt_embeds", embeds[index]))
        parent = hash_one((parent, tuple(tokens[start:end]), tuple(extra) or None))
        hashes.append(parent)
    return hashes


def _own(text: str) -> str:
    """Return a copy. Pickle writes one object once, and in vLLM's engine each string is an object of its own."""
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "surrogatepass")


def pool_key(block_hash: bytes, group: int = 0) -> bytes:
    """Return the key of a block in vLLM's pool: its hash and the number of its KV cache group, 4 bytes big-endian."""
    return block_hash + struct.pack(">I", group)


def _sha256(value: object) -> bytes:
    return hashlib.sha256(pickle.dumps(value, protocol=PICKLE_PROTOCOL)).digest()


def _sha256_cbor(value: object) -> bytes:
    return hashlib.sha256(_cbor(value)).digest()


_HASHES: dict[Algorithm, Callable[[object], bytes]] = {"sha256": _sha256, "sha256_cbor": _sha256_cbor}


def _cbor(value: object) -> bytes:
    """Encode what a hash is made of. Raises TypeError for any other type."""
    if value is None:
        return b"\xf6"
    if isinstance(value, int) and not isinstance(value, bool):
        return _cbor_head(0, value) if value >= 0 else _cbor_head(1, -1 - value)
    if isinstance(value, bytes):
        return _cbor_head(2, len(value)) + value
    if isinstance(value, str):
        data = value.encode()
        return _cbor_head(3, len(data)) + data
    if isinstance(value, tuple):
        return _cbor_head(4, len(value)) + b"".join(map(_cbor, value))
    raise TypeError(f"a block hash is not made of {type(value).__name__}")


def _cbor_head(major: int, size: int) -> bytes:
    """Return the shortest head of a CBOR item of major type `major`."""
    if size < 24:
        return bytes([major << 5 | size])
    for code, letter in ((24, ">B"), (25, ">H"), (26, ">I"), (27, ">Q")):
        if size < 1 << 8 * struct.calcsize(letter):
            return bytes([major << 5 | code]) + struct.pack(letter, size)
    raise OverflowError(f"{size} does not fit into 64 bits")
