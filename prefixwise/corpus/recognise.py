"""Which API's body a record holds, and where."""

from __future__ import annotations

from typing import Any

import msgspec

from prefixwise.core.pointer import ANY
from prefixwise.corpus.dialect import DIALECTS, Dialect

_DEEPEST = 5
_ELEMENTS = 3
_PROMPT_KEYS = frozenset(
    {"messages", "contents", "input", "prompt", "system", "instructions", "tools", "content", "parts", "choices"}
)


class Recognised(msgspec.Struct, frozen=True):
    """An API, and the keys that lead from the record to the body (`*` for the elements of a list)."""

    dialect: Dialect
    path: tuple[str, ...]


def recognise(record: Any, path: tuple[str, ...] | None = None, api: str | None = None) -> Recognised | None:
    """Return what `record` (decoded JSON) holds, or None.

    Args:
        record: One decoded record.
        path: Look only there, instead of everywhere.
        api: Take only bodies of this API.
    """
    dialects = [DIALECTS.get(api)] if api else list(DIALECTS)
    found = _look(record, (), dialects, path)
    if not found:
        return None
    _, _, dialect, where = max(found, key=lambda candidate: candidate[:2])
    return Recognised(dialect, where)


def _look(
    value: Any, at: tuple[str, ...], dialects: list[Dialect], only: tuple[str, ...] | None
) -> list[tuple[int, int, Dialect, tuple[str, ...]]]:
    """Return (score, shallowness, API, place) of every body in `value`, best places first."""
    if len(at) > _DEEPEST or (only is not None and (len(at) > len(only) or only[: len(at)] != at)):
        return []
    found = []
    if isinstance(value, str) and value[:1] == "{":
        value = _decoded(value)
    if only is not None and at == only:
        value = _as_body(value)
    if isinstance(value, dict):
        if only is None or at == only:
            for dialect in dialects:
                score = dialect.score(value)
                if score:
                    found.append((score, -len(at), dialect, at))
        for key, inner in value.items():
            if only is None and key in _PROMPT_KEYS and not isinstance(inner, dict):
                continue  # what a prompt quotes is no place for bodies
            found.extend(_look(inner, (*at, key), dialects, only))
    elif isinstance(value, list):
        for inner in value[:_ELEMENTS]:
            found.extend(_look(inner, (*at, ANY), dialects, only))
    return found


def _as_body(value: Any) -> Any:
    """Return what stands where the user says the body is: messages alone and a bare text are bodies there too."""
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        return {"messages": value}
    return {"prompt": value} if isinstance(value, str) and value else value


def _decoded(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError):
        return None


def nearest(record: Any) -> str:
    """Say in a clause what a record that is no request looks like."""
    if not isinstance(record, dict):
        return f"a record is {_kind(record)}, not an object"
    keys = ", ".join(list(record)[:6])
    return f"no request found in a record with the keys {keys}" if keys else "the record is empty"


def _kind(value: Any) -> str:
    names = {list: "a list", str: "a string", int: "a number", float: "a number", bool: "a truth value"}
    return names.get(type(value), "null" if value is None else type(value).__name__)
