"""Reads a file of an export format: calls out of records, requests out of calls."""

from __future__ import annotations

import contextlib
import functools
import io
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, Literal

import msgspec

from prefixwise.core.errors import UserError
from prefixwise.core.request import Mark, Request
from prefixwise.corpus.call import Answer, Call, Decoder, Found, LeftOut, Unread
from prefixwise.corpus.dialect import DIALECTS, SHAPE_ERRORS, Dialect, Draft, what_is_wrong
from prefixwise.corpus.fields import apply_fields
from prefixwise.corpus.reader import READERS, Broken, Reader, ReadOptions, Skipped, export_in
from prefixwise.corpus.recognise import nearest, recognise
from prefixwise.corpus.records import RawRecord, Records, raw_records, repaired


def add_export(
    name: str,
    signs: tuple[frozenset[str], ...],
    start: Callable[[], Decoder],
    *,
    rank: int = 20,
    records: Records = raw_records,
    claims: Callable[[str, bytes], bool] | None = None,
) -> None:
    """Register an export format.

    Args:
        name: As in `--input-format`.
        signs: Sets of places of values; a file with all of one set in its first records is of this format.
        start: Makes the decoder of one file.
        rank: Lower ones are asked first.
        records: Splits a file into records; JSON lines, lists or a document where it is not given.
        claims: Takes the place of `signs` for formats that are not JSON.
    """

    def by_signs(_path: str, head: bytes) -> bool:
        starts = {line.lstrip()[:1] for line in head.lstrip().split(b"\n", 2)[:2]}  # the first may be the rest of one
        return bool(starts & {b"{", b"["}) and export_in(head) == name

    def open_file(path: str, options: ReadOptions) -> ExportLog:
        return ExportLog(name, path, options, start(), records)

    READERS.add(name, Reader((name,), rank, "text", claims or by_signs, open_file, signs))


class ExportLog:
    """One file of an export format being read."""

    mode: Literal["log", "prompt", "trace"] = "log"
    record_path = ""

    def __init__(self, name: str, path: str, options: ReadOptions, decoder: Decoder, records: Records) -> None:
        self.format = name
        self._path = path
        self._fields = options.fields
        self._decoder = decoder
        self._split = records
        self._bodies = BodyReader()
        self._number = 0

    def requests(self, stream: io.BufferedReader) -> Iterator[Request | Answer | Skipped | Broken]:
        """Yield every call of `stream`, in order, and what later records say of calls."""
        return self.records(self._split(stream))

    def records(self, records: Iterable[RawRecord]) -> Iterator[Request | Answer | Skipped | Broken]:
        """Do the same with records that were split already."""
        line = 0
        for _, line, data in records:
            try:
                found = list(self._decoder.calls(data))
            except SHAPE_ERRORS as problem:
                try:
                    data = repaired(data) or data
                    found = list(self._decoder.calls(data))
                except SHAPE_ERRORS:
                    yield self._broken(line, what_is_wrong(problem, "format"))
                    continue
            yield from self._each(found, line, data)
        try:
            yield from self._each(self._decoder.rest(), line, b"")
        except SHAPE_ERRORS as problem:
            yield self._broken(line, what_is_wrong(problem, "format"))

    def _each(self, found: Iterable[Found], line: int, data: bytes) -> Iterator[Request | Answer | Skipped | Broken]:
        for call in found:
            if isinstance(call, Answer):
                yield call
            elif isinstance(call, Unread):
                yield self._broken(line, call.reason)
            elif isinstance(call, LeftOut):
                self._number += 1
                yield Skipped(self._path, self._number - 1, line, call.reason)
            else:
                yield self._request(call, line, data)

    def _request(self, call: Call, line: int, data: bytes) -> Request | Broken:
        try:
            dialect, draft = self._draft(call)
        except SHAPE_ERRORS as problem:
            return self._broken(line, what_is_wrong(problem, "format"))
        number = self._number
        self._number += 1
        request = _assemble(self._path, number, line, dialect, draft, call)
        request.raw = call.record or data
        if self._fields:
            try:
                apply_fields(request, call.record or data, self._fields)
            except (msgspec.MsgspecError, RecursionError):
                fields = ", ".join(f"--{name}-field" for name in self._fields)
                what = f"the records of {self.format} have no places of their own to name"
                raise UserError(what, self._path, f"leave out {fields}") from None
        return request

    def _draft(self, call: Call) -> tuple[Dialect, Draft]:
        """Return (API, what the body says), the body mended where it is JSON by looser rules only."""
        if call.sections:
            return DIALECTS.get(call.api), Draft("", call.sections)
        try:
            return self._bodies.read(call.body, call.api)
        except SHAPE_ERRORS:
            mended = repaired(call.body)
            if mended is None or mended == call.body:
                raise
            return self._bodies.read(mended, call.api)

    def _broken(self, line: int, reason: str) -> Broken:
        self._number += 1
        return Broken(self._path, self._number - 1, line, reason)


def _assemble(path: str, number: int, line: int, dialect: Dialect, draft: Draft, call: Call) -> Request:
    return Request(
        path,
        number,
        line,
        dialect.name,
        dialect.provider,
        call.model or draft.model,
        draft.sections,
        draft.namespace,
        draft.params,
        call.start,
        call.end,
        call.ttft,
        call.tenant or draft.tenant,
        call.session or draft.session,
        call.replica,
        call.response,
        call.has_reply,
        call.usage,
        draft.opens_reply,
        draft.automatic,
        call.id,
        call.marks | (Mark.REST_ONLY if call.usage is not None and call.usage.rest_only else 0),
        controls=draft.controls,
    )


class BodyReader:
    """Reads the bodies of one file; remembers whose they were, and looks again where one is not like the last."""

    def __init__(self) -> None:
        self._now: Dialect | None = None
        self._settled: set[tuple[str, Hashable]] = set()

    def read(self, data: bytes, api: str = "") -> tuple[Dialect, Draft]:
        """Return (API, what the body says). Raises one of `SHAPE_ERRORS` where it is no body.

        Args:
            data: JSON of a body.
            api: Whose body it is, where that is known.
        """
        if api:
            dialect = DIALECTS.get(api)
            return dialect, dialect.draft(_body_decoder(api).decode(data))
        if self._now is not None:
            with contextlib.suppress(*SHAPE_ERRORS):
                body = _body_decoder(self._now.name).decode(data)
                if (self._now.name, self._now.telltale(body)) in self._settled:
                    return self._now, self._now.draft(body)
        value = msgspec.json.decode(data)
        found = recognise(value, ())
        if found is None:
            raise ValueError(nearest(value))
        self._now = found.dialect
        body = _body_decoder(self._now.name).decode(data)
        self._settled.add((self._now.name, self._now.telltale(body)))
        return self._now, self._now.draft(body)


@functools.cache
def _body_decoder(api: str) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(DIALECTS.get(api).body)
