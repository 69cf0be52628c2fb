"""The second reading of an audit: what only records say, such as credentials, and what stands in shared texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from prefixwise.analyzers.lint.conversations import conversations
from prefixwise.analyzers.lint.documents import Document, Entry, TurnReader
from prefixwise.analyzers.lint.leaks import Leak
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.lint.shared_texts import SharedTexts
from prefixwise.analyzers.tenancy.approved import Approved, is_head
from prefixwise.caches.rulebook import Rulebook
from prefixwise.core.excerpt import LIMIT, excerpt
from prefixwise.core.pointer import resolve
from prefixwise.core.request import Request
from prefixwise.corpus.again import Again
from prefixwise.corpus.corpus import Corpus

PLACES = ("affinity", "client-salt", "credential", "endpoint", "environment", "status", "workspace")
"""What `--place NAME=POINTER` can name in a record."""
_LEAST_SALT = 8
_LEAST_NAME = 4
_BODY_SALT = re.compile(rb'(?<!\\)"cache_salt"\s*:\s*"((?:[^"\\]|\\.){1,256})"')


class Head(msgspec.Struct, frozen=True):
    """The head of prompts, tools and system text: its hash, its first text, and which tenants' names stand in it."""

    digest: str
    opening: str
    names: frozenset[str]


class Records(msgspec.Struct):
    """What the second reading found.

    Attributes:
        leaks: Private values in texts that tenants share.
        heads: By number; `head`: by row, the number of its head, -1 for one without.
        apis: By row, whose API it spoke.
        places: By name, by row, what stands in a place that the user named.
        spilled: By row, where its salt stands inside another text of the record.
    """

    leaks: list[Leak]
    heads: list[Head]
    head: list[int]
    apis: list[str]
    places: dict[str, dict[int, str]]
    spilled: dict[int, str]


def read_records(
    corpus: Corpus,
    again: Again,
    book: Rulebook,
    approved: Approved,
    places: Mapping[str, tuple[str, ...]],
    sign: Callable[[str], str],
) -> Records:
    """Go over the input once more.

    Args:
        corpus: Read with outlines, so with text.
        again: Reads the same input.
        book: Facts on caches.
        approved: What hashes of heads are made by.
        places: By name, where a record holds it.
        sign: Returns a keyed hash of a private value.
    """
    return _Reading(corpus, book, approved, places, sign).over(again)


class _Reading:
    def __init__(
        self,
        corpus: Corpus,
        book: Rulebook,
        approved: Approved,
        places: Mapping[str, tuple[str, ...]],
        sign: Callable[[str], str],
    ) -> None:
        assert corpus.index is not None and corpus.index.outlines is not None  # noqa: S101, PT018 - the caller's promise
        rows, self._outlines = corpus.rows, corpus.index.outlines
        self._rows, self._approved, self._places = rows, approved, places
        self._log = Log(corpus, self._outlines, conversations(rows, self._outlines), book)
        self._reader = TurnReader()
        self._shared = SharedTexts(self._log, self._reader, sign)
        self._tenants = [name for name in rows.tenants.names if len(name) >= _LEAST_NAME]
        self._numbers: dict[tuple[int, ...], int] = {}
        self._found = Records([], [], [-1] * len(rows), [""] * len(rows), {name: {} for name in places}, {})

    def over(self, again: Again) -> Records:
        for row, request in again():
            self._found.apis[row] = request.api
            if self._shared.asks(row):
                self._shared.offer(row, request)
            self._found.head[row] = self._head(row, request)
            self._look_around(row, request)
        self._found.leaks = self._log.leaks
        return self._found

    def _head(self, row: int, request: Request) -> int:
        key = self._outlines.head[row]
        number = self._numbers.get(key)
        if number is None:
            entries = [entry for entry in Document(row, request, self._reader).entries() if is_head(entry)]
            number = len(self._found.heads) if entries else -1
            self._numbers[key] = number
            if entries:
                self._found.heads.append(self._describe(entries))
        return number

    def _describe(self, entries: list[Entry]) -> Head:
        text = "\n".join(entry.text for entry in entries)
        names = frozenset(name for name in self._tenants if _names(name, text))
        opening = next((entry.text for entry in entries if entry.kind != "tools" and entry.text.strip()), text)
        return Head(self._approved.digest(entries), excerpt(" ".join(opening[:200].split()), limit=LIMIT), names)

    def _look_around(self, row: int, request: Request) -> None:
        raw, salt = request.raw, self._rows.namespaces[self._rows.namespace[row]].salt
        if salt and len(salt) >= _LEAST_SALT and (place := _spilled(raw, salt)):
            self._found.spilled[row] = place
        wanted = self._places
        if wanted:
            record = _decoded(raw)
            for name, keys in wanted.items():
                value = next(resolve(record, keys), None)
                if value is not None:
                    self._found.places[name][row] = value if isinstance(value, str) else _json(value)
        if "client-salt" not in wanted and salt is not None:
            body = _BODY_SALT.search(raw)
            if body is not None and (sent := _decoded(b'"' + body[1] + b'"')) != salt:
                self._found.places.setdefault("client-salt", {})[row] = str(sent)


def _names(name: str, text: str) -> bool:
    """Say whether a name stands in a text as a word."""
    return re.search(rf"(?i)(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _spilled(raw: bytes, salt: str) -> str:
    """Return what stands around a salt where it is part of a longer text of the record, '' where it is not."""
    data = _json(salt).encode()[1:-1]
    at = raw.find(data)
    while at >= 0:
        before, after = raw[at - 1 : at], raw[at + len(data) : at + len(data) + 1]
        if before != b'"' or after != b'"':
            return "a longer text"
        at = raw.find(data, at + len(data))
    return ""


def _decoded(data: bytes) -> Any:
    try:
        return msgspec.json.decode(data)
    except msgspec.MsgspecError:
        return None


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
