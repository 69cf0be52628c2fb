"""What the reader of one API's request bodies provides; implementations stand in `apis/`, one file each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from prefixwise.core.namespace import SHARED, Namespace
from prefixwise.core.registry import Registry
from prefixwise.core.request import Part, Section, Turn


class Draft(msgspec.Struct, gc=False):
    """What a body alone says of a request; the reader adds what stands around the body.

    `tenant` and `session` are those the body itself names (`user`, `metadata.session_id`, …).
    """

    model: str
    sections: tuple[Section, ...]
    namespace: Namespace = SHARED
    params: tuple[tuple[str, bytes], ...] = ()
    tenant: str = ""
    session: str = ""
    opens_reply: bool = True


class Dialect(msgspec.Struct, frozen=True):
    """One API's request body.

    Attributes:
        name: As in `--input-format`.
        provider: Whose cache it is when the model's name does not tell.
        body: Struct into which a body is decoded; keys it does not name are skipped.
        score: Says how sure it is that a decoded body is of this API; 0 is "not at all".
        draft: Reads a decoded body. Raises ValueError with a reason where it cannot.
        turn: Reads one decoded item of a section of the given kind.
        reply: Reads the logged answer (decoded JSON) as the assistant's turn, None where it holds none.
    """

    name: str
    provider: str
    body: type[msgspec.Struct]
    score: Callable[[dict[str, Any]], int]
    draft: Callable[[Any], Draft]
    turn: Callable[[str, Any], Turn]
    reply: Callable[[Any], Turn | None]
    doubtful: Callable[[Any], bool] = lambda _body: False


DIALECTS: Registry[Dialect] = Registry("API", "prefixwise.corpus.apis", "apis")

SHAPE_ERRORS = (
    msgspec.MsgspecError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    RecursionError,
)
"""What reading a record of the wrong shape may raise: the record is broken, not the program."""

MARKER_KEYS = frozenset({"cache_control", "prompt_cache_breakpoint", "cachePoint"})
_TTL_SECONDS = {"5m": 300.0, "30m": 1800.0, "1h": 3600.0, "12h": 43200.0}


def marker_of(item: Any) -> float | None:
    """Return the TTL in seconds of the cache marker that `item` carries, or None."""
    if not isinstance(item, dict):
        return None
    for key in MARKER_KEYS:
        marker = item.get(key)
        if isinstance(marker, dict):
            return _TTL_SECONDS.get(str(marker.get("ttl")), 300.0)
    return None


def compact_json(value: Any) -> str:
    """Return `value` as compact JSON in its own key order, cache markers left out."""
    if isinstance(value, dict):
        value = {key: item for key, item in value.items() if key not in MARKER_KEYS}
    return msgspec.json.encode(value).decode()


def text_part(pointer: str, value: Any, marker: float | None = None) -> Part:
    """Return `value` as text: a string as it is, anything else as compact JSON."""
    return Part(pointer, value if isinstance(value, str) else compact_json(value), marker=marker)


def tool_turn(item: Any) -> Turn:
    """Return a tool definition as a turn without a role."""
    return Turn(None, (text_part("", item, marker_of(item)),))


def is_given(raw: msgspec.Raw | msgspec.UnsetType) -> bool:
    """Say whether a raw field is there and not null."""
    return raw is not msgspec.UNSET and bytes(memoryview(raw)[:4]) != b"null"


def list_section(kind: str, pointer: str, raw: msgspec.Raw | msgspec.UnsetType) -> Section:
    """Return the section of a list, kept in one piece: applications send the same tools again and again.

    Raises:
        ValueError: It is no list.
    """
    if raw is msgspec.UNSET or bytes(memoryview(raw)[:1]) != b"[":
        raise ValueError(f"no list at {pointer}")
    return Section(kind, pointer, [], whole=raw)


def single_section(kind: str, pointer: str, raw: msgspec.Raw | msgspec.UnsetType) -> Section:
    """Return a section of one item, for a raw field that `is_given`."""
    assert raw is not msgspec.UNSET
    return Section(kind, pointer, [raw], listed=False)


def key_params(values: tuple[Any, ...], names: tuple[str, ...]) -> tuple[tuple[str, bytes], ...]:
    """Return (name, raw JSON) of those fields that the body sets; `values` go with `names`."""
    if not any(values):  # an absent field is UNSET, which is false
        return ()
    return tuple((name, bytes(raw)) for name, raw in zip(names, values, strict=True) if raw is not msgspec.UNSET)


def text_of(value: Any) -> str | None:
    """Return a scalar as text for a namespace or a name; None where it is absent."""
    if isinstance(value, str):
        return value
    return None if value is None or value is msgspec.UNSET else compact_json(value)


def name_in(value: Any, *keys: str) -> str:
    """Return the first of `keys` that the mapping `value` holds as a non-empty scalar, else ''."""
    if isinstance(value, dict):
        for key in keys:
            found = value.get(key)
            if isinstance(found, (str, int)) and found != "":
                return str(found)
    return ""
