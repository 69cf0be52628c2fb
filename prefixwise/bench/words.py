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

_NEAR = 64
"""Tokens more that a prompt may have than asked for, where no words come to exactly that."""

_LETTERS = str.maketrans("0123456789abcdef", "abcdefghijklmnop")


class Vocabulary(msgspec.Struct, frozen=True):
    """Words whose tokens are known, and the tokens of a prompt without any of them.

    Attributes:
        words: (word, tokens of a space and the word).
        around: Tokens of a prompt that has no word: template, nonce and instructions.
        counted: Whether somebody counted; else each word is taken for one token.
    """

    words: tuple[tuple[str, int], ...]
    around: int
    counted: bool = True

    def possible(self, tokens: int) -> int:
        """Return the smallest number of tokens from `tokens` on that a prompt can have.

        Raises:
            UserError: There is none near.
        """
        left = max(0, tokens - self.around)
        reachable = _sums({cost for _, cost in self.words}, left + _NEAR)
        for more in range(_NEAR + 1):
            if reachable[left + more]:
                return self.around + left + more
        raise UserError(f"no prompt of about {tokens} tokens can be made", help="ask for longer prompts")

    def text(self, tokens: int, seed: int | str) -> str:
        """Return words in random order so that the whole prompt has `tokens` tokens; the same seed, the same text.

        Raises:
            UserError: No words make a prompt of that length.
        """
        left = tokens - self.around
        reachable = _sums({cost for _, cost in self.words}, max(0, left))
        if left < 0 or not reachable[left]:
            what = f"a prompt of {tokens} tokens cannot be made: {self.around} of them are around its text"
            raise UserError(what, help="ask for longer prompts")
        rng = random.Random(seed)  # noqa: S311 - not for secrets
        parts: list[str] = []
        while left:
            word, cost = rng.choice(self.words)
            if cost <= left and reachable[left - cost]:
                parts.append(f" {word}")
                left -= cost
        return "".join(parts)


def _sums(costs: set[int], most: int) -> bytearray:
    """Return of each number of tokens up to `most` whether words of these costs come to it."""
    reachable = bytearray(most + 1)
    reachable[0] = 1
    for total in range(1, most + 1):
        reachable[total] = any(cost <= total and reachable[total - cost] for cost in costs)
    return reachable


def nonce(run: str, item: int, attempt: int = 0) -> str:
    """Return 16 single letters that belong to one item of one run; another attempt has other ones.

    Letters with spaces between them are a token each in nearly every vocabulary, so that all nonces are equally long;
    digits and longer strings are not.
    """
    said = hashlib.blake2b(f"{run}/{item}/{attempt}".encode(), digest_size=NONCE_TOKENS // 2).hexdigest()
    return " ".join(said.translate(_LETTERS))


async def vocabulary(count: Count) -> Vocabulary:
    """Find out what each word costs: with two countings where all are one token, else with one more for each.

    Args:
        count: Counts a prompt, framed as it will be sent, nonce and all.

    Raises:
        UserError: The tokens of words do not add up.
    """
    around = await count("")
    if await count(_words(_CANDIDATES)) - around == len(_CANDIDATES):
        return Vocabulary(tuple((word, 1) for word in _CANDIDATES), around)
    costs = [(word, await count(f" {word}") - around) for word in _CANDIDATES]
    cheap = sorted((cost, word) for word, cost in costs if cost > 0)
    ones = tuple((word, cost) for cost, word in cheap if cost == 1)
    words = ones if len(ones) >= len(_CANDIDATES) // 4 else tuple((word, cost) for cost, word in cheap)
    whole = await count(_words([word for word, _ in words])) - around
    if not words or whole != sum(cost for _, cost in words):
        raise UserError(
            "the tokens of words do not add up here, so no prompt can have an exact length",
            help="does something rewrite prompts on the way?",
        )
    return Vocabulary(words, around)


def common_text() -> str:
    """Return all the words that prompts are made of, as one text."""
    return _words(_CANDIDATES)


def uncounted(around: int = 0) -> Vocabulary:
    """Return what is assumed where nobody counts: a token a word, and `around` of them around the words."""
    return Vocabulary(tuple((word, 1) for word in _CANDIDATES), around, counted=False)


def _words(words: Sequence[str]) -> str:
    return "".join(f" {word}" for word in words)
