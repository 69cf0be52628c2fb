"""What a guesser would try first: values of known ids, of small numbers and of words, without a key."""

from __future__ import annotations

import hashlib
import re
import uuid
from base64 import b64encode
from collections.abc import Iterable, Iterator
from functools import cache, partial
from typing import NamedTuple

SHIPPED = ("llmgateway-prompt-cache-key-v1", "fake-api-key")
"""Defaults that gateways ship: the same at every installation."""

_WORDS = (
    *("", "default", "none", "null", "nil", "undefined", "anonymous", "anon", "public", "shared", "global", "salt"),
    *("secret", "test", "tenant", "org", "user", "changeme", "password", "cache", "cache-salt", "cache_salt"),
)
_FRAMES = (
    "{}",
    "salt-{}",
    "salt_{}",
    "salt:{}",
    "tenant-{}",
    "tenant_{}",
    "tenant:{}",
    "org_{}",
    "org-{}",
    "org:{}",
    "user-{}",
    "user_{}",
)
_ENDS = ("-salt", "_salt", ":salt")
_HASHES = tuple(
    (name, partial(getattr(hashlib, name), usedforsecurity=False))
    for name in ("md5", "sha1", "sha224", "sha256", "sha384", "sha512")
)
_URL_SAFE = str.maketrans("-_", "+/")
_UUID = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?[35][0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}")
_MOST_IDS = 20_000
_HEX = re.compile(r"[0-9a-f]{8,128}")
_UUIDS = (("uuid3", 3, _HASHES[0][1]), ("uuid5", 5, _HASHES[1][1]))
_SPACES = tuple(
    space.bytes
    for space in (uuid.NAMESPACE_DNS, uuid.NAMESPACE_URL, uuid.NAMESPACE_OID, uuid.NAMESPACE_X500, uuid.UUID(int=0))
)
_SMALL = 1000
_LEAST_CUT = 8
"""Characters of a digest from which it is known when it is cut."""


class Guesses:
    """Tells which of some salts can be derived from known ids without a key.

    Args:
        salts: Those in question; nothing is computed that could not be one of them.
    """

    def __init__(self, salts: Iterable[str]) -> None:
        self._by_form: dict[str, list[str]] = {}
        for salt in salts:
            for form in {salt, salt.lower(), _plain_base64(salt)}:
                self._by_form.setdefault(form, []).append(salt)
        self._heads: dict[str, list[str]] = {}
        for form in self._by_form:
            self._heads.setdefault(form[:_LEAST_CUT], []).append(form)
        self._hexadecimal = any(_HEX.fullmatch(form) for form in self._by_form)
        uuids = sum(_UUID.fullmatch(form) is not None for form in self._by_form)
        self._uuids = 2 * uuids >= len(self._by_form)
        self._others = any(_HEX.fullmatch(form) is None for form in self._by_form)

    def derived(self, ids: Iterable[str]) -> dict[str, str]:
        """Return how each salt follows from what is known, for those that do.

        Args:
            ids: Names of tenants and whatever else is known of them; of very many, the first.
        """
        found: dict[str, str] = {}
        for guess in self._common():
            self._compare(guess, found)
        kinds = _Kinds(self._hexadecimal, self._others, self._uuids)
        for name in sorted(set(ids))[:_MOST_IDS]:
            for text in _framed(name):
                for guess in _guesses(text, "the id", kinds):
                    if guess.value[:_LEAST_CUT] in self._heads:
                        self._compare(guess, found)
        return found

    def _common(self) -> Iterator[_Guess]:
        known = _common_guesses()
        for head in self._heads:
            yield from known.get(head, ())

    def _compare(self, guess: _Guess, found: dict[str, str]) -> None:
        """Note the salts that are a guess, or a beginning of it that is long enough to be no chance."""
        for form in self._heads.get(guess.value[:_LEAST_CUT], ()):
            if guess.value == form:
                how = guess.how
            elif guess.is_digest and len(form) >= _LEAST_CUT and guess.value.startswith(form):
                how = f"the beginning of {guess.how}"
            else:
                continue
            for salt in self._by_form[form]:
                found.setdefault(salt, how)


class _Guess(NamedTuple):
    """A value that somebody could try, how it is made, and whether its beginning alone tells it."""

    value: str
    how: str
    is_digest: bool = True


@cache
def _common_guesses() -> dict[str, list[_Guess]]:
    """Return what needs no id, by its first characters."""
    found: dict[str, list[_Guess]] = {}
    texts = [(word, "a common word") for word in _WORDS] + [(text, "a shipped default") for text in SHIPPED]
    for text, what in (*texts, *((str(number), "a small number") for number in range(_SMALL))):
        for guess in _guesses(text, what, _Kinds()):
            found.setdefault(guess.value[:_LEAST_CUT], []).append(guess)
    return found


def _framed(name: str) -> Iterator[str]:
    """Yield a name in the forms in which it is put into salts."""
    for form in dict.fromkeys((name, name.lower(), name.upper())):
        for frame in _FRAMES:
            yield frame.format(form)
        yield from (form + end for end in _ENDS)


class _Kinds(NamedTuple):
    """What some salts look like: hexadecimal digits, other letters, UUIDs made from names."""

    hexadecimal: bool = True
    others: bool = True
    uuids: bool = True


def _guesses(text: str, what: str, kinds: _Kinds) -> Iterator[_Guess]:
    """Yield what a text gives: itself, encoded, and hashed, in hexadecimal digits and in other letters."""
    data = text.encode("utf-8", "replace")
    yield _Guess(text, what, is_digest=False)
    yield _Guess(_plain_base64(b64encode(data).decode()), f"base64 of {what}", is_digest=False)
    for name, make in _HASHES:
        digest = make(data).digest()
        if kinds.hexadecimal:
            yield _Guess(digest.hex(), f"{name} of {what}")
        if kinds.others:
            yield _Guess(_plain_base64(b64encode(digest).decode()), f"{name}, in base64, of {what}")
    for kind, version, make in _UUIDS if kinds.uuids else ():
        for space in _SPACES:
            made = uuid.UUID(bytes=make(space + data).digest()[:16], version=version)
            yield _Guess(made.hex, f"{kind} of {what}")
            yield _Guess(str(made), f"{kind} of {what}")


def _plain_base64(text: str) -> str:
    return text.rstrip("=").translate(_URL_SAFE)
