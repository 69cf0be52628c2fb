"""What counts as a token, and which tokenizer a model has."""

from __future__ import annotations

import functools
from collections.abc import Callable
from enum import StrEnum
from typing import Protocol

BYTES_PER_ID = 4
"""Token ids are handed around as little-endian unsigned 32-bit integers, laid end to end in `bytes`: equality,
slicing and hashing then run at memory speed."""

# Ids from here on are not in any vocabulary: framing of assumed templates, then (top bit set) media.
FIRST_PRIVATE_ID = 0x7FFFFF00


class Exactness(StrEnum):
    """How far a token count can be trusted."""

    EXACT = "exact"
    EXACT_TEXT = "exact text, assumed template"
    ESTIMATED = "estimated"


class Tokenizer(Protocol):
    """Turns text into ids."""

    @property
    def name(self) -> str:
        """Encoding or vocabulary, as shown in reports."""
        ...

    @property
    def exact(self) -> bool:
        """False for an estimate."""
        ...

    @property
    def note(self) -> str:
        """Where it comes from, or why it is only an estimate; one clause."""
        ...

    @property
    def frame(self) -> tuple[int, int, int] | None:
        """Ids of (turn start, message start, turn end) where the vocabulary has them, else None."""
        ...

    def encode(self, text: str) -> bytes:
        """Return the ids of `text`; text that looks like a special token is ordinary text."""
        ...

    def cut(self, text: str) -> list[str]:
        """Cut long `text` where ids never merge: encoding the pieces one by one gives the ids of the whole."""
        ...

    def decode(self, ids: list[int]) -> str:
        """Return the text of `ids`; bytes that are no UTF-8 become U+FFFD."""
        ...


ChooseTokenizer = Callable[[str, str], Tokenizer]
"""Returns the tokenizer of (provider, model)."""


def cut_lines(text: str) -> list[str]:
    """Cut `text` between a line feed and a following letter or digit.

    The pre-tokenizers of `o200k_base` and `cl100k_base` always split there (and at a carriage return, which is
    left alone here), whatever stands around it; white space, slashes and other punctuation may join the line
    end before them.
    """
    return _cut(text, 1)


def cut_paragraphs(text: str) -> list[str]:
    """Cut `text` at one in eight of the places of `cut_lines`, chosen by the length of the line before the place.

    The choice depends on the text around a place alone, so texts that differ in one line are cut alike before and
    soon after it; pieces are long enough that cutting costs little.
    """
    return _cut(text, 8)


def _cut(text: str, one_in: int) -> list[str]:
    pieces = []
    start = line = 0
    at = text.find("\n") + 1
    while at:
        if text[at : at + 1].isalnum():
            if (at - line) % one_in == 0:
                pieces.append(text[start:at])
                start = at
            line = at
        at = text.find("\n", at) + 1
    pieces.append(text[start:])
    return pieces


OPENAI_NAMES = ("gpt-", "chatgpt", "o1", "o3", "o4", "text-embedding", "davinci", "babbage", "ft:gpt")


@functools.lru_cache(maxsize=4096)
def base_name(model: str) -> str:
    """Return a model's own name without gateway, region and path prefixes (`azure/gpt-4.1` gives `gpt-4.1`)."""
    name = model.rsplit("/", 1)[-1]
    for prefix in ("openai.", "us.", "eu.", "global.", "apac."):
        name = name.removeprefix(prefix)
    return name


def provider_of(model: str, default: str) -> str:
    """Return whose model `model` is, as far as its name tells, else `default`."""
    name = base_name(model).lower()
    if name.startswith(("claude", "anthropic.")):
        return "anthropic"
    if name.startswith(("gemini", "models/gemini")):
        return "gemini"
    if name.startswith("deepseek") and not default:
        return "deepseek"
    if name.startswith(OPENAI_NAMES):
        return "openai"
    return default
