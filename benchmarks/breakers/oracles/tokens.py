"""Token ids of texts, packed; a text is cut into lines, and each is tokenised once."""

from __future__ import annotations

import functools
from array import array

from prefixwise.corpus.tokenizers.openai import DEFAULT_ENCODING, load

BYTES = 4
_START, _END, _SEPARATOR = 200_006, 200_007, 200_008
_ROLES = {"system": 1, "developer": 1, "user": 2, "assistant": 3, "tool": 4, "tools": 5, "format": 6}
FRAME_TOKENS = 4  # of one message: start, role, separator, end


def ids(text: str) -> bytes:
    """Return the packed ids of a text."""
    return b"".join(map(_piece, load(DEFAULT_ENCODING).cut(text)))


@functools.lru_cache(maxsize=200_000)
def _piece(text: str) -> bytes:
    return load(DEFAULT_ENCODING).encode(text)


def framed(role: str, text: str) -> bytes:
    """Return the packed ids of a message between its special tokens."""
    return opening(role) + ids(text) + array("I", [_END]).tobytes()


def opening(role: str) -> bytes:
    """Return the packed ids with which a message begins."""
    return array("I", [_START, 200_100 + _ROLES[role], _SEPARATOR]).tobytes()


def count(packed: bytes) -> int:
    """Return how many ids are packed."""
    return len(packed) // BYTES
