"""vLLM's server log with `--enable-log-requests`: prompts, answers and aborted requests, joined by request id.

Shapes: `RequestLogger` of vLLM 0.6 to 0.33 and `AsyncLLM`. Newer versions write prompts at level DEBUG only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from prefixwise.core.request import Mark
from prefixwise.core.times import ABSENT, epoch_seconds
from prefixwise.corpus.call import Answer, Call, Found
from prefixwise.corpus.engine_log import NO_LOGS, Clock, literal_at, log_lines
from prefixwise.corpus.export_log import add_export
from prefixwise.corpus.raw_json import encoded, obj

_PROMPT = re.compile(r"(?:Received request (\S+?):|Request (\S+) details:) prompt: ")
_RECEIVED = re.compile(r"Received request (\S+?): params: ")
_BODY = re.compile(r"Request (\S+) JSON body: ")
_IDS = re.compile(r"prompt_token_ids: ")
_ADAPTER = re.compile(r"lora_name='([^']*)'")
_OUTPUT = re.compile(r"Generated response (\S+?)(?: \(streaming complete\))?: output: ")
_OUTPUT_IDS = re.compile(r"Generated response (\S+?)(?: \(streaming complete\))? details: output_token_ids: ")
_ENDED = re.compile(
    r"(?:Aborted request\(?s?\)? (\S+?)|Request (\S+) (?:aborted|failed)\b.*|Finished request (\S+?))\.?$"
)
_MESSAGE = re.compile(r".{0,200}?(?:\.py:\d+\] | (?=(?:Received|Request|Generated|Aborted|Finished) ))")
"""What stands before the message: level, time and the place in the source."""
_LINES = 5000
_KINDS = ("chatcmpl-", "cmpl-", "resp_", "generate-tokens-")


class _JsonLine(msgspec.Struct):
    """A line of the JSON formatter."""

    message: str
    timestamp: Any = None
    asctime: Any = None


_json_line = msgspec.json.Decoder(_JsonLine).decode


class VllmLog:
    """Decodes the lines of one server's log."""

    def __init__(self) -> None:
        self._clock = Clock()
        self._bodies: dict[str, tuple[bytes, float]] = {}
        self._seen: set[tuple[str, int]] = set()
        """Requests given out: by id, and by id and prompt, since clients may use an id again."""

    def calls(self, record: bytes) -> Iterator[Found]:
        """Return what one line says."""
        line = record.decode("utf-8", "replace").rstrip("\r\n")
        if line[:1] == "{":
            entry = _json_line(line)
            line, time = entry.message, epoch_seconds(entry.timestamp or entry.asctime)
        elif "equest" in line or "esponse" in line:
            time = self._clock.time(line)
        else:
            return
        found_at = _MESSAGE.match(line)
        at = found_at.end() if found_at else 0
        if found := _PROMPT.match(line, at):
            yield from self._prompt(found[1] or found[2], line, found.end(), time)
        elif found := _BODY.match(line, at):
            self._bodies[_bare(found[1])] = (line[found.end() :].encode(), time)
        elif found := _RECEIVED.match(line, at):
            yield from self._held(found[1], time, _adapter(line))
        elif found := _OUTPUT.match(line, at) or _OUTPUT_IDS.match(line, at):
            marks = Mark.ABORTED if line.endswith("finish_reason: abort") else 0
            yield Answer(found[1], end=time, response=literal_at(line, found.end())[0], marks=marks)
        elif found := _ENDED.match(line, at):
            finished = found[3]
            for name in (finished or found[1] or found[2]).split(","):
                yield Answer(name, end=time, marks=0 if finished else Mark.ABORTED)

    def _prompt(self, name: str, line: str, at: int, time: float) -> Iterator[Found]:
        text, end = literal_at(line, at)
        ids_at = _IDS.search(line, end)
        ids = literal_at(line, ids_at.end())[0] if ids_at else b""
        held = self._bodies.pop(_bare(name), None)
        prompt = (name, hash(ids or text))
        if prompt in self._seen or not (ids or text):
            if held is not None:
                self._bodies[_bare(name)] = held
            return
        self._seen |= {prompt, (name, 0)}
        model = b""
        if held is not None:
            model = _model(held[0])
            time = held[1] if time != time else time
        key = "prompt_token_ids" if ids else "prompt"
        body = obj((("model", model), (key, ids or text), ("lora_path", _adapter(line[end:]))))
        yield Call(body, api="completions", start=time, id=name)

    def _held(self, name: str, time: float, adapter: bytes) -> Iterator[Found]:
        """Return the call whose body was logged before, where the log holds no rendered prompt of it."""
        held = self._bodies.pop(_bare(name), None)
        if held is not None and (name, 0) not in self._seen:
            self._seen.add((name, 0))
            yield Call(_with(held[0], adapter), start=held[1] if held[1] == held[1] else time, id=name)

    def rest(self) -> Iterator[Found]:
        """Return the calls whose bodies were logged and nothing else."""
        for name, (body, time) in self._bodies.items():
            yield Call(body, start=time if time == time else ABSENT, id=name)


def _bare(name: str) -> str:
    """Return a request id as its body is logged under: without the prefix of its endpoint."""
    for kind in _KINDS:
        name = name.removeprefix(kind)
    return name


def _adapter(line: str) -> bytes:
    found = _ADAPTER.search(line, max(0, line.rfind("lora_request:")))
    return encoded(found[1]) if found else b""


def _model(body: bytes) -> bytes:
    try:
        found = msgspec.json.decode(body, type=dict[str, msgspec.Raw]).get("model")
    except msgspec.MsgspecError:  # cut at --max-log-len
        return b""
    return b"" if found is None else bytes(found)


def _with(body: bytes, adapter: bytes) -> bytes:
    return body[:-1] + b',"lora_path":%s}' % adapter if adapter and body[-1:] == b"}" else body


_WRITTEN_BY_VLLM = re.compile(
    r"(?:\(\w+ pid=\d+\) )?(?:DEBUG|INFO|WARNING|ERROR) \d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? \[[\w./]+:\d+\] "
)


def claims(path: str, head: bytes) -> bool:
    """Take a log whose lines begin as vLLM's do, or are its JSON and speak of requests."""
    if path.endswith(NO_LOGS):
        return False
    lines = [line.decode("utf-8", "replace") for line in head.splitlines()[:_LINES]]
    if lines and lines[0].lstrip()[:1] == "{":
        return any(_speaks_of_requests(line) for line in lines)
    return any(_WRITTEN_BY_VLLM.match(line) for line in lines)


def _speaks_of_requests(line: str) -> bool:
    try:
        message = _json_line(line).message
    except (msgspec.MsgspecError, RecursionError):
        return False
    return any(pattern.match(message) for pattern in (_PROMPT, _RECEIVED, _BODY))


add_export("vllm-log", (), VllmLog, rank=15, records=log_lines, claims=claims)
