"""Requests as they would have been sent with a moving value behind everything else, in the newest message.

A value is moved, not dropped: it is said in the newest message when it has changed, and stays there when the
conversation goes on. What earlier turns said is known from the claims.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

import msgspec

from prefixwise.analyzers.lint.blocks import last_name
from prefixwise.analyzers.lint.claimed import once
from prefixwise.analyzers.lint.claims import Around, Claim
from prefixwise.analyzers.lint.documents import Document, Entry
from prefixwise.analyzers.lint.mending import entries_of, mended_texts, read, with_items, with_sections
from prefixwise.analyzers.lint.raw_values import with_value
from prefixwise.core.pointer import parse_pointer
from prefixwise.core.request import Part, Request, Section

_TAIL = 64
_NUMBERS = re.compile(r"\d+")
_INDEX = re.compile(r"(?<=/)\d+(?=/|$)")
_NOTE = re.compile(r"\n\n<now>.*?</now>", re.DOTALL)
_MOST_VALUES = 64
"""How often a value is taken out of one text at most."""


def turn_of_document(document: Document) -> int:
    """Return what a request is known again by once its conversation goes on."""
    newest = document.entry(len(document) - 1)
    return 0 if newest is None else _turn(document.request.session, len(document), newest)


def _turn(session: str, length: int, newest: Entry) -> int:
    """Return a hash of a place in a conversation: by the end of the message, where nothing names the conversation."""
    if session:
        return hash((session, length))
    texts = [part.text for part in newest.parts if part.text]
    return hash((length, newest.role, _NUMBERS.sub("#", _NOTE.sub("", texts[-1]))[-_TAIL:] if texts else ""))


@once
def _places(claims: Sequence[Claim]) -> tuple[Around, ...]:
    """Return where values stand, those first of which the most is known to move."""
    found = dict.fromkeys(place for claim in claims for place in claim.moved)
    return tuple(sorted(found, key=lambda place: (place.field, place.left)))


@once
def _said(claims: Sequence[Claim]) -> dict[int, str]:
    return {said.turn: said.value for claim in claims for said in claim.said if said.value}


@once
def _first_value(claims: Sequence[Claim]) -> str:
    return next((said.value for claim in claims for said in claim.said if said.value), "")


@functools.lru_cache(maxsize=20_000)
def taken_out(text: str, places: tuple[Around, ...]) -> tuple[str, str]:
    """Return a text without the values at some places, and those values with their labels, a line each."""
    found: list[str] = []
    for place in places:
        pattern = re.compile(place.pattern, re.DOTALL)
        at = 0
        for _ in range(_MOST_VALUES):
            match = pattern.search(text, at)
            if match is None:
                break
            start, end = match.span(1)
            if value := match[1].strip():
                found.append(f"{place.label}{value}")
            text = text[:start] + text[end:]
            at = max(start, match.start() + 1)
    return text, "\n".join(found)


def with_moved_values(request: Request, claims: Sequence[Claim], *, told: bool = True) -> Request | None:
    """Return a request without the values that move, and with those in its newest message.

    None where no place is known.

    Args:
        request: As it was sent.
        claims: What is known of the values.
        told: Whether they are said in the newest message, or left out.
    """
    taker = _taker(claims)
    if not taker.places:
        return None
    notes: list[str] = []
    mended = with_sections(request, [taker.of_section(request.api, section, notes) for section in request.sections])
    note = "\n".join(notes)
    return with_notes(mended, _history(request, claims), note) if note and told else mended


def with_constant_values(request: Request, claims: Sequence[Claim]) -> Request | None:
    """Return a request in which a value that moves is the first one that was seen; None where no place is known."""
    places = _places(claims)
    if not places:
        return None
    first = _first_value(claims)

    def constant(part: Part, text: str) -> str:  # noqa: ARG001 - one of two
        for place in places:
            match = re.compile(place.pattern, re.DOTALL).search(text)
            if match is not None and match[1].strip():
                return text[: match.start(1)] + first.removeprefix(place.label) + text[match.end(1) :]
        return text

    shapes = {place.field for place in places}
    sections = [
        with_items(
            section,
            [
                mended_texts(entry, constant) if _shapes(entry) & shapes else entry.raw
                for entry in entries_of(request, section)
            ],
        )
        for section in request.sections
    ]
    return with_sections(request, sections)


def _shapes(entry: Entry) -> set[str]:
    return {shape_of(entry.pointer + part.pointer) for part in entry.parts}


def shape_of(pointer: str) -> str:
    """Return a pointer with `*` for every number."""
    return _INDEX.sub("*", pointer)


class _Taker:
    """Takes values out of items; the messages of a conversation come again with every request, and are remembered."""

    def __init__(self, places: tuple[Around, ...]) -> None:
        self.places = places
        self._known: dict[tuple[str, str, str, bytes], tuple[bytes, tuple[str, ...]]] = {}

    def of_section(self, api: str, section: Section, notes: list[str]) -> Section:
        """Return a section without the values, which are added to `notes`; the same one where it has none."""
        shape = shape_of(section.item_pointer(0))
        raws = [*map(bytes, section.raw_items())]
        items = []
        for raw in raws:
            key = (api, section.kind, shape, raw)
            known = self._known.get(key)
            if known is None:
                known = self._known[key] = self._of_item(*key)
            items.append(known[0])
            notes += known[1]
        return section if items == raws else with_items(section, items)

    def _of_item(self, api: str, kind: str, shape: str, raw: bytes) -> tuple[bytes, tuple[str, ...]]:
        entry = Entry(kind, shape, raw, read(api, kind, raw))
        notes: list[str] = []

        def take(part: Part, text: str) -> str:
            at = shape_of(shape + part.pointer)
            ours = tuple(p for p in self.places if at == p.field or (part.is_json and p.field.startswith(at)))
            if not ours:
                return text
            kept = "".join(_NOTE.findall(text))
            rest, note = taken_out(_NOTE.sub("", text), ours)
            if note:
                notes.append(note)
            return rest + kept

        return mended_texts(entry, take), tuple(notes)


@once
def _taker(claims: Sequence[Claim]) -> _Taker:
    return _Taker(_places(claims))


def _history(request: Request, claims: Sequence[Claim]) -> dict[int, str]:
    """Return by number of item what earlier turns said, as far as the claims know."""
    known = _said(claims)
    if not known:
        return {}
    entries = [entry for section in request.sections for entry in entries_of(request, section)]
    session = request.session
    found = {}
    for number, entry in enumerate(entries[:-1]):
        value = known.get(_turn(session, number + 1, entry))
        if value is not None and entry.kind == "messages":
            found[number] = value
    return found


def with_notes(request: Request, earlier: dict[int, str], note: str) -> Request:
    """Return a request whose messages say what moved: each turn what had changed since the turn before.

    Args:
        request: Without the values.
        earlier: By number of item what was newest at that turn.
        note: What is now.
    """
    entries = [entry for section in request.sections for entry in entries_of(request, section)]
    newest = len(entries) - 1
    said = {**earlier, newest: note}
    first = next((n for n, entry in enumerate(entries) if entry.kind == "messages" and _is_asked(entry)), newest)
    begins = said[min(said)]
    if first < min(said):
        said[first] = begins
    last, at = "", {}
    for number in sorted(said):
        if said[number] != last:
            at[number] = last = said[number]
    sections, number = [], 0
    for section in request.sections:
        items = []
        for raw in map(bytes, section.raw_items()):
            items.append(_with_note(entries[number], at[number]) if number in at else raw)
            number += 1
        sections.append(with_items(section, items))
    return with_sections(request, sections)


def _is_asked(entry: Entry) -> bool:
    return entry.role not in ("assistant", "model", "system", "developer")


def _with_note(entry: Entry, note: str) -> bytes:
    """Return a message that ends with a note."""
    texts = [part for part in entry.parts if part.text and not part.is_json and last_name(part.pointer) in _TEXTS]
    if not texts:
        return entry.raw
    said = _NOTE.sub("", texts[-1].text) + f"\n\n<now>{note}</now>"
    return with_value(entry.raw, parse_pointer(texts[-1].pointer), msgspec.json.encode(said))


_TEXTS = frozenset({"text", "content", "output", ""})
