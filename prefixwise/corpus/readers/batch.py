"""Batch files: OpenAI's requests and results, Anthropic's requests and results, joined by `custom_id`.

Shapes: OpenAI Batch API guide and Anthropic Message Batches reference, read 2026-11-30. A results file alone
holds no prompt.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import UNSET, Raw

from prefixwise.core.request import Mark
from prefixwise.core.usage import from_json
from prefixwise.corpus.call import NO_PROMPT, Answer, Call, Found, RecordDecoder, Unread, fate
from prefixwise.corpus.export_log import add_export
from prefixwise.corpus.raw_json import RawField, given, name_of


class _Response(msgspec.Struct):
    status_code: Any = None
    body: RawField = UNSET


class _Result(msgspec.Struct):
    type: Any = None
    message: RawField = UNSET


class _Line(msgspec.Struct):
    custom_id: Any = None
    url: Any = None
    body: RawField = UNSET
    params: RawField = UNSET
    requests: list[Raw] | None = None
    response: _Response | None = None
    result: _Result | None = None
    error: Any = None


class _Body(msgspec.Struct):
    usage: RawField = UNSET


_NO_PROMPT = ("/embeddings", "/moderations", "/images")
_decode = msgspec.json.Decoder(_Line).decode
_body = msgspec.json.Decoder(_Body).decode


class Batch(RecordDecoder):
    """Decodes the lines of requests files and of results files."""

    def calls(self, record: bytes) -> Iterator[Found]:
        """Return the call of a request, or the answer of a result; a document may hold a list of requests."""
        line = _decode(record)
        for request in line.requests or ():
            yield from self.calls(bytes(request))
        if line.requests is not None:
            return
        name = name_of(line.custom_id)
        body = given(line.body) or given(line.params)
        if body and any(name in str(line.url) for name in _NO_PROMPT):
            yield NO_PROMPT
            return
        if body:
            yield Call(body, id=name, record=record)
        if body and line.response is None and line.result is None:
            return
        if not name and not body:
            yield Unread("a batch's line has no custom_id")
            return
        if line.response is not None:
            answer = given(line.response.body)
            failed = line.error is not None or fate(line.response.status_code) is not None
        elif line.result is not None:
            answer, failed = given(line.result.message), line.result.type != "succeeded"
        else:
            answer, failed = b"", True
        yield _answer(name, answer, failed)


def _answer(name: str, answer: bytes, failed: bool) -> Answer:
    if failed or answer[:1] != b"{":
        return Answer(name, marks=Mark.ABORTED)
    body = _body(answer)
    usage = given(body.usage)
    return Answer(
        name,
        usage=from_json(usage) if usage else None,
        response=answer,
    )


add_export(
    "batch",
    (
        frozenset({"custom_id", "method", "url", "body"}),
        frozenset({"custom_id", "response/status_code"}),
        frozenset({"id", "custom_id", "response", "error"}),
        frozenset({"custom_id", "params/messages"}),
        frozenset({"requests/*/custom_id", "requests/*/params"}),
        frozenset({"custom_id", "result/type"}),
    ),
    Batch,
)
