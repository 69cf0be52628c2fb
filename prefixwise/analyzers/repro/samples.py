"""Requests taken out of their log: the body alone with what stands around it, in a shape that every reader knows."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec

from prefixwise.core.pointer import parse_pointer, resolve
from prefixwise.core.request import Request, Section
from prefixwise.core.usage import Usage
from prefixwise.corpus.dialect import SHAPE_ERRORS

_EPOCH = 1_767_225_600.0
"""2026-01-01: the first request of a sample starts then, for when it really did is nobody's business."""
_DEEPEST = 8
_ANSWER = 16
_MODEL_KEYS = {"bedrock-converse": "modelId"}
BODY = "request"
"""The key of the body in a record of our own."""


class Sample(msgspec.Struct, frozen=True):
    """One request as a record.

    Attributes:
        record: Decoded JSON.
        path: Keys from the record to the body.
        bare: Name of the field that stands there alone, where an exporter wrote no more of a body than its messages.
    """

    record: dict[str, Any]
    path: tuple[str, ...]
    bare: str = ""

    @property
    def body(self) -> dict[str, Any]:
        """The request body."""
        found: Any = next(resolve(self.record, self.path))
        body: dict[str, Any] = {self.bare: found} if self.bare else found
        return body

    def with_body(self, record: dict[str, Any], body: dict[str, Any]) -> Sample:
        """Return a sample with another body, in another record that has a place for it."""
        return Sample(placed(record, self.path, body[self.bare] if self.bare else body), self.path, self.bare)


def placed(holder: dict[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any]:
    """Return an object with another value at a path, copied as far as it changes; () is the object itself."""
    if not path:
        whole: dict[str, Any] = value
        return whole
    return {**holder, path[0]: value if len(path) == 1 else placed(holder[path[0]], path[1:], value)}


def sample(request: Request, since: float) -> Sample:
    """Return a request in a record of our own: body, times, session, replica, answer and usage.

    Args:
        request: As it was read.
        since: Start of the first request that is taken out, in seconds; NaN where there are no times.
    """
    record: dict[str, Any] = {BODY: body_of(request)}
    for name, moment in (("start_time", request.start), ("end_time", request.end)):
        shifted = moment - since + _EPOCH
        if shifted == shifted:
            record[name] = datetime.fromtimestamp(shifted, UTC).isoformat(timespec="milliseconds")
    for name in ("session", "replica"):
        if value := getattr(request, name):
            record["session_id" if name == "session" else name] = value
    if request.response and request.has_reply:
        record["response"] = _without_usage(_decoded(request.response))
    if request.usage is not None:
        record["usage"] = usage_of(request.usage)
    return Sample(record, (BODY,))


def original(request: Request) -> Sample | None:
    """Return a request in the record that it was read from; None where its body does not stand there."""
    record = _decoded(request.raw)
    if not isinstance(record, dict):
        return None
    path = _find(record, request, ())
    if path is not None:
        return Sample(record, path)
    section = request.sections[0]
    if len(request.sections) > 1 or not section.listed or "/" in section.pointer[1:]:
        return None
    path = _find_list(record, _items(section), ())
    return None if path is None else Sample(record, path, section.pointer[1:])


def body_of(request: Request) -> dict[str, Any]:
    """Return the request body: as the log holds it, else put together from its sections."""
    found = original(request)
    body = dict(found.body) if found is not None else _rebuilt(request)
    if request.model:
        body[_MODEL_KEYS.get(request.api, "model")] = request.model
    if request.api == "anthropic-messages":
        body.setdefault("max_tokens", _ANSWER)  # the API takes no request without it
    return body


def usage_of(usage: Usage) -> dict[str, Any]:
    """Return usage as a log writes it."""
    details = {"cached_tokens": usage.cached_tokens, "cache_write_tokens": usage.cache_write_tokens}
    given = {name: count for name, count in details.items() if count is not None}
    shown: dict[str, Any] = {"prompt_tokens": usage.prompt_tokens, "completion_tokens": usage.output_tokens}
    if given:
        shown["prompt_tokens_details"] = given
    return {name: value for name, value in shown.items() if value is not None}


def encoded(record: Any) -> bytes:
    """Return a record as a line of a log, without the line break."""
    return msgspec.json.encode(record)


def _rebuilt(request: Request) -> dict[str, Any]:
    body: dict[str, Any] = {}
    space = request.namespace
    names = (("prompt_cache_key", space.cache_key), ("cache_salt", space.salt), ("lora_path", space.adapter))
    body.update((name, value) for name, value in names if value is not None)
    body.update((name, msgspec.json.decode(value)) for name, value in request.params)
    for section in request.sections:
        _put(body, parse_pointer(section.pointer), _items(section))
    return body


def _find_list(value: Any, items: Any, at: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the keys that lead to a list of just these items."""
    if value == items:
        return at
    if not isinstance(value, dict) or len(at) > _DEEPEST:
        return None
    for key, inner in value.items():
        found = _find_list(inner, items, (*at, key))
        if found is not None:
            return found
    return None


def _without_usage(answer: Any) -> Any:
    """Return an answer without what it cost: that stands beside it."""
    if not isinstance(answer, dict):
        return answer
    return {key: value for key, value in answer.items() if key not in ("usage", "usageMetadata")}


def _put(holder: dict[str, Any], keys: tuple[str, ...], value: Any) -> None:
    for key in keys[:-1]:
        holder = holder.setdefault(key, {})
    if keys:
        holder[keys[-1]] = value


def _items(section: Section) -> Any:
    items = [msgspec.json.decode(raw) for raw in section.raw_items()]
    return items if section.listed else items[0]


def _find(value: Any, request: Request, at: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the keys that lead to the object in which every section of a request stands."""
    if not isinstance(value, dict) or len(at) > _DEEPEST:
        return None
    if all(next(resolve(value, parse_pointer(s.pointer)), None) == _items(s) for s in request.sections):
        return at
    for key, inner in value.items():
        found = _find(inner, request, (*at, key))
        if found is not None:
            return found
    return None


def _decoded(raw: bytes) -> Any:
    try:
        return msgspec.json.decode(raw) if raw else None
    except SHAPE_ERRORS:
        return None
