"""What a log writes around a body: times, tenant, session, replica, usage, answer.

A decoder is compiled for the place of the body and the names below, so that one pass over a record's bytes
yields the body's raw items and everything around it, and skips the rest.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import UNSET, Raw, UnsetType

from prefixwise.core.times import ABSENT, epoch_seconds
from prefixwise.corpus.raw_json import unpacked_answer

# Names that gateways, proxies and SDKs write, by what they mean; within a meaning, the first present wins.
NAMES: dict[str, tuple[str, ...]] = {
    "start": ("start_time", "startTime", "started_at", "request_time", "ts", "timestamp", "time", "created_at",
              "createdAt", "created"),
    "end": ("end_time", "endTime", "ended_at", "completed_at", "finished_at"),
    "duration_ms": ("latency_ms", "duration_ms", "elapsed_ms"),
    "duration_s": ("latency_s", "duration_s", "elapsed_s"),
    "ttft_ms": ("ttft_ms", "time_to_first_token_ms"),
    "ttft_s": ("ttft", "ttft_s", "time_to_first_token"),
    "tenant": ("tenant", "tenant_id", "customer_id", "customer", "org_id", "organization_id", "account_id",
               "user_hash", "user_id", "user"),
    "session": ("session_id", "sessionId", "session", "conversation_id", "thread_id"),
    "replica": ("replica", "replica_id", "backend", "pod", "upstream", "deployment"),
    "model": ("model",),
    "id": ("request_id", "requestId"),
    "usage": ("usage", "usageMetadata"),
    "response": ("response", "response_body", "completion", "output"),
    "headers": ("response_headers", "responseHeaders"),
}  # fmt: skip
_RAW = frozenset({"usage", "response", "headers"})
_PROMPT_FIELDS = ("messages", "contents", "input", "prompt", "input_messages")
_DURATIONS = frozenset({"duration_ms", "duration_s", "ttft_ms", "ttft_s"})


class Around(msgspec.Struct, gc=False):
    """What stands around one body."""

    start: float = ABSENT
    end: float = ABSENT
    ttft: float = ABSENT
    tenant: str = ""
    session: str = ""
    replica: str = ""
    model: str = ""
    usage: Raw | None = None
    headers: Raw | None = None
    response: Raw | None = None
    has_reply: bool = False
    id: str = ""


class _Answer(msgspec.Struct):
    """What a logged answer says it cost, and whether it holds the answer itself."""

    usage: Raw | UnsetType = UNSET
    usageMetadata: Raw | UnsetType = UNSET  # noqa: N815 - Gemini's name
    headers: Raw | UnsetType = UNSET
    choices: Raw | UnsetType = UNSET
    content: Raw | UnsetType = UNSET
    output: Raw | UnsetType = UNSET
    candidates: Raw | UnsetType = UNSET
    model: Any = None
    modelVersion: Any = None  # noqa: N815

    def holds_reply(self) -> bool:
        """Say whether one of the fields is there in which APIs answer."""
        return not (self.choices is self.content is self.output is self.candidates is UNSET)


_answer = msgspec.json.Decoder(_Answer)


class WrapperDecoder:
    """Decodes records whose body stands at `path` (no `*`).

    Args:
        path: Keys from the record to the body.
        body: Struct of the body.
    """

    def __init__(self, path: tuple[str, ...], body: type[msgspec.Struct]) -> None:
        self._decode: Callable[[bytes], Any] = msgspec.json.Decoder(_record_type(path, body)).decode
        self._body = operator.attrgetter(".".join("inner" for _ in path)) if path else None
        keys = [
            (meaning, "inner." * level + f"w_{name}")
            for meaning, names in NAMES.items()
            for level in range(max(1, len(path)))
            for name in names
            if name not in _taken(path, body, level)
        ]
        self._meanings = tuple(meaning for meaning, _ in keys)
        self._values = operator.attrgetter(*(place for _, place in keys))
        self._body_decoder = msgspec.json.Decoder(body)
        self._body_type = body
        self._prompt_field = next(name for name in _PROMPT_FIELDS if name in body.__struct_fields__)

    def decode(self, data: bytes) -> tuple[Any, Around]:
        """Return (decoded body or None, what stands around it).

        Raises:
            msgspec.MsgspecError: The record is no JSON, or a value has another type than the API's.
        """
        record = self._decode(data)
        try:
            body = self._body(record) if self._body else record
        except AttributeError:  # a key on the way holds null
            body = None
        if body is None:
            return None, Around()
        if isinstance(body, (str, list)):
            body = self._unwrapped(body)
        values = self._values(record)
        found: dict[str, Any] = {}
        for meaning, value in zip(self._meanings, values):  # noqa: B905 - this is the hot loop
            if value is not None and value is not UNSET and not (isinstance(value, Raw) and bytes(value) == b"null"):
                found.setdefault(meaning, value)
        response = found.get("response")
        if response is not None and bytes(response)[:1] == b'"':
            found["response"] = Raw(unpacked_answer(response))
        return body, _around(found)

    def _unwrapped(self, body: str | list[Raw]) -> Any:
        """Return the body that is written as a string of JSON, as its messages alone, or as a bare prompt."""
        if isinstance(body, str) and (start := body.lstrip()[:1]) in ("{", "["):
            if start == "{":
                return self._body_decoder.decode(body)
            body = msgspec.json.decode(body, type=list[Raw])
        return self._body_type(**{self._prompt_field: body})


@functools.lru_cache(maxsize=64)
def wrapper_decoder(path: tuple[str, ...], body: type[msgspec.Struct]) -> WrapperDecoder:
    """Return the decoder for bodies at `path`; it is made once, for logs of a file a request."""
    return WrapperDecoder(path, body)


def _around(found: dict[str, Any]) -> Around:
    get = found.get
    response, usage = get("response"), get("usage")
    start, end = get("start"), get("end")
    around = Around(
        ABSENT if start is None else epoch_seconds(start),
        ABSENT if end is None else epoch_seconds(end),
        ABSENT,
        _name(get("tenant")),
        _name(get("session")),
        _name(get("replica")),
        _name(get("model")),
        usage,
        get("headers"),
        id=_id(get("id")),
    )
    if response is not None:
        _fill_answer(around, response)
    if not _DURATIONS.isdisjoint(found):
        _fill_durations(around, found)
    return around


def _name(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return str(value) if isinstance(value, int) else ""


def _id(value: Any) -> str:
    """Return what tells records of one call; a truth value, a zero and a dash tell nothing."""
    name = "" if value is True or value is False or value == 0 else _name(value)
    return name if len(name) > 1 or name.isalnum() else ""


def _fill_durations(around: Around, found: dict[str, Any]) -> None:
    ttft = _seconds(found, "ttft")
    around.ttft = ABSENT if ttft is None else ttft
    duration = _seconds(found, "duration")
    if duration is None:
        return
    if around.end != around.end:
        around.end = around.start + duration
    elif around.start != around.start:
        around.start = around.end - duration


def _seconds(found: dict[str, Any], what: str) -> float | None:
    for suffix, factor in (("_ms", 1e-3), ("_s", 1.0)):
        value = found.get(what + suffix)
        if isinstance(value, (int, float)) and value >= 0:
            return value * factor
    return None


def _fill_answer(around: Around, response: Raw) -> None:
    around.response = response
    try:
        answer = _answer.decode(response)
    except (msgspec.MsgspecError, RecursionError):  # no object: a bare text is an answer too
        around.has_reply = True
        if around.usage is None and bytes(response)[:1] == b"[":  # the events of a stream, one of which has it
            around.usage = response
        return
    if around.usage is None:
        usage = answer.usageMetadata if answer.usage is UNSET else answer.usage
        around.usage = None if usage is UNSET else usage
    if around.headers is None and answer.headers is not UNSET:
        around.headers = answer.headers
    around.has_reply = answer.holds_reply()
    if not around.model:
        around.model = _name(answer.model or answer.modelVersion)


def _taken(path: tuple[str, ...], body: type[msgspec.Struct], level: int) -> set[str]:
    """Return the names of a level that are the way to the body, or the body's own."""
    return {path[level]} if path else set(body.__struct_encode_fields__)


def _record_type(path: tuple[str, ...], body: type[msgspec.Struct]) -> type[msgspec.Struct]:
    """Build the struct of a record: the chain of keys down to the body, and the names around each of them."""
    if not path:
        taken = _taken(path, body, 0)
        return msgspec.defstruct("Record", _fields(taken), bases=(body,), rename=_renames(taken))
    inner: Any = body | str | list[Raw]
    for level in reversed(range(len(path))):
        taken = _taken(path, body, level)
        fields = [*_fields(taken), ("inner", inner | None, None)]
        inner = msgspec.defstruct("Record", fields, rename={**_renames(taken), "inner": path[level]})
    record: type[msgspec.Struct] = inner
    return record


def _renames(taken: set[str]) -> dict[str, str]:
    return {f"w_{name}": name for names in NAMES.values() for name in names if name not in taken}


def _fields(taken: set[str]) -> list[tuple[str, Any, Any]]:
    return [
        (f"w_{name}", Raw | UnsetType, UNSET) if meaning in _RAW else (f"w_{name}", Any, None)
        for meaning, names in NAMES.items()
        for name in names
        if name not in taken
    ]
