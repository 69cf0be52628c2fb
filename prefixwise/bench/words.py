"""Text of an exact number of tokens that nobody has sent before, for tokenizers that nobody told us.

A prompt is made of common short English words with a space in front. Nearly every tokenizer makes one token of each;
which of them it does is found out beforehand, by counting a few prompts: locally, or by the `prompt_tokens` that the
server reports for them.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Awaitable, Callable, Sequence

import msgspec

from prefixwise.core.errors import UserError

Count = Callable[[str], Awaitable[int]]
"""Returns how many tokens a prompt with these words has, all that is around them included."""

_COMMON = """
time year people way day man thing world life hand part place case point number group problem fact home water room
mother area money story month lot right study book eye job word business issue side kind head house service friend
father power hour game line end member law car city name team minute idea body back parent face level office door
health person art war history party result change morning reason research girl guy moment air teacher force
"""
_CANDIDATES = tuple(_COMMON.split())
NONCE_TOKENS = 16
"""Letters of a nonce. Each holds four bits, so two nonces begin alike now and then: a cache of single tokens finds
that beginning, but nothing behind it."""

_LETTERS = str.maketrans("0123456789abcdef", "abcdefghijklmnop")


class Vocabulary(msgspec.Struct, frozen=True):
    """Words of one token each, and the tokens of a prompt without any of them.

    Attributes:
        words: Without the space.
        around: Tokens of a prompt that has no word: template, nonce and instructions.
    """

    words: tuple[str, ...]
    around: int

    def text(self, tokens: int, seed: int | str) -> str:
        """Return words in random order so that the whole prompt has `tokens` tokens; the same seed, the same text.

        Raises:
            UserError: The prompt is longer without any word.
        """
        count = tokens - self.around
        if count < 0:
            what = f"a prompt of {tokens} tokens cannot be made: {self.around} of them are around its text"
            raise UserError(what, help="ask for longer prompts")
        rng = random.Random(seed)  # noqa: S311 - not for secrets
        return "".join(f" {word}" for word in rng.choices(self.words, k=count))


def nonce(run: str, item: int, attempt: int = 0) -> str:
    """Return 16 single letters that belong to one item of one run; another attempt has other ones.

    Letters with spaces between them are a token each in nearly every vocabulary, so that all nonces are equally long;
    digits and longer strings are not.
    """
    said = hashlib.blake2b(f"{run}/{item}/{attempt}".encode(), digest_size=NONCE_TOKENS // 2).hexdigest()
    return " ".join(said.translate(_LETTERS))


async def vocabulary(count: Count) -> Vocabulary:
    """Find out which words are one token, with about as many countings as there are words that are not.

    Args:
        count: Counts a prompt, framed as it will be sent, nonce and all.

    Raises:
        UserError: Hardly any word is one token.
    """
    around = await count("")
    words = await _single(count, around, _CANDIDATES)
    if len(words) < len(_CANDIDATES) // 4:
        raise UserError(
            f"only {len(words)} of {len(_CANDIDATES)} common words are one token here",
            help="give the model's tokenizer with --tokenizer",
        )
    return Vocabulary(tuple(words), around)


async def _single(count: Count, around: int, words: Sequence[str]) -> list[str]:
    """Return those of `words` that add one token each: all at once where they do, else by halves."""
    added = await count("".join(f" {word}" for word in words)) - around
    if added == len(words):
        return list(words)
    if len(words) == 1:
        return []
    half = len(words) // 2
    first = await _single(count, around, words[:half])
    return first + await _single(count, around, words[half:])
