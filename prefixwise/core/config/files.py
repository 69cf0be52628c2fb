"""Reads one configuration file: strictly, and with one clear line for what is wrong in it."""

from __future__ import annotations

import difflib
import os
import re
import typing
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from prefixwise.core.config.layers import Layer, Origin, OriginKind
from prefixwise.core.config.settings import PATHS, PromptEntry, Settings, attribute
from prefixwise.core.errors import UserError

OWN_NAME = "prefixwise.toml"
SHARED_NAME = "pyproject.toml"
SECTION = "tool.prefixwise"
_PLACE = re.compile(r" - at `(?:key in )?\$\.?(?P<place>[^`]*)`$")
_UNKNOWN = re.compile(r"^Object contains unknown field `(?P<key>.*)`$", re.DOTALL)
_MISSING = re.compile(r"^Object missing required field `(?P<key>.*)`$", re.DOTALL)


def table_in(path: str, shown: str) -> dict[str, Any] | None:
    """Return the table of settings in a file; None for a pyproject.toml without such a section.

    Args:
        path: File to read; it is there.
        shown: How messages name it.

    Raises:
        UserError: It cannot be read, or is no TOML.
    """
    own = os.path.basename(path) != SHARED_NAME
    try:
        with open(path, "rb") as stream:
            data = stream.read()
    except OSError as problem:
        raise UserError(f"the configuration cannot be read: {problem.strerror or problem}", shown) from None
    if not own and b"prefixwise" not in data:
        return None  # nothing of ours: whatever else is in it, or wrong with it
    document = _parsed(data, shown)
    if own:
        return document
    tools = document.get("tool")
    section = tools.get("prefixwise") if isinstance(tools, dict) else None
    if section is not None and not isinstance(section, dict):
        raise UserError("the section must be a table", f"{shown}: {SECTION}", f"begin it with [{SECTION}]")
    return section


def layer_of(table: Mapping[str, Any], path: str, shown: str, named: Callable[[str], str]) -> Layer:
    """Return the settings of a table, without what it extends.

    Args:
        table: What `table_in` returned.
        path: File that it stands in.
        shown: How messages name that.
        named: Gives the path, as documents name it, of a file that the table names.

    Raises:
        UserError: A key is unknown or its value is none that it may have.
    """
    prefix = "" if os.path.basename(path) != SHARED_NAME else f"{SECTION}."
    try:
        settings = msgspec.convert(dict(table), Settings)
    except msgspec.ValidationError as problem:
        raise _explained(str(problem), shown, prefix) from None
    values = {key: getattr(settings, attribute(key)) for key in table if key != "extend"}
    for key in PATHS & values.keys():
        value = values[key]
        values[key] = named(value) if isinstance(value, str) else tuple(map(named, value))
    return Layer(values, {key: (Origin(OriginKind.FILE, shown, f"{prefix}{key}"),) for key in values})


def _parsed(data: bytes, shown: str) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise UserError("the configuration is not UTF-8 text", shown) from None
    except tomllib.TOMLDecodeError as problem:
        raise UserError(f"the configuration is not TOML: {problem}", shown) from None
    except RecursionError:
        raise UserError("the configuration is nested too deeply", shown) from None


def _explained(text: str, shown: str, prefix: str) -> UserError:
    """Return the error for what a validator says."""
    match = _PLACE.search(text)
    place = match["place"] if match else ""
    what = _PLACE.sub("", text)
    unknown, missing = _UNKNOWN.match(what), _MISSING.match(what)
    if unknown or missing:
        key = (unknown or missing)["key"]  # type: ignore[index]
        where = f"{shown}: {prefix}{place}.{key}" if place else f"{shown}: {prefix}{key}"
        if missing:
            return UserError("this key must be there", where)
        return UserError("there is no such key", where, _hint(key, place, prefix))
    where = f"{shown}: {prefix}{place}" if place else shown
    if what.startswith("Invalid enum value"):
        return UserError("this value is none of those that there are", where, f"known: {', '.join(_choices(place))}")
    return UserError(what[:1].lower() + what[1:].replace(" | null", ""), where)


def _choices(place: str) -> list[str]:
    """Return the values that a key may have."""
    kind: type[msgspec.Struct] = PromptEntry if place.startswith("prompt[") else Settings
    hint = typing.get_type_hints(kind)[attribute(place.rpartition(".")[2])]
    choices = typing.get_args(hint) if typing.get_origin(hint) is typing.Literal else ()
    return [str(choice) for choice in choices if choice]


def _hint(key: str, place: str, prefix: str) -> str:
    """Return what to write instead of an unknown key."""
    if key == "tool" and not place and not prefix:
        return f"in {OWN_NAME} the keys stand at the top, without [{SECTION}]"
    kind: type[msgspec.Struct] = PromptEntry if place.startswith("prompt[") else Settings
    known = [field.encode_name for field in msgspec.structs.fields(kind)]
    near = difflib.get_close_matches(key, known, n=1) or difflib.get_close_matches(key.replace("_", "-"), known, n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    return f"{hint}known: {', '.join(sorted(known))}"
