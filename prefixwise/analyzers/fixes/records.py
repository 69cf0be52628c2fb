"""Records of a log with their request as a repair left it: every other byte as it was."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from prefixwise.analyzers.lint.raw_values import place_in, with_member, with_value, without_member
from prefixwise.core.namespace import Namespace
from prefixwise.core.pointer import parse_pointer
from prefixwise.core.request import Request, Section
from prefixwise.corpus.wrapper import NAMES

_MODELS = {"bedrock-converse": "modelId"}
_SPACES = (("salt", "cache_salt"), ("cache_key", "prompt_cache_key"), ("adapter", "lora_path"), ("extra", "extra_key"))
_ISOLATION = "prompt_cache_isolation_key"


class UnwritableError(Exception):
    """A record in which there is no place for what a repair changed."""


def rewritten(record: bytes, paths: Iterable[tuple[str, ...]], request: Request, mended: Request) -> bytes:
    """Return a record whose request is mended.

    Args:
        record: JSON of the record.
        paths: Keys from the record to a body, those that the log's records have.
        request: The request as it was read from the record.
        mended: The same after a repair.

    Raises:
        UnwritableError: The record has no place for a change.
    """
    path = next((path for path in paths if _holds(record, path, request)), None)
    if path is None:
        raise UnwritableError("no request body in its place")
    place = place_in(record, path)
    body = b"" if place is None else record[slice(*place)]
    if body[:1] == b'"':
        inner = msgspec.json.decode(body, type=str).encode()
        new = msgspec.json.encode(_with_changes(inner, request, mended).decode())
    else:
        new = _with_changes(body, request, mended)
    found = new if not path else with_value(record, path, new)
    if not path and place is not None:
        found = record[: place[0]] + new + record[place[1] :]
    return _with_response(found, path, request, mended)


def _holds(record: bytes, path: tuple[str, ...], request: Request) -> bool:
    place = place_in(record, path)
    if place is None or not request.sections:
        return False
    body = record[slice(*place)]
    if body[:1] == b'"':
        try:
            body = msgspec.json.decode(body, type=str).encode()
        except msgspec.MsgspecError:
            return False
    if body.lstrip()[:1] == b"[":
        return len(request.sections) == 1
    return body.lstrip()[:1] == b"{" and place_in(body, parse_pointer(request.sections[-1].pointer)) is not None


def _with_changes(body: bytes, request: Request, mended: Request) -> bytes:
    if body.lstrip()[:1] == b"[":
        return _with_bare_items(body, request, mended)
    try:
        body = _with_sections(body, request.sections, mended.sections)
        body = _with_params(body, request.params, mended.params)
        body = _with_namespace(body, request.namespace, mended.namespace)
    except ValueError as problem:
        raise UnwritableError(str(problem)) from None
    if mended.model != request.model:
        key = (_MODELS.get(request.api, "model"),)
        if place_in(body, key) is None:
            raise UnwritableError("the model is not named in the body")
        body = with_value(body, key, msgspec.json.encode(mended.model))
    return body


def _with_bare_items(body: bytes, request: Request, mended: Request) -> bytes:
    """Return a list of messages that stands there alone."""
    is_more = (request.params, request.namespace, request.model) != (mended.params, mended.namespace, mended.model)
    if is_more or len(mended.sections) != 1:
        raise UnwritableError("the record holds messages alone")
    return _with_items(body, (), request.sections[0], mended.sections[0])


def _with_sections(body: bytes, before: Sequence[Section], after: Sequence[Section]) -> bytes:
    old = {section.pointer: section for section in before}
    new = {section.pointer: section for section in after}
    for pointer in old.keys() - new.keys():
        body = without_member(body, parse_pointer(pointer))
    for pointer, section in new.items():
        if pointer not in old:
            items = [bytes(raw) for raw in section.raw_items()]
            body = with_member(body, parse_pointer(pointer), _listed(items) if section.listed else items[0])
        elif section is not old[pointer]:
            body = _with_items(body, parse_pointer(pointer), old[pointer], section)
    return body


def _with_items(body: bytes, keys: tuple[str, ...], before: Section, after: Section) -> bytes:
    old, new = ([bytes(raw) for raw in section.raw_items()] for section in (before, after))
    if not after.listed:
        return with_value(body, keys, new[0]) if keys else new[0]
    if not before.listed or len(old) != len(new):
        return with_value(body, keys, _listed(new)) if keys else _listed(new)
    for number, (was, now) in enumerate(zip(old, new, strict=True)):
        if was != now:
            body = with_value(body, (*keys, str(number)), now)
    return body


def _listed(items: Iterable[bytes]) -> bytes:
    return b"[%s]" % b", ".join(items)


def _with_params(body: bytes, before: Sequence[tuple[str, bytes]], after: Sequence[tuple[str, bytes]]) -> bytes:
    old, new = dict(before), dict(after)
    for name in old.keys() - new.keys():
        body = without_member(body, name.split("/"))
    for name, value in new.items():
        if old.get(name) != value:
            body = with_member(body, name.split("/"), value)
    return body


def _with_namespace(body: bytes, before: Namespace, after: Namespace) -> bytes:
    for part, name in _SPACES:
        value = getattr(after, part)
        if value == getattr(before, part):
            continue
        key = _ISOLATION if part == "salt" and place_in(body, (_ISOLATION,)) is not None else name
        body = without_member(body, (key,)) if value is None else with_member(body, (key,), msgspec.json.encode(value))
    return body


def _with_response(record: bytes, path: tuple[str, ...], request: Request, mended: Request) -> bytes:
    """Return a record whose logged answer is that of a repair, where it stands beside the body."""
    if mended.response == request.response:
        return record
    for depth in range(max(1, len(path))):
        for name in NAMES["response"]:
            keys = (*path[:depth], name)
            place = place_in(record, keys)
            if place is not None and record[slice(*place)] == request.response:
                return with_value(record, keys, mended.response)
    return record
