"""Whole prompts encoded in one go, by tiktoken alone: what segments, memo and cuts must come to.

The framing is put into the rendered string under names that no text can hold, and those are the only special
tokens that are allowed, so the text between them is ordinary text whatever it looks like.
"""

from __future__ import annotations

import base64
import functools
import gzip
import importlib.util
from collections.abc import Iterable
from pathlib import Path
from unittest import mock

import tiktoken
import tiktoken_ext.openai_public as public

START, MESSAGE, END, SEPARATOR = (f"\U0010fffdframe-5b1c{n}\U0010fffd" for n in range(4))
_PRIVATE = (0x7FFFFF00, 0x7FFFFF01, 0x7FFFFF02, 0x7FFFFF03)
_HARMONY = (200006, 200008, 200007, 0x7FFFFF03)
ENCODINGS = ("o200k_base", "cl100k_base", "o200k_harmony")
ENCODING_OF = {"gpt-4o": "o200k_base", "gpt-4": "cl100k_base", "gpt-oss-20b": "o200k_harmony"}


@functools.cache
def _ranks(file: str) -> dict[bytes, int]:
    package = importlib.util.find_spec("bpe_openai")
    assert package is not None
    assert package.origin is not None
    data = gzip.decompress((Path(package.origin).parent / "data" / f"{file}.gz").read_bytes())
    pairs = (line.split() for line in data.splitlines())
    return {base64.b64decode(token): int(rank) for token, rank in pairs}


@functools.cache
def encoding(name: str) -> tiktoken.Encoding:
    """Return tiktoken's encoding `name` with the frame as its only special tokens."""

    def ranks(source: str, **_other: str) -> dict[bytes, int]:
        return _ranks(source.rsplit("/", 1)[-1])

    with mock.patch.object(public, "load_tiktoken_bpe", ranks):
        made = public.ENCODING_CONSTRUCTORS[name]()
    ids = _HARMONY if name == "o200k_harmony" else _PRIVATE
    names = (START, MESSAGE, END, SEPARATOR)
    return tiktoken.Encoding(
        f"oracle-{name}",
        pat_str=made["pat_str"],
        mergeable_ranks=made["mergeable_ranks"],
        special_tokens=dict(zip(names, ids, strict=True)),
    )


@functools.lru_cache(maxsize=4096)
def encode(name: str, rendered: str) -> list[int]:
    """Return the ids of a rendered prompt, encoded whole."""
    frame = {START, MESSAGE, END, SEPARATOR}
    return encoding(name).encode(rendered, allowed_special=frame, disallowed_special=())


def message(role: str, texts: Iterable[str]) -> str:
    """Return one message as the assumed framing renders it."""
    return f"{START}{role}{MESSAGE}{SEPARATOR.join(texts)}{END}"


def chat(messages: Iterable[tuple[str, str]]) -> str:
    """Return a chat prompt up to the opening of the reply."""
    return "".join(message(role, [text]) for role, text in messages) + f"{START}assistant{MESSAGE}"
