"""Logs from Python values, and requests back as plain text per section."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import msgspec

from prefixwise.core.request import Part, Request, Turn
from prefixwise.corpus.corpus import Corpus, read_corpus
from prefixwise.corpus.dialect import DIALECTS
from prefixwise.corpus.index import CorpusIndex
from prefixwise.corpus.reader import Broken, ReadOptions, reader_for
from prefixwise.corpus.sources import open_plain


def corpus_of(*records: Any, index: CorpusIndex | None = None) -> Corpus:
    """Return the corpus of a log of these records (JSON values, or lines as they are)."""
    lines = [record if isinstance(record, bytes) else json.dumps(record).encode() for record in records]
    return read_corpus(["-"], stdin=io.BufferedReader(io.BytesIO(b"\n".join(lines))), index=index)


def read(path: Path, **options: Any) -> tuple[list[Request], list[Broken], Any]:
    """Return the requests and broken records of a file, and its reading."""
    chosen = ReadOptions(**options)
    with open_plain(str(path)) as stream:
        reading = reader_for(str(path), stream.peek(1 << 16), chosen).open(str(path), chosen)
        found = list(reading.requests(stream))
    good = [record for record in found if isinstance(record, Request)]
    return good, [record for record in found if isinstance(record, Broken)], reading


def read_bytes(
    folder: Path, data: bytes, name: str = "log.jsonl", **options: Any
) -> tuple[list[Request], list[Broken], Any]:
    (folder / name).write_bytes(data)
    return read(folder / name, **options)


def read_one(folder: Path, record: Any, **options: Any) -> Request:
    requests, broken, _ = read_bytes(folder, json.dumps(record).encode(), **options)
    assert not broken, broken
    (request,) = requests
    return request


def turns(request: Request) -> list[tuple[str, Turn]]:
    """Return (kind of section, turn) of every item, in cache order."""
    dialect = DIALECTS.get(request.api)
    return [
        (section.kind, dialect.turn(section.kind, msgspec.json.decode(raw)))
        for section in request.sections
        for raw in section.raw_items()
    ]


def said(request: Request) -> list[tuple[str, str | None, list[str]]]:
    """Return (kind, role, texts) of every item; media as `<media>`."""
    return [(kind, turn.role, [shown(part) for part in turn.parts]) for kind, turn in turns(request)]


def shown(part: Part) -> str:
    return "<media>" if part.media else str(list(part.ids)) if part.ids else part.text


def pointers(request: Request) -> list[str]:
    """Return where each part stands in the body."""
    dialect = DIALECTS.get(request.api)
    found = []
    for section in request.sections:
        for index, raw in enumerate(section.raw_items()):
            turn = dialect.turn(section.kind, msgspec.json.decode(raw))
            found.extend(section.item_pointer(index) + part.pointer for part in turn.parts)
    return found
