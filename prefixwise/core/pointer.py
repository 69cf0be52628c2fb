"""JSON pointers (RFC 6901), with `*` for every element of a list."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from prefixwise.core.errors import UserError

ANY = "*"


def parse_pointer(text: str) -> tuple[str, ...]:
    """Return the unescaped keys of an RFC 6901 pointer; the empty pointer gives ().

    Raises:
        UserError: `text` is neither empty nor begins with a slash.
    """
    if text == "":
        return ()
    if not text.startswith("/"):
        raise UserError(f"{text!r} is not a JSON pointer", help=f"begin with a slash: /{text.replace('.', '/')}")
    if re.search("~(?![01])", text):
        raise UserError(f"{text!r} is not a JSON pointer", help="write ~0 for ~ and ~1 for /")
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in text[1:].split("/"))


def format_pointer(*keys: str | int) -> str:
    """Return the RFC 6901 pointer made of `keys`."""
    return "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in keys)


def resolve(value: Any, keys: tuple[str, ...]) -> Iterator[Any]:
    """Yield every value that `keys` lead to inside decoded JSON; nothing where the path does not exist."""
    if not keys:
        yield value
    elif keys[0] == ANY and isinstance(value, list):
        for item in value:
            yield from resolve(item, keys[1:])
    elif isinstance(value, dict):
        if keys[0] in value:
            yield from resolve(value[keys[0]], keys[1:])
    elif isinstance(value, list) and keys[0].isdecimal() and int(keys[0]) < len(value):
        yield from resolve(value[int(keys[0])], keys[1:])
