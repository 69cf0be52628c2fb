"""Requests as they would have been sent after a fix: items and texts replaced, everything else byte for byte the same.

What has nothing to mend is handed back as it is, the same object, so that whoever counts again sees at once what
changed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from prefixwise.analyzers.lint.blocks import last_name
from prefixwise.analyzers.lint.claimed import once
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.documents import Entry
from prefixwise.analyzers.lint.raw_values import with_value
from prefixwise.core.finding import Where
from prefixwise.core.pointer import parse_pointer
from prefixwise.core.request import Part, Request, Section, Turn
from prefixwise.corpus.items import turn_of

_NO_PROSE = frozenset(
    {"id", "call_id", "tool_call_id", "tool_use_id", "toolCallId", "toolUseId", "name", "toolName", "arguments", "args"}
)
"""Names of texts that are no words: ids, names of tools, arguments of calls."""

_WORDS = frozenset({"text", "content"})


def with_sections(request: Request, sections: Sequence[Section]) -> Request:
    """Return a request with other sections; the same one where all are what they were."""
    if all(one is other for one, other in zip(sections, request.sections, strict=True)):
        return request
    return msgspec.structs.replace(request, sections=tuple(sections))


def with_items(section: Section, items: Sequence[bytes]) -> Section:
    """Return a section with other items; the same one where all are what they were."""
    if list(items) == [bytes(raw) for raw in section.raw_items()]:
        return section
    if section.whole is msgspec.UNSET:
        return msgspec.structs.replace(section, items=list(items))
    return msgspec.structs.replace(section, whole=msgspec.Raw(b"[%s]" % b",".join(items)))


def entries_of(request: Request, section: Section) -> list[Entry]:
    """Return the items of a section with what they say."""
    raws = enumerate(map(bytes, section.raw_items()))
    return [
        Entry(section.kind, section.item_pointer(index), raw, read(request.api, section.kind, raw))
        for index, raw in raws
    ]


@functools.lru_cache(maxsize=20_000)
def read(api: str, kind: str, raw: bytes) -> Turn:
    """Return what an item says; the messages of a conversation come again with every request."""
    return turn_of(api, kind, raw)


def with_mended_items(request: Request, mend: Callable[[Entry], bytes]) -> Request:
    """Return a request in which each item is what `mend` makes of it."""
    return with_sections(
        request,
        [with_items(section, [mend(entry) for entry in entries_of(request, section)]) for section in request.sections],
    )


def with_texts(request: Request, areas: Iterable[Where], form: Callable[[str], str]) -> Request:
    """Return a request in which every text of some areas, apart from ids and arguments, is in another form.

    Args:
        request: As it was sent.
        areas: Parts of the prompt.
        form: What becomes of a text; of JSON, of each string in it.
    """
    wanted = frozenset(areas)

    def mend(entry: Entry) -> bytes:
        return mended_texts(entry, lambda _, text: form(text)) if entry.where in wanted else entry.raw

    mended = with_mended_items(request, mend)
    return _with_answer(mended, form) if Where.MESSAGES in wanted else mended


def _with_answer(request: Request, form: Callable[[str], str]) -> Request:
    """Return a request whose logged answer is in another form too: it comes again as a message."""
    if not request.response or not request.has_reply:
        return request
    value = msgspec.json.decode(request.response)
    mended = form(value) if isinstance(value, str) else _with_words(value, form)
    if mended == value:
        return request
    return msgspec.structs.replace(request, response=msgspec.json.encode(mended))


def _with_words(value: Any, form: Callable[[str], str]) -> Any:
    """Return a decoded answer with other words: the strings called `text` or `content`."""
    if isinstance(value, list):
        return [_with_words(inner, form) for inner in value]
    if not isinstance(value, dict):
        return value
    return {
        key: form(inner) if isinstance(inner, str) and key in _WORDS else _with_words(inner, form)
        for key, inner in value.items()
    }


def mended_texts(entry: Entry, form: Callable[[Part, str], str]) -> bytes:
    """Return the JSON of an item whose texts, apart from ids and arguments, are what `form` makes of them."""
    raw = entry.raw
    for part in entry.parts:
        if part.text and last_name(part.pointer) not in _NO_PROSE:
            raw = with_text(raw, part, functools.partial(form, part))
    return raw


def with_text(raw: bytes, part: Part, form: Callable[[str], str]) -> bytes:
    """Return the JSON of an item in which the text of a part is in another form."""
    keys = parse_pointer(part.pointer)
    if not part.is_json:
        text = form(part.text)
        return raw if text == part.text else with_value(raw, keys, msgspec.json.encode(text))
    value = value_at(raw, keys)
    mended = _mapped(value, form)
    return raw if mended == value else with_value(raw, keys, msgspec.json.encode(mended))


def value_at(raw: bytes, keys: Sequence[str]) -> Any:
    """Return the decoded value at a path that is there."""
    value = msgspec.json.decode(raw)
    for key in keys:
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value


def _mapped(value: Any, form: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return form(value)
    if isinstance(value, dict):
        return {key: _mapped(inner, form) for key, inner in value.items()}
    return [_mapped(inner, form) for inner in value] if isinstance(value, list) else value


@once
def areas_of(claims: Sequence[Claim]) -> frozenset[Where]:
    """Return the parts of the prompt that claims are about."""
    return frozenset(claim.where for claim in claims)
