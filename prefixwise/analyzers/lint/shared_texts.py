"""Texts at the start of prompts that several tenants share, and what they hold that nobody should.

Each distinct text is looked at once, as the input passes by for the second time; what is kept is where something was
found and of what kind, not the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec

from prefixwise.analyzers.lint.documents import Document, Entry, TurnReader
from prefixwise.analyzers.lint.leaks import Leak
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.values.hunks import common_prefix
from prefixwise.core.pointer import format_pointer
from prefixwise.core.private_data import Exposed, exposed
from prefixwise.core.request import Request

_MOST = 64
"""Tenants or conversations that are counted of one text."""
_SEVERAL = 2
_OPENING = 4
"""Messages of a conversation that may be part of a template."""
_COPIES = 3
"""Conversations from which one message that opens them all is a template's, where no tenants are known."""
_LONG = 400


def _unsigned(_value: str) -> str:
    return ""


class SharedTexts:
    """Looks at the texts that open prompts.

    Args:
        log: The rows; `leaks` is filled in.
        reader: Decodes items.
        sign: Returns a keyed hash of a value that is found.
    """

    def __init__(self, log: Log, reader: TurnReader, sign: Callable[[str], str] = _unsigned) -> None:
        self._log = log
        self._reader = reader
        self._sign = sign
        self._by_tenant = any(log.rows.tenants[number] for number in set(log.rows.tenant))
        self._whose = log.rows.tenant if self._by_tenant else log.conversations.conversation
        self._sharers = _sharers(log, self._whose, by_tenant=self._by_tenant)
        self._seen: set[int] = set()
        self._first: dict[int, tuple[int, list[Entry]]] = {}
        """By application: the first request whose head nobody else has, and that head."""
        self._compared: set[int] = set()

    def asks(self, row: int) -> bool:
        """Say whether a request holds something to look at, as far as that is known; only beginnings are shared."""
        link = self._log.conversations.links[row]
        return (link is None or not link.turn) and (self._may_share(row) or self._is_to_compare(row))

    def offer(self, row: int, request: Request) -> None:
        """Look at what of a request for which `asks` is true is shared and was not looked at before."""
        document = Document(row, request, self._reader)
        if self._may_share(row):
            self._offer_whole(row, document)
        if self._is_to_compare(row):
            application, heads = self._log.applications[row], range(len(self._log.outlines.head[row]))
            entries = [entry for index in heads if (entry := document.entry(index)) is not None]
            first = self._first.get(application)
            if first is None:
                self._first[application] = (row, entries)
            else:
                self._compared.add(application)
                self._log.leaks.extend(self._in_common(row, first[1], entries))

    def _may_share(self, row: int) -> bool:
        """Say whether what opens a request has something in it that several have and nobody looked at."""
        outlines = self._log.outlines
        return any(map(self._is_new, outlines.head[row])) or any(map(self._is_new, outlines.messages[row][:_OPENING]))

    def _is_to_compare(self, row: int) -> bool:
        """Say whether the head of a request is its own, at least in part, and waits for another to be compared with."""
        head, application = self._log.outlines.head[row], self._log.applications[row]
        if application in self._compared or not head or self._sharers.keys() >= set(head):
            return False
        first = self._first.get(application)
        return first is None or self._whose[first[0]] != self._whose[row]

    def _in_common(self, row: int, one: list[Entry], other: list[Entry]) -> Iterator[Leak]:
        """Yield what two heads hold up to where they part; what only one of them has is nobody else's."""
        for left, right in zip(one, other, strict=False):
            for (_, before), (field, after) in zip(_texts(left), _texts(right), strict=False):
                kept = common_prefix(before, after)
                for value in exposed(after[:kept]):
                    if value.end < kept or kept == len(after):
                        yield self._leak(row, right, field, value, after, _SEVERAL)
                if before != after:
                    return

    def _offer_whole(self, row: int, document: Document) -> None:
        outlines = self._log.outlines
        head, messages = outlines.head[row], outlines.messages[row][:_OPENING]
        contents = (*head, *messages)
        for index, content in enumerate(contents):
            in_head = index < len(head)
            if content not in self._sharers and not in_head:
                return  # what stands behind a message of one tenant's own is not shared either
            entry = document.entry(index) if self._is_new(content) else None
            if entry is not None and (in_head or self._is_template(content, entry)):
                self._seen.add(content)
                self._log.leaks.extend(self._leaks(row, entry, len(self._sharers[content])))

    def _is_new(self, content: int) -> bool:
        return content in self._sharers and content not in self._seen

    def _is_template(self, content: int, entry: Entry) -> bool:
        """Say whether a message is part of what an application sends, and not what a user happened to say again."""
        return self._by_tenant or (len(self._sharers[content]) >= _COPIES and len(entry.text) >= _LONG)

    def _leaks(self, row: int, entry: Entry, sharers: int) -> Iterator[Leak]:
        for field, text in _texts(entry):
            for value in exposed(text):
                yield self._leak(row, entry, field, value, text, sharers)

    def _leak(self, row: int, entry: Entry, field: str, value: Exposed, text: str, sharers: int) -> Leak:
        digest = self._sign(text[value.start : value.end])
        return Leak(row, entry.where, field, value.start, value, sharers, self._by_tenant, digest)


def _sharers(log: Log, whose: Sequence[int], *, by_tenant: bool) -> dict[int, set[int]]:
    """Return by content of the items that open prompts who has them, where that are several."""
    rows, outlines = log.rows, log.outlines
    counts, of_heads = _Counts(), _Counts()
    heads: dict[int, tuple[int, ...]] = {}
    for row in range(len(rows)):
        if by_tenant and not rows.tenants[rows.tenant[row]]:
            continue
        head = outlines.head[row]
        heads[id(head)] = head  # equal heads are one object
        of_heads.add((id(head),), whose[row])
        counts.add(outlines.messages[row][:_OPENING], whose[row])
    for number, head in heads.items():
        for one in of_heads.of(number):
            counts.add(head, one)
    return counts.several


class _Counts:
    """Who has what; sets are made only of what several have, which is little."""

    def __init__(self) -> None:
        self._first: dict[int, int] = {}
        self.several: dict[int, set[int]] = {}

    def add(self, things: Iterable[int], who: int) -> None:
        for thing in things:
            first = self._first.setdefault(thing, who)
            if first != who:
                found = self.several.setdefault(thing, {first})
                if len(found) < _MOST:
                    found.add(who)

    def of(self, thing: int) -> Iterable[int]:
        return self.several.get(thing) or (self._first[thing],)


def _texts(entry: Entry) -> Iterator[tuple[str, str]]:
    """Yield (pointer, text) of every string of an item."""
    for part in entry.parts:
        at = entry.pointer + part.pointer
        if part.is_json:
            yield from _strings(at, msgspec.json.decode(part.text))
        elif part.text:
            yield at, part.text


def _strings(pointer: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield pointer, value
    elif isinstance(value, (dict, list)):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in items:
            yield from _strings(pointer + format_pointer(key), inner)
