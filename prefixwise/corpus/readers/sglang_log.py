"""SGLang's server log with `--log-requests`: what was received and what was finished, as text or as JSON.

Shape: `RequestLogger` of SGLang 0.4 to 0.5.23. Prompts are in it from `--log-requests-level 2` on, cut in their
middle at level 2. A finished request is told of whole by its last line; the line before it adds when it came.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import UNSET, Raw

from prefixwise.core.request import Mark
from prefixwise.core.times import ABSENT, epoch_seconds
from prefixwise.core.usage import counted
from prefixwise.corpus.call import Call, Found
from prefixwise.corpus.engine_log import NO_LOGS, Clock, as_json, fields_at, literal_at, log_lines
from prefixwise.corpus.export_log import add_export
from prefixwise.corpus.raw_json import RawField, given, name_of, obj

_PRINTED = re.compile(r"(Receive|Finish): obj=\w+(\()(?:rid='([^'\\]*)')?")
_LOGGED = re.compile(r'\{"timestamp": ?"([^"]*)", ?"event": ?"request\.(received|finished)", ?"rid": ?"([^"\\]*)"')
_EVENT_KEY = '"event"'
_PREFIX = 400
"""Within how many characters of a line the words stand by which it is told; what follows is prompt."""
_OUT = re.compile(r", out=\{")
_LEVEL_2 = 2048
_LINES = 5000
_WRITTEN_BY_SGLANG = re.compile(
    r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:,\d+)?(?: [^\]]{1,30})?\] "
    r"(?:(?:Receive|Finish): obj=|Prefill batch|Decode batch|server_args=ServerArgs|\{\"timestamp\")"
)


class _Object(msgspec.Struct):
    text: RawField = UNSET
    input_ids: RawField = UNSET
    lora_path: RawField = UNSET
    extra_key: RawField = UNSET
    session_id: Any = None


class _Out(msgspec.Struct):
    text: RawField = UNSET
    output_ids: RawField = UNSET
    meta_info: dict[str, Any] = {}


class _Event(msgspec.Struct):
    event: str = ""
    timestamp: Any = None
    rid: Any = None
    obj: Raw = Raw(b"{}")
    out: _Out | None = None


_event = msgspec.json.Decoder(_Event).decode
_object = msgspec.json.Decoder(_Object).decode


class _Seen(msgspec.Struct):
    """A line that speaks of a request."""

    line: str
    is_finished: bool
    id: str
    time: float


class _Said(msgspec.Struct):
    """What a line says of a request, however it is written."""

    prompt: bytes = b"{}"
    session: str = ""
    is_cut: bool = False
    answer: bytes = b""
    meta: dict[str, Any] = {}


class SglangLog:
    """Decodes the lines of one server's log."""

    def __init__(self) -> None:
        self._clock = Clock()
        self._open: dict[str, _Seen] = {}

    def calls(self, record: bytes) -> Iterator[Found]:
        """Return the call that a line ends."""
        seen = self._look(record.decode("utf-8", "replace").rstrip("\r\n"))
        if seen is None:
            return
        if not seen.is_finished:
            self._open[seen.id] = seen
            return
        received = self._open.pop(seen.id, None)
        call = _call(seen)
        if call is not None:
            if received is not None and received.time == received.time:
                call.start = received.time
            yield call

    def _look(self, line: str) -> _Seen | None:
        head = line[:_PREFIX]
        if found := _PRINTED.search(head):
            name = found[3]
            if name is None:
                name = _name(fields_at(line, found.start(2))[0].get("rid", ""))
            return _Seen(line, found[1] == "Finish", name, self._clock.time(line))
        if found := _LOGGED.search(head):
            return _Seen(line[found.start() :], found[2] == "finished", found[3], epoch_seconds(found[1]))
        if _EVENT_KEY in head and (start := line.find("{")) >= 0:  # its keys in another order
            event = _event(line[start:])
            if event.event in ("request.received", "request.finished"):
                is_finished = event.event == "request.finished"
                return _Seen(line[start:], is_finished, name_of(event.rid), epoch_seconds(event.timestamp))
        return None

    def rest(self) -> Iterator[Found]:
        """Return what was received and never finished."""
        for seen in self._open.values():
            call = _call(seen)
            if call is not None:
                call.marks |= Mark.ABORTED
                yield call


def _call(seen: _Seen) -> Call | None:
    """Return the call that a line tells of, None where the log's level leaves the prompt out."""
    said = _logged(seen) if seen.line[:1] == "{" else _printed(seen)
    if said.prompt[:9] != b'{"prompt"' and said.prompt[:12] != b'{"input_ids"':
        return None
    meta = said.meta
    latency, first = meta.get("e2e_latency"), meta.get("ttft")
    usage = counted(meta.get("prompt_tokens"), meta.get("cached_tokens"), None, meta.get("completion_tokens"))
    start = ABSENT if seen.is_finished else seen.time
    return Call(
        said.prompt,
        api="completions",
        start=seen.time - latency if seen.is_finished and isinstance(latency, (int, float)) else start,
        end=seen.time if seen.is_finished else ABSENT,
        ttft=float(first) if isinstance(first, (int, float)) else ABSENT,
        session=said.session,
        usage=usage,
        response=said.answer,
        has_reply=bool(said.answer),
        id=seen.id,
        marks=(Mark.CUT if said.is_cut else 0) | (Mark.ABORTED if "abort" in str(meta.get("finish_reason")) else 0),
    )


def _printed(seen: _Seen) -> _Said:
    """Read a line of the text format, where objects are printed as Python prints them."""
    line = seen.line
    fields, end = fields_at(line, line.index("(", line.index(": obj=")))
    ids = as_json(fields.get("input_ids", ""))
    prompt = obj(
        (
            ("input_ids", ids),
            ("prompt", b"" if ids else literal_at(fields.get("text", ""), 0)[0]),  # what stands before a cut
            ("lora_path", as_json(fields.get("lora_path", ""))),
            ("extra_key", as_json(fields.get("extra_key", ""))),
        )
    )
    is_cut = any(_is_cut_short(fields.get(key, "")) for key in ("text", "input_ids"))
    said = _Said(prompt, _name(fields.get("session_id", "")), is_cut)
    if seen.is_finished and (found := _OUT.search(line, end)):
        out, _ = fields_at(line, found.end() - 1)
        said.answer = (as_json(out.get("output_ids", "")) if ids else b"") or as_json(out.get("text", ""))
        meta, _ = fields_at(out.get("meta_info", "{}"), 0)
        said.meta = {key: _number(value) for key, value in meta.items()}
    return said


def _logged(seen: _Seen) -> _Said:
    """Read a line of the JSON format."""
    event = _event(seen.line)
    request = _object(event.obj)
    ids, text = given(request.input_ids), given(request.text)
    is_cut = _is_cut(ids) or _is_cut(text)
    ids = b"" if _is_cut(ids) else ids
    prompt = obj(
        (
            ("input_ids", ids),
            ("prompt", b"" if ids else text),
            ("lora_path", given(request.lora_path)),
            ("extra_key", given(request.extra_key)),
        )
    )
    out = event.out or _Out()
    answer = (given(out.output_ids) if ids else b"") or given(out.text)
    return _Said(prompt, name_of(request.session_id), is_cut, answer, out.meta_info)


def _is_cut_short(source: str) -> bool:
    """Say whether a printed value was cut in its middle: its first half is followed by dots."""
    return source[literal_at(source, 0)[1] :].startswith(" ... ")


def _name(source: str) -> str:
    data = as_json(source)
    return str(msgspec.json.decode(data)) if data[:1] == b'"' else ""


def _number(source: str) -> Any:
    """Return a printed number as such, other values as they were printed."""
    try:
        return int(source)
    except ValueError:
        try:
            return float(source)
        except ValueError:
            return source


def _is_cut(value: bytes) -> bool:
    """Say whether a value was cut in its middle, as level 2 does."""
    if value[:1] == b"[":
        return b'"..."' in value
    if value[:1] != b'"' or len(value) < _LEVEL_2:
        return False
    text = msgspec.json.decode(value, type=str)
    return len(text) == _LEVEL_2 + 3 and text[_LEVEL_2 // 2 : _LEVEL_2 // 2 + 3] == "..."


def claims(path: str, head: bytes) -> bool:
    """Take a log whose lines begin as SGLang's do and speak of its work, or are its JSON."""
    if path.endswith(NO_LOGS):
        return False
    lines = [line[:_PREFIX].decode("utf-8", "replace") for line in head.splitlines()[:_LINES]]
    if lines and lines[0].lstrip()[:1] == "{":
        return any(_LOGGED.match(line) for line in lines)
    return any(_WRITTEN_BY_SGLANG.match(line) for line in lines)


add_export("sglang-log", (), SglangLog, rank=15, records=log_lines, claims=claims)
