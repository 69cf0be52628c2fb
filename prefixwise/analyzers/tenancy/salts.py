"""Whether cache salts can be guessed: derived without a key, counted, told by time, or too short.

What is judged is the set of salts of a deployment: what all have in common at either end says nothing, what varies is
what a guesser must find.
"""

from __future__ import annotations

import itertools
import math
import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum

import msgspec

from prefixwise.analyzers.tenancy.known_salts import Guesses

_FAIL_BITS, _WARN_BITS = 64, 112
_FEW = 5
"""Salts from which a place that is the same in all of them is no chance."""
_LEAST_ID = 4
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_EPOCH = re.compile(r"(?<![0-9A-Za-z])(?:\d{10}|\d{13}|\d{16}|\d{19})(?![0-9A-Za-z])")
_DATE = re.compile(r"(?<![0-9A-Za-z])20[0-4]\d-?(?:0[1-9]|1[0-2])(?:-?(?:0[1-9]|[12]\d|3[01]))?(?![0-9A-Za-z])")
_ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_FIRST, _LAST = datetime(2001, 9, 10, tzinfo=UTC).timestamp(), datetime(2100, 1, 1, tzinfo=UTC).timestamp()
_ALPHABETS = (
    (re.compile(r"[0-9]*"), 10),
    (re.compile(r"[0-9a-f]*|[0-9A-F]*"), 16),
    (re.compile(r"[a-z]*|[A-Z]*"), 26),
    (re.compile(r"[0-9a-z]*|[0-9A-Z]*"), 36),
    (re.compile(r"[0-9A-Za-z]*"), 62),
    (re.compile(r"[0-9A-Za-z+/=_-]*"), 64),
)
_PRINTABLE = 95


class Weakness(StrEnum):
    """Why salts can be guessed."""

    DERIVED = "derived from a known value without a key"
    HOLDS_ID = "made of the id and a constant"
    SEQUENTIAL = "counted"
    TIMED = "made from the time"
    SHORT = "too short"
    SHORTISH = "shorter than it should be"


class Weak(msgspec.Struct, frozen=True):
    """What is wrong with some salts: `how` in a clause, and the salts."""

    weakness: Weakness
    how: str
    salts: tuple[str, ...]

    @property
    def certain(self) -> bool:
        """Whether they can be guessed, and not only more easily than they should be."""
        return self.weakness is not Weakness.SHORTISH


def weak_salts(salts: Mapping[str, Iterable[str]], ids: Iterable[str] = ()) -> tuple[Weak, ...]:
    """Return what is weak about a set of salts, the surest first; nothing where they look sound.

    Args:
        salts: By salt, the tenants that use it.
        ids: What else is known of tenants that a salt may have been made of.
    """
    distinct = sorted(salts)
    known = {*ids, *(tenant for tenants in salts.values() for tenant in tenants)} - {""}
    found = [
        *_derived(distinct, known),
        *_holding_ids(salts),
        *_sequential(distinct),
        *_timed(distinct),
    ]
    named = {salt for weak in found for salt in weak.salts}
    rest = [salt for salt in distinct if salt not in named]
    return (*found, *_short(rest, distinct))


def _derived(salts: Sequence[str], ids: Iterable[str]) -> Iterable[Weak]:
    by_how: dict[str, list[str]] = {}
    for salt, how in sorted(Guesses(salts).derived(ids).items()):
        by_how.setdefault(how, []).append(salt)
    for how, its in sorted(by_how.items()):
        yield Weak(Weakness.DERIVED, how, tuple(its))


def _holding_ids(salts: Mapping[str, Iterable[str]]) -> Iterable[Weak]:
    """Find salts that are a tenant's name with the same rest for several tenants, or the name between separators."""
    rests: dict[str, set[str]] = {}
    for salt, tenants in salts.items():
        for tenant in tenants:
            at = salt.lower().find(tenant.lower()) if tenant else -1
            if at < 0 or salt == tenant:
                continue
            rest = f"{salt[:at]}\0{salt[at + len(tenant) :]}"
            rests.setdefault(rest, set()).add(salt)
            edges = (salt[:at][-1:], salt[at + len(tenant) :][:1])
            if len(tenant) >= _LEAST_ID and not any(edge.isalnum() for edge in edges):
                rests.setdefault("\0separated", set()).add(salt)
    found = {salt for rest, its in rests.items() if len(its) > 1 or rest == "\0separated" for salt in its}
    if found:
        yield Weak(Weakness.HOLDS_ID, "the id stands in it", tuple(sorted(found)))


def _core(salts: Sequence[str]) -> list[str]:
    """Return what varies: the salts without what all have in common at their ends."""
    if len(salts) < 2:
        return list(salts)
    front = _common(salts)
    back = _common([salt[front:][::-1] for salt in salts])
    return [salt[front : len(salt) - back] for salt in salts]


def _common(texts: Sequence[str]) -> int:
    """Return how many leading characters all texts have in common."""
    first, last = min(texts), max(texts)
    return next((at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))


def _sequential(salts: Sequence[str]) -> Iterable[Weak]:
    """Find numbers that are too close to each other to be drawn: counted in ten or sixteen."""
    for base, digits in ((10, re.compile(r"\d{1,18}")), (16, re.compile(r"[0-9a-f]{1,32}"))):
        # Common digits in front are part of the number, so the core may be too short to tell; whole numbers tell more.
        cores = [core.lower() for core in _core(salts)]
        if len(cores) < 3 or not all(digits.fullmatch(core) for core in cores):
            continue
        numbers = sorted(int(core, base) for core in cores)
        steps = [later - earlier for earlier, later in itertools.pairwise(numbers)]
        if max(steps) <= max(4, len(numbers)) and numbers[-1] - numbers[0] <= 8 * len(numbers):
            yield Weak(Weakness.SEQUENTIAL, "they follow each other", tuple(salts))
            return


def _timed(salts: Sequence[str]) -> Iterable[Weak]:
    found = {salt: how for salt in salts if (how := _time_in(salt))}
    ulids = [salt for salt in salts if _ULID.fullmatch(salt.upper()) and _is_time(_crockford(salt[:10]) / 1000)]
    if len(ulids) > 1 and len(ulids) == len(salts):
        found |= dict.fromkeys(ulids, "a ULID begins with the time")
    for how in sorted(set(found.values())):
        yield Weak(Weakness.TIMED, how, tuple(sorted(salt for salt, said in found.items() if said == how)))


def _time_in(salt: str) -> str:
    for match in _UUID.finditer(salt):
        version = uuid.UUID(match[0]).version
        if version in (1, 6, 7):
            return f"a UUID of version {version} holds the time"
    for match in _EPOCH.finditer(salt):
        scale = 10 ** (len(match[0]) - 10)
        if _is_time(int(match[0]) / scale):
            return "seconds since 1970 stand in it"
    return "a date stands in it" if _DATE.search(salt) else ""


def _is_time(seconds: float) -> bool:
    return _FIRST <= seconds < _LAST


def _crockford(text: str) -> int:
    number = 0
    for character in text.upper():
        number = number * 32 + _CROCKFORD.index(character)
    return number


def _short(salts: Sequence[str], everything: Sequence[str]) -> Iterable[Weak]:
    """Find salts whose varying part cannot hold enough bits, however it was drawn."""
    if not salts:
        return
    cores = dict(zip(everything, _core(everything), strict=True))
    constant = _constant_places(everything)
    by_bits: dict[int, list[str]] = {}
    size = _alphabet("".join(cores[salt] for salt in salts))
    for salt in salts:
        bits = _uuid4_bits(salt)
        if bits is None:
            bits = math.floor(math.log2(size) * max(0, min(len(cores[salt]), len(salt) - constant)))
        if bits < _WARN_BITS:
            by_bits.setdefault(bits, []).append(salt)
    for weakness, least, most in ((Weakness.SHORT, -1, _FAIL_BITS), (Weakness.SHORTISH, _FAIL_BITS, _WARN_BITS)):
        chosen = {bits: its for bits, its in by_bits.items() if least <= bits < most}
        if chosen:
            how = f"what varies in it has {max(chosen)} bits at most"
            yield Weak(weakness, how, tuple(sorted(salt for its in chosen.values() for salt in its)))


def _constant_places(salts: Sequence[str]) -> int:
    """Return how many places hold the same character in all salts, where they are many and of one length."""
    if len(salts) < _FEW or len({len(salt) for salt in salts}) != 1:
        return 0
    return sum(len(set(characters)) == 1 for characters in zip(*salts, strict=True))


def _alphabet(text: str) -> int:
    return next((size for pattern, size in _ALPHABETS if pattern.fullmatch(text)), _PRINTABLE)


def _uuid4_bits(salt: str) -> int | None:
    return 122 if _UUID.fullmatch(salt) and uuid.UUID(salt).version == 4 else None
