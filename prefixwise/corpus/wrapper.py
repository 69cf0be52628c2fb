"""What a log writes around a body: times, tenant, session, replica, usage, answer.

A decoder is compiled for the place of the body and the names below, so that one pass over a record's bytes
yields the body's raw items and everything around it, and skips the rest.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from itertools import compress
from typing import Any

import msgspec
from msgspec import UNSET, Raw, UnsetType

from prefixwise.core.times import ABSENT, epoch_seconds

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
    "usage": ("usage", "usageMetadata"),
    "response": ("response", "response_body", "completion", "output"),
}  # fmt: skip
_RAW = frozenset({"usage", "response"})
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
    response: Raw | None = None


class _Answer(msgspec.Struct):
    """The part of a logged answer that says what it cost."""

    usage: Raw | UnsetType = UNSET
    usageMetadata: Raw | UnsetType = UNSET  # noqa: N815 - Gemini's name


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
        body_names = set(body.__struct_fields__) if not path else set()
        skipped = {path[0]} if path else body_names
        keys = [(meaning, name) for meaning, names in NAMES.items() for name in names if name not in skipped]
        self._meanings = tuple(meaning for meaning, _ in keys)
        self._indexes = range(len(keys))
        self._values = operator.attrgetter(*(f"w_{name}" for _, name in keys))
        self._body_decoder = msgspec.json.Decoder(body)

    def decode(self, data: bytes) -> tuple[Any, Around]:
        """Return (decoded body or None, what stands around it).

        Raises:
            msgspec.MsgspecError: The record is no JSON, or a value has another type than the API's.
        """
        record = self._decode(data)
        body = self._body(record) if self._body else record
        if isinstance(body, str):
            body = self._body_decoder.decode(body)
        values = self._values(record)
        meanings = self._meanings
        found: dict[str, Any] = {}
        for index in compress(self._indexes, values):  # what is absent is None or UNSET, and both are false
            found.setdefault(meanings[index], values[index])
        return body, _around(found)


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
        _usage_of(response) if usage is None and response is not None else usage,
        response,
    )
    if not _DURATIONS.isdisjoint(found):
        _fill_durations(around, found)
    return around


def _name(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return str(value) if isinstance(value, int) else ""


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


def _usage_of(response: Raw) -> Raw | None:
    try:
        answer = _answer.decode(response)
    except (msgspec.MsgspecError, RecursionError):
        return None
    found = answer.usageMetadata if answer.usage is UNSET else answer.usage
    return None if found is UNSET else found


def _record_type(path: tuple[str, ...], body: type[msgspec.Struct]) -> type[msgspec.Struct]:
    """Build the struct of a record: the names around the body, and the chain of keys down to it."""
    if not path:
        taken = set(body.__struct_encode_fields__)
        fields = [field for field in _fields() if field[0].removeprefix("w_") not in taken]
        return msgspec.defstruct(
            "Record", fields, bases=(body,), rename={f"w_{name}": name for name in _all_names() if name not in taken}
        )
    inner: Any = body | str
    for depth, key in reversed(list(enumerate(path))):
        around = _fields() if depth == 0 else []
        fields = [field for field in around if field[0] != f"w_{key}"]
        rename = {f"w_{name}": name for name in _all_names() if name != key} if depth == 0 else {}
        inner = msgspec.defstruct("Record", [*fields, ("inner", inner | None, None)], rename={**rename, "inner": key})
    record: type[msgspec.Struct] = inner
    return record


def _all_names() -> list[str]:
    return [name for names in NAMES.values() for name in names]


def _fields() -> list[tuple[str, Any, Any]]:
    return [
        (f"w_{name}", Raw | UnsetType, UNSET) if meaning in _RAW else (f"w_{name}", Any, None)
        for meaning, names in NAMES.items()
        for name in names
    ]
