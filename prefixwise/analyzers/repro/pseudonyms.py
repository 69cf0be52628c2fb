"""Words and numbers in place of a text's own: as long, in the same case, equal exactly where the originals are.

The mapping is keyed and made up as words come: without the key nobody can tell which word stood where. That hides
what a text is about; it hides neither its shape nor how often a word comes again.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
from collections.abc import Collection, Iterator

KEY_BYTES = 16
_CONSONANTS, _VOWELS = "bdfgjkpvwxz", "aiou"
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_SPOKEN = 24
"""Pronounceable words that are tried before any letters will do."""
_TRIES = 200

# Scripts whose letters are no alphabet: one pool for all, or the choice would tell which part of it a letter is from.
_LARGE = ((0x3041, 0x3094), (0x30A1, 0x30F4), (0x3400, 0x4DB5), (0x4E00, 0x9FA6), (0xAC00, 0xD7A4))


class Pseudonyms:
    """One mapping.

    Args:
        key: What makes it another mapping than any other.
        kept: Words and numbers that stand for themselves, and that nothing else is called.
    """

    def __init__(self, key: bytes, kept: Collection[str] = ()) -> None:
        self._key = key
        self._kept = frozenset(_plain(run) for run in kept)
        self._words: dict[str, str] = {}
        self._taken: set[str] = set(self._kept)

    def word(self, word: str) -> str:
        """Return what a run of letters is called."""
        plain = lowered(word)
        if plain in self._kept:
            return word
        found = self._words.get(plain)
        if found is None:
            found = self._take(plain, self._spellings(plain))
        return _in_case_of(word, found)

    def number(self, digits: str) -> str:
        """Return what a run of digits is called; zeros in front stay, for they make a number another thing."""
        significant = _plain(digits)
        if not significant or significant in self._kept:
            return digits
        found = self._words.get(significant)
        if found is None:
            found = self._take(significant, self._figures(significant))
        return digits[: len(digits) - len(significant)] + found

    def part(self, one: str, other: str) -> None:
        """Let two runs, of letters or of digits, begin alike as far as they do, and part where they part.

        Call it before either has a name.
        """
        digits = one.isdecimal()
        pair = (_plain(one), _plain(other))
        if digits is not other.isdecimal() or not all(pair) or pair[0] == pair[1]:
            return
        same = sum(1 for _ in itertools.takewhile(lambda both: both[0] == both[1], zip(*pair, strict=False)))
        head = "" if not same else self.number(pair[0][:same]) if digits else self.word(pair[0][:same])
        taken = {plain[same : same + 1] for plain in pair if plain in self._kept}
        for plain in pair:
            tail = plain[same:]
            if not tail or plain in self._kept or plain in self._words:
                continue
            ends = self._figures(tail, leading=not same) if digits else self._spellings(tail)
            name = self._take(plain, (head + end for end in ends if end[0] not in taken))
            taken.add(name[same : same + 1])

    def secret(self, secret: str) -> str:
        """Return a stand-in for a secret as a whole: characters of the same kinds, that tell nothing of its parts."""
        stream = self._stream("secret", secret)
        return "".join(_like(character, next(stream)) for character in secret)

    def digest(self, text: str) -> bytes:
        """Return bytes that stand for a text: the same for the same text, and no others."""
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), key=self._key, digest_size=32).digest()

    def _take(self, plain: str, names: Iterator[str]) -> str:
        """Give a run the first name that is free, its own only where there is no other."""
        name = next((name for name in names if name != plain and name not in self._taken), plain)
        self._taken.add(name)
        self._words[plain] = name
        return name

    def _spellings(self, plain: str) -> Iterator[str]:
        """Yield names for a word: first such as can be said, then any letters, then all there are."""
        pools = [_pool(character) for character in plain]
        stream = self._stream("word", plain)
        for _ in range(_SPOKEN):
            spoken = [(_CONSONANTS, _VOWELS)[at % 2] if pool == _LETTERS else pool for at, pool in enumerate(pools)]
            yield "".join(pool[next(stream) % len(pool)] for pool in spoken)
        for _ in range(_TRIES):
            yield "".join(pool[next(stream) % len(pool)] for pool in pools)
        yield from map("".join, itertools.product(*pools))

    def _figures(self, digits: str, *, leading: bool = True) -> Iterator[str]:
        """Yield names for a number: as long, and with no zero in front where it is the `leading` part of one."""
        stream = self._stream("number", digits)
        pools = ["123456789" if leading else "0123456789", *["0123456789"] * (len(digits) - 1)]
        for _ in range(_TRIES):
            yield "".join(pool[next(stream) % len(pool)] for pool in pools)
        yield from map("".join, itertools.product(*pools))

    def _stream(self, kind: str, text: str) -> Iterator[int]:
        """Yield numbers without end that only the key and the text determine."""
        data = f"{kind}\0{text}".encode("utf-8", "surrogatepass")
        for block in itertools.count():
            drawn = hashlib.blake2b(data, key=self._key, salt=block.to_bytes(16, "little"))
            digest = drawn.digest()
            yield from (int.from_bytes(digest[at : at + 4], "little") for at in range(0, len(digest), 4))


def _plain(run: str) -> str:
    """Return what runs have in common that differ in case, or in zeros in front, only."""
    return run.lstrip("0") if run.isdecimal() else lowered(run)


def lowered(word: str) -> str:
    """Return a word in lower case, character by character: never longer than it was."""
    return "".join(low if len(low := character.lower()) == 1 else character for character in word)


def _in_case_of(word: str, name: str) -> str:
    return "".join(
        high if character != low and len(high := new.upper()) == 1 else new
        for character, low, new in zip(word, lowered(word), name, strict=True)
    )


@functools.lru_cache(maxsize=4096)
def _pool(character: str) -> str:
    """Return the letters that one letter may become."""
    if character.isascii():
        return _LETTERS
    code = ord(character)
    low, high = next(((a, b) for a, b in _LARGE if a <= code < b), (code & ~0x7F, (code & ~0x7F) + 0x80))
    return "".join(letter for letter in map(chr, range(low, high)) if _is_plain(letter)) or character


def _is_plain(letter: str) -> bool:
    """Say whether a letter has one capital at most and is one itself in lower case, so that cases can be swapped."""
    return (
        letter.isalpha() and letter.lower() == letter and len(letter.upper()) == 1 and letter.upper().lower() == letter
    )


def _like(character: str, number: int) -> str:
    if character.isdecimal():
        return str(number % 10)
    if not character.isalpha():
        return character
    letter = _LETTERS[number % 26] if character.isascii() else (pool := _pool(lowered(character)))[number % len(pool)]
    return _in_case_of(character, letter)
