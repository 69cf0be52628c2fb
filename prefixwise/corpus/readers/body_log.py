"""Logs of request bodies: one JSON record a request, the body anywhere inside it."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Raw

from prefixwise.core.pointer import ANY, format_pointer
from prefixwise.core.request import Request
from prefixwise.core.usage import reported
from prefixwise.corpus.dialect import DIALECTS, SHAPE_ERRORS, Dialect, Draft, what_is_wrong
from prefixwise.corpus.fields import apply_fields
from prefixwise.corpus.reader import READERS, Broken, Reader, ReadOptions, nearest_format
from prefixwise.corpus.recognise import Recognised, nearest, recognise
from prefixwise.corpus.records import RawRecord, raw_records, repaired
from prefixwise.corpus.sources import PROMPT_SUFFIXES
from prefixwise.corpus.wrapper import Around, WrapperDecoder, wrapper_decoder


class _UnreadableError(Exception):
    """A record holds no request; the message says why."""


class _UnsettledError(Exception):
    """A record has something by which it may be of another API; it must be looked at as a whole."""


class BodyLog:
    """Reads one file; remembers what it recognised, and looks again where a record does not fit."""

    mode: Literal["log", "prompt", "trace"] = "log"

    def __init__(self, path: str, options: ReadOptions) -> None:
        self._path = path
        self._options = options
        self._api = options.input_format if options.input_format in DIALECTS.names() else None
        self._now: Recognised | None = None
        self._decoders: dict[tuple[str, tuple[str, ...]], WrapperDecoder] = {}
        self._settled: set[Hashable] = set()
        self._formats: dict[str, None] = {}
        self._paths: dict[str, None] = {}

    @property
    def format(self) -> str:
        """What was recognised; several names where a file mixes APIs."""
        return " + ".join(self._formats) or "no request found"

    @property
    def record_path(self) -> str:
        """Where the bodies stand."""
        return " ".join(self._paths)

    def requests(self, stream: io.BufferedReader) -> Iterator[Request | Broken]:
        """Yield every record of `stream`, in order."""
        return self.records(raw_records(stream))

    def records(self, records: Iterable[RawRecord]) -> Iterator[Request | Broken]:
        """Yield the requests of records that were split already."""
        number, wanted = 0, self._options.wanted
        for _, line, data in records:
            for element in self._elements(data):
                if wanted is None or wanted(number, element):
                    try:
                        yield self._request(number, line, element)
                    except _UnreadableError as problem:
                        yield Broken(self._path, number, line, str(problem))
                number += 1

    def _elements(self, data: bytes) -> Sequence[bytes]:
        """Return what stands at the last `*` of the path: the records proper. Without a `*`, the record itself."""
        if self._now is None:
            self._now = self._look(data)
        if self._now is None or ANY not in self._now.path:
            return (data,)
        last = len(self._now.path) - 1 - self._now.path[::-1].index(ANY)
        try:
            return _descend(data, self._now.path[: last + 1])
        except (msgspec.MsgspecError, RecursionError):
            return (data,)

    def _request(self, number: int, line: int, data: bytes) -> Request:
        now = self._now
        if now is not None:
            with contextlib.suppress(_UnsettledError, *SHAPE_ERRORS):
                return self._build(now, number, line, data, settled=False)
        return self._request_slowly(number, line, data)

    def _request_slowly(self, number: int, line: int, data: bytes) -> Request:
        """Look again at a record that is not like those before it."""
        try:
            value = msgspec.json.decode(data)
        except (msgspec.MsgspecError, RecursionError) as problem:
            mended = repaired(data)
            if mended is None:
                raise _UnreadableError(what_is_wrong(problem, "API")) from None
            data, value = mended, msgspec.json.decode(mended)
        if isinstance(value, (str, list)) and value:
            wrapped = {"prompt": value}
            if recognise(wrapped) is not None:
                data, value = b'{"prompt":%s}' % data, wrapped
        inner = _after_star(self._options.record_path)
        found = recognise(value, inner, self._api)
        if found is None:
            raise _UnreadableError(self._why_not(value, inner))
        try:
            request = self._build(found, number, line, data, settled=True)
        except SHAPE_ERRORS as problem:
            raise _UnreadableError(what_is_wrong(problem, "API")) from None
        if self._now is None or ANY not in self._now.path:
            self._now = found
        return request

    def _why_not(self, value: Any, inner: tuple[str, ...] | None) -> str:
        if inner:
            return f"no request body at {format_pointer(*inner)}"
        return "; ".join(filter(None, (nearest(value), nearest_format(msgspec.json.encode(value)))))

    def _look(self, data: bytes) -> Recognised | None:
        """Return what the first record holds; None leaves it to the next record."""
        try:
            value = msgspec.json.decode(data)
        except (msgspec.MsgspecError, RecursionError):
            return None
        found = recognise(value, self._options.record_path, self._api)
        given = self._options.record_path
        if found is None and given and ANY in given:
            return Recognised(next(iter(DIALECTS)), given)
        return found

    def _build(self, now: Recognised, number: int, line: int, data: bytes, *, settled: bool) -> Request:
        inner = _after_star(now.path) or ()
        decoder = self._decoders.get((now.dialect.name, inner))
        if decoder is None:
            decoder = self._decoders[now.dialect.name, inner] = wrapper_decoder(inner, now.dialect.body)
            self._paths[format_pointer(*now.path)] = None
        body, around = decoder.decode(data)
        if body is None:
            raise ValueError("no request body")
        telltale = (now.dialect.name, now.dialect.telltale(body))
        if settled:
            self._settled.add(telltale)
        elif telltale not in self._settled:
            raise _UnsettledError
        draft = now.dialect.draft(body)
        if now.dialect.name not in self._formats:
            self._formats[now.dialect.name] = None
        request = _assemble(self._path, number, line, now.dialect, draft, around, data)
        if self._options.fields:
            apply_fields(request, data, self._options.fields)
        return request


def _assemble(
    path: str, number: int, line: int, dialect: Dialect, draft: Draft, around: Around, data: bytes
) -> Request:
    response = around.response
    return Request(
        path,
        number,
        line,
        dialect.name,
        dialect.provider,
        draft.model or around.model,
        draft.sections,
        draft.namespace,
        draft.params,
        around.start,
        around.end,
        around.ttft,
        around.tenant or draft.tenant,
        around.session or draft.session,
        around.replica,
        b"" if response is None else bytes(response),
        around.has_reply,
        reported(around.usage, around.headers),
        draft.opens_reply,
        draft.automatic,
        f"{path}\0{around.id}" if around.id else "",
        raw=data,
        controls=draft.controls,
    )


def _descend(data: bytes, keys: tuple[str, ...]) -> list[bytes]:
    """Return the raw JSON of every value that `keys` lead to."""
    if not keys:
        return [data]
    if keys[0] == ANY:
        elements = msgspec.json.decode(data, type=list[Raw])
        return [found for element in elements for found in _descend(bytes(element), keys[1:])]
    members = msgspec.json.decode(data, type=dict[str, Raw])
    return _descend(bytes(members[keys[0]]), keys[1:]) if keys[0] in members else []


def _after_star(path: tuple[str, ...] | None) -> tuple[str, ...] | None:
    if path is None or ANY not in path:
        return path
    return path[len(path) - path[::-1].index(ANY) :]


def claims(path: str, head: bytes) -> bool:
    """Take what begins like JSON, and what is named like a log."""
    if path.endswith(PROMPT_SUFFIXES):
        return False
    start = head.lstrip()[:1]
    return start in (b"{", b"[") or path.removesuffix(".gz").removesuffix(".zst").endswith(
        (".jsonl", ".ndjson", ".json")
    )


READERS.add("bodies", Reader(("bodies", *DIALECTS.names()), 50, "text", claims, BodyLog))
