"""How many tokens constant text takes."""

from __future__ import annotations

import functools

from prefixwise.corpus.tokenizer import BYTES_PER_ID, Tokenizer
from prefixwise.corpus.tokenizers.openai import DEFAULT_ENCODING, load

# Longer texts are counted by their beginning: of so many tokens nobody needs the last digit.
_COUNTED = 100_000


@functools.cache
def _tokenizer() -> Tokenizer:
    return load(DEFAULT_ENCODING)


def count_tokens(text: str) -> int:
    """Return the tokens of a text in `o200k_base`; of very long ones an estimate."""
    if len(text) > _COUNTED:
        return count_tokens(text[:_COUNTED]) * len(text) // _COUNTED
    return len(_tokenizer().encode(text)) // BYTES_PER_ID


def encoding_name() -> str:
    """Return what tokens are counted by: the encoding, or an estimate where its ranks are not at hand."""
    return _tokenizer().name


def encoded(text: str) -> bytes:
    """Return the token ids of a text, as many bytes each as a tokenizer's; of a very long one its beginning."""
    return _tokenizer().encode(text[:_COUNTED])
