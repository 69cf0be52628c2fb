"""What the keys mean, for people: descriptions, examples and values as TOML has them."""

from __future__ import annotations

import json
import typing
from collections.abc import Mapping
from typing import Any

import msgspec

from prefixwise.core.config.settings import PER_FILE, PromptEntry, Settings


class KeyPage(msgspec.Struct, frozen=True):
    """A key for people: `default` and `example` are written as TOML, '' where there is none or it is empty."""

    name: str
    summary: str
    default: str
    example: str
    per_file: bool


def key_pages(kind: type[msgspec.Struct] = Settings) -> tuple[KeyPage, ...]:
    """Return the keys of a whole configuration, or those of a prompt entry."""
    hints = typing.get_type_hints(kind, include_extras=True)
    pages = []
    for field in msgspec.structs.fields(kind):
        (meta,) = hints[field.name].__metadata__
        default = field.default_factory() if field.default_factory is not msgspec.NODEFAULT else field.default
        empty = default is msgspec.NODEFAULT or default in (None, "", (), {})
        shown = "" if empty else toml_value(default)
        example = toml_value(meta.examples[0]) if meta.examples else ""
        per_file = kind is PromptEntry or field.encode_name in PER_FILE
        pages.append(KeyPage(field.encode_name, meta.description, shown, example, per_file))
    return tuple(pages)


def toml_value(value: Any) -> str:
    """Return a value on one line, as TOML has it; a key without a value is left away."""
    if isinstance(value, msgspec.Struct):
        set_values = {key: one for key, one in msgspec.to_builtins(value).items() if one != ""}
        return toml_value(set_values)
    if isinstance(value, Mapping):
        return (
            "{ " + ", ".join(f"{_key(key)} = {toml_value(one)}" for key, one in value.items()) + " }" if value else "{}"
        )
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, ensure_ascii=False)


def _key(key: str) -> str:
    return key if key.isascii() and key.replace("-", "").isalnum() else json.dumps(key, ensure_ascii=False)
