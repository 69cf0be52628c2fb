"""Values against vendors' types, with nothing left over: an unknown key is as wrong as a value of another type."""

from __future__ import annotations

import functools
import typing
from typing import Any

import typing_extensions
from pydantic import BaseModel, TypeAdapter


def model(kind: type[BaseModel], value: Any) -> BaseModel:
    """Validate `value` as a pydantic model, and every model in it, allowing no extra field."""
    found = kind.model_validate(value)
    left = list(_extras(found, kind.__name__))
    assert not left, left
    return found


def _extras(value: Any, at: str) -> typing.Iterator[str]:
    if isinstance(value, BaseModel):
        for name in value.model_extra or {}:
            yield f"{at}.{name}"
        for name in type(value).model_fields:
            yield from _extras(getattr(value, name), f"{at}.{name}")
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _extras(item, f"{at}[]")


def typed_dict(kind: Any, value: Any) -> None:
    """Validate `value` as a typed dictionary or a union of some: one of them has to know all its keys."""
    _adapter(kind).validate_python(value)
    known = [keys for keys in _known(kind) if set(value) <= keys]
    assert known, f"no type of {kind} has the keys {sorted(value)}"


@functools.cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


@functools.cache
def _known(kind: Any) -> list[set[str]]:
    return _keys(kind)


def _keys(kind: Any) -> list[set[str]]:
    if typing.get_origin(kind) is typing.Annotated:
        return _keys(typing.get_args(kind)[0])
    if typing_extensions.is_typeddict(kind):
        return [set(typing_extensions.get_type_hints(kind))]
    return [keys for part in typing.get_args(kind) for keys in _keys(part)]
