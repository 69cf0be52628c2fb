"""SGLang's server log with `--log-requests`: what was received and what was finished, as text or as JSON.

Shape: `RequestLogger` of SGLang 0.4 to 0.5.23. Prompts are in it from `--log-requests-level 2` on, cut in their
middle at level 2.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import UNSET, Raw

from prefixwise.core.request import Mark
from prefixwise.core.times import ABSENT, epoch_seconds
from prefixwise.core.usage import Usage
from prefixwise.corpus.call import Call, Found
from prefixwise.corpus.engine_log import Clock, as_json, fields_at, literal_at, log_lines
from prefixwise.corpus.export_log import add_export
from prefixwise.corpus.raw_json import RawField, given, name_of, obj

_EVENT = re.compile(r"(Receive|Finish): obj=\w+\(")
_OUT = re.compile(r", out=\{")
_CUT_TEXT = re.compile(r"""['"\]] \.\.\. ['"\[]""")
_LEVEL_2 = 2048


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


class SglangLog:
    """Decodes the lines of one server's log; a finished request is told of whole by its last line."""

    def __init__(self) -> None:
        self._clock = Clock()
        self._open: dict[str, Call] = {}

    def calls(self, record: bytes) -> Iterator[Found]:
        """Return the call that a line ends."""
        line = record.decode("utf-8", "replace").rstrip("\r\n")
        if found := _EVENT.search(line):
            finished = found[1] == "Finish"
            call = self._printed(line, found.end() - 1, finished)
        elif '"event"' in line and (start := line.find("{")) >= 0:
            entry = _event(line[start:])
            finished = entry.event == "request.finished"
            if not finished and entry.event != "request.received":
                return
            call = self._logged(entry)
        else:
            return
        if call is None:
            return
        if not finished:
            self._open[call.id] = call
            return
        received = self._open.pop(call.id, None)
        if received is not None:
            call.start = received.start if received.start == received.start else call.start
        yield call

    def _printed(self, line: str, at: int, finished: bool) -> Call | None:
        fields, end = fields_at(line, at)
        prompt = obj(
            (
                ("input_ids", as_json(fields.get("input_ids", ""))),
                ("prompt", literal_at(fields.get("text", ""), 0)[0]),  # of a cut text, what stands before the cut
                ("lora_path", as_json(fields.get("lora_path", ""))),
                ("extra_key", as_json(fields.get("extra_key", ""))),
            )
        )
        is_cut = any(_CUT_TEXT.search(fields.get(key, "")) for key in ("text", "input_ids"))
        time = self._clock.time(line)
        name, session = (_name(fields.get(key, "")) for key in ("rid", "session_id"))
        out: dict[str, str] = {}
        meta: dict[str, Any] = {}
        if finished and (found := _OUT.search(line, end)):
            out, _ = fields_at(line, found.end() - 1)
            printed, _ = fields_at(out.get("meta_info", ""), 0)
            meta = {key: _number(value) for key, value in printed.items()}
            if "abort" in printed.get("finish_reason", ""):
                meta["aborted"] = 1
        answer = as_json(out.get("output_ids", "")) if fields.get("input_ids", "None") != "None" else b""
        return _call(prompt, name, session, time, is_cut, answer or as_json(out.get("text", "")), meta, finished)

    def _logged(self, entry: _Event) -> Call | None:
        given_object = _object(entry.obj)
        ids, text = given(given_object.input_ids), given(given_object.text)
        is_cut = _is_cut(ids) or _is_cut(text)
        prompt = obj(
            (
                ("input_ids", b"" if _is_cut(ids) else ids),
                ("prompt", text),
                ("lora_path", given(given_object.lora_path)),
                ("extra_key", given(given_object.extra_key)),
            )
        )
        out = entry.out or _Out()
        meta = dict(out.meta_info)
        if isinstance(reason := meta.get("finish_reason"), dict) and reason.get("type") == "abort":
            meta["aborted"] = 1
        answer = (given(out.output_ids) if ids else b"") or given(out.text)
        time = epoch_seconds(entry.timestamp)
        session = name_of(given_object.session_id)
        return _call(prompt, name_of(entry.rid), session, time, is_cut, answer, meta, entry.out is not None)

    def rest(self) -> Iterator[Found]:
        """Return what was received and never finished."""
        for call in self._open.values():
            call.marks |= Mark.ABORTED
            yield call


def _call(
    prompt: bytes, name: str, session: str, time: float, is_cut: bool, answer: bytes, meta: dict[str, Any], ended: bool
) -> Call | None:
    """Return the call, None where the log's level leaves the prompt out (or the first part of it)."""
    if b'"prompt"' not in prompt[:12] and b'"input_ids"' not in prompt[:14]:
        return None
    latency, first = meta.get("e2e_latency"), meta.get("ttft")
    usage = None
    if type(meta.get("prompt_tokens")) is int:
        usage = Usage(meta["prompt_tokens"], meta.get("cached_tokens"), None, meta.get("completion_tokens"))
    return Call(
        prompt,
        api="completions",
        start=time - latency if ended and isinstance(latency, (int, float)) else ABSENT if ended else time,
        end=time if ended else ABSENT,
        ttft=float(first) if isinstance(first, (int, float)) else ABSENT,
        session=session,
        usage=usage,
        response=answer,
        has_reply=bool(answer),
        id=name,
        marks=(Mark.CUT if is_cut else 0) | (Mark.ABORTED if meta.get("aborted") else 0),
    )


def _name(source: str) -> str:
    data = as_json(source)
    return str(msgspec.json.decode(data)) if data[:1] == b'"' else ""


def _number(source: str) -> Any:
    try:
        return int(source)
    except ValueError:
        try:
            return float(source)
        except ValueError:
            return None


def _is_cut(value: bytes) -> bool:
    """Say whether a value was cut in its middle, as level 2 does."""
    if value[:1] == b"[":
        return b'"..."' in value
    if value[:1] != b'"' or len(value) < _LEVEL_2:
        return False
    text = msgspec.json.decode(value, type=str)
    return len(text) == _LEVEL_2 + 3 and text[_LEVEL_2 // 2 : _LEVEL_2 // 2 + 3] == "..."


def claims(_path: str, head: bytes) -> bool:
    """Take a log that speaks of requests as SGLang does."""
    return b"obj=GenerateReqInput(" in head or (b'"request.received' in head and b'"event"' in head)


add_export("sglang-log", (), SglangLog, rank=15, records=log_lines, claims=claims)
