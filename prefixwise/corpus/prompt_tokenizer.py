"""Tokenizers of open models: they encode whole rendered prompts, special tokens included, as engines do."""

from __future__ import annotations

import abc
import functools
from array import array
from collections.abc import Iterable
from typing import TYPE_CHECKING

from prefixwise.corpus.special_tokens import SpecialTokens
from prefixwise.corpus.tokenizer import cut_paragraphs

if TYPE_CHECKING:
    from prefixwise.corpus.chat_template import ChatTemplate

LONG_SEGMENT = 2048
"""Characters from which on a segment is cut at lines, where the tokenizer is known to split there."""


class PromptTokenizer(abc.ABC):
    """A vocabulary with its special tokens and, where it brings one, its chat template.

    Attributes:
        name: Path or name it was asked for by.
        note: Where it comes from, and whether prompts are encoded segment by segment.
        template: The chat template; None where there is none.
        named_tokens: `bos_token`, `eos_token` and so on, as a template takes them.
        opening: Packed ids that an engine puts before a bare prompt (BOS, where the vocabulary asks for it).
        whole_because: Why a prompt must be encoded in one piece; empty where it may be cut at special tokens.
        prepends: Whether it puts something before a text, so that a text's ids depend on where it begins.
        cuts_lines: Whether it always splits between a line feed and a following letter or digit.
    """

    exact: bool = True
    frame: tuple[int, int, int] | None = None

    def __init__(self, name: str, source: str) -> None:
        self.name = name
        self.source = source
        self.template: ChatTemplate | None = None
        self.named_tokens: dict[str, str] = {}
        self.opening = b""
        self.whole_because = ""
        self.prepends = False
        self.cuts_lines = False
        self._special = SpecialTokens((), ())
        self._control: frozenset[str] = frozenset()

    def set_special_tokens(self, tokens: Iterable[str], cuts: Iterable[str]) -> None:
        """Set which tokens are recognised in prompts, and at which of them prompts are cut."""
        self._control = frozenset(cuts)
        self._special = SpecialTokens(tokens, self._control)

    @functools.cached_property
    def control_ids(self) -> frozenset[int]:
        """Ids of the tokens that structure a prompt and are no text of an answer."""
        encoded = (array("I", self.encode_prompt(token)) for token in self._control)
        return frozenset(ids[0] for ids in encoded if len(ids) == 1)

    @property
    def note(self) -> str:
        """Where it comes from, and whether prompts are encoded segment by segment."""
        return f"{self.source}; prompts encoded whole: {self.whole_because}" if self.whole_because else self.source

    @abc.abstractmethod
    def encode(self, text: str) -> bytes:
        """Return the ids of `text`; control tokens that are spelt out in it are ordinary text."""

    @abc.abstractmethod
    def encode_prompt(self, text: str) -> bytes:
        """Return the ids of a rendered prompt; every special token that is spelt out in it becomes that token.

        That is the rule of vLLM, SGLang and llama.cpp, which encode the rendered prompt as one text: a literal
        `<|im_start|>` in a user's message begins a turn.
        """

    @abc.abstractmethod
    def starts(self, text: str) -> tuple[bytes, list[int]]:
        """Return the ids of a rendered prompt, and for each the code point of `text` at which it begins."""

    @abc.abstractmethod
    def decode(self, ids: list[int]) -> str:
        """Return the text of `ids`; bytes that are no UTF-8 become U+FFFD."""

    def segments(self, text: str) -> list[str]:
        """Cut a rendered prompt where ids never merge: encoding the pieces one by one gives the ids of the whole."""
        if self.whole_because:
            return [text] if text else []
        return self._special.segments(text)

    def lines(self, segment: str) -> list[str]:
        """Cut a long segment of a prompt further, at lines, where that changes no ids."""
        return self.cut(segment) if len(segment) >= LONG_SEGMENT and not self.whole_because else [segment]

    def end_of_turn(self, text: str) -> int | None:
        """Return where the special tokens that end `text` begin; None without any."""
        return self._special.ending(text)

    def cut(self, text: str) -> list[str]:
        """Cut long ordinary text where ids never merge."""
        return cut_paragraphs(text) if self.cuts_lines else [text]


def packed(ids: Iterable[int]) -> bytes:
    """Return `ids` laid end to end as the tree takes them."""
    return array("I", ids).tobytes()
