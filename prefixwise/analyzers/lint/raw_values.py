"""Values inside raw JSON: found by their pointer and replaced, every other byte as it was."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

_SPACE = re.compile(rb"[ \t\n\r]*+")
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_SCALAR = re.compile(rb"[^\s,\]}]++")
_STRUCTURE = re.compile(rb'"(?:[^"\\]|\\.)*+"|[\[\]{}]', re.DOTALL)


def place_in(raw: bytes, keys: Sequence[str]) -> tuple[int, int] | None:
    """Return where the value at a path stands in valid JSON, as start and end; None where there is none.

    Of a key that an object holds twice the last one counts, as it does to decoders.
    """
    start = _after_space(raw, 0)
    for key in keys:
        found = _member(raw, start, key) if raw[start : start + 1] == b"{" else _element(raw, start, key)
        if found is None:
            return None
        start = found
    return start, _end(raw, start)


def with_value(raw: bytes, keys: Sequence[str], value: bytes) -> bytes:
    """Return JSON with another value at a path; the same where there is nothing at it."""
    place = place_in(raw, keys)
    return raw if place is None else raw[: place[0]] + value + raw[place[1] :]


def _after_space(raw: bytes, at: int) -> int:
    found = _SPACE.match(raw, at)
    return at if found is None else found.end()


def _end(raw: bytes, start: int) -> int:
    """Return the end of the value that starts there."""
    if raw[start : start + 1] not in (b"{", b"["):
        found = _STRING.match(raw, start) or _SCALAR.match(raw, start)
        return len(raw) if found is None else found.end()
    depth = 0
    for token in _STRUCTURE.finditer(raw, start):
        if token[0] in (b"{", b"["):
            depth += 1
        elif token[0] in (b"}", b"]"):
            depth -= 1
            if not depth:
                return token.end()
    return len(raw)


def _member(raw: bytes, start: int, key: str) -> int | None:
    """Return where the value of a key of an object starts."""
    found = None
    at = _after_space(raw, start + 1)
    while (name := _STRING.match(raw, at)) is not None:
        value = _after_space(raw, _after_space(raw, name.end()) + 1)
        if msgspec.json.decode(name[0]) == key:
            found = value
        at = _next(raw, value)
    return found


def _element(raw: bytes, start: int, key: str) -> int | None:
    """Return where an element of a list starts, None where it is no list or too short."""
    if raw[start : start + 1] != b"[" or not key.isdecimal():
        return None
    at = _after_space(raw, start + 1)
    for _ in range(int(key)):
        if raw[at : at + 1] in (b"]", b""):
            return None
        at = _next(raw, at)
    return None if raw[at : at + 1] in (b"]", b"") else at


def _next(raw: bytes, value: int) -> int:
    """Return where what follows a value and its comma starts, or where the closing bracket stands."""
    at = _after_space(raw, _end(raw, value))
    return _after_space(raw, at + 1) if raw[at : at + 1] == b"," else at


def with_member(raw: bytes, keys: Sequence[str], value: bytes) -> bytes:
    """Return JSON with a value at a path, put there as the last member of its object where there was nothing.

    The objects on the way are made as far as they are not there.

    Raises:
        ValueError: The path leads through something that is no object.
    """
    if place_in(raw, keys) is not None:
        return with_value(raw, keys, value)
    for depth in range(len(keys)):
        holder = place_in(raw, keys[: len(keys) - 1 - depth])
        if holder is None:
            continue
        start, end = holder
        if raw[start : start + 1] != b"{":
            raise ValueError("no object to put a member into")
        for key in reversed(keys[len(keys) - depth :]):
            value = b"{%s: %s}" % (msgspec.json.encode(key), value)
        last = len(raw[: end - 1].rstrip())
        comma = b"" if raw[last - 1 : last] == b"{" and last == start + 1 else b", "
        name = msgspec.json.encode(keys[len(keys) - 1 - depth])
        return raw[:last] + comma + name + b": " + value + raw[last:]
    raise ValueError("no object to put a member into")


def without_member(raw: bytes, keys: Sequence[str]) -> bytes:
    """Return JSON without the member of an object at a path, its comma gone with it; the same where there is none."""
    holder, place = place_in(raw, keys[:-1]), place_in(raw, keys)
    if holder is None or place is None or raw[holder[0] : holder[0] + 1] != b"{":
        return raw
    at, before = _after_space(raw, holder[0] + 1), holder[0] + 1
    while (name := _STRING.match(raw, at)) is not None:
        value = _after_space(raw, _after_space(raw, name.end()) + 1)
        end = _end(raw, value)
        following = _next(raw, value)
        is_last = raw[following : following + 1] == b"}" and raw[end:following].find(b",") < 0
        if msgspec.json.decode(name[0]) == keys[-1]:
            rest = raw[:before] + raw[end:] if is_last else raw[:at] + raw[following:]
            return without_member(rest, keys)
        before, at = end, following
    return raw
