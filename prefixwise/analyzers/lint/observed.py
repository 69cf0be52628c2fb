"""What a record shows beside its text: cache markers in their places, headers, route, the vendor's own diagnosis."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from prefixwise.analyzers.lint.figures import Doubled, doubled_in
from prefixwise.analyzers.lint.gateways import LostMarkers, has_two_bodies, lost_markers_in
from prefixwise.analyzers.lint.marker_places import MarkerPlace, MarkerReader
from prefixwise.analyzers.lint.vendor import WORDS, Diagnosis, diagnosis_in
from prefixwise.core.request import Request

if TYPE_CHECKING:
    from prefixwise.analyzers.lint.log import Log

# Bytes that stand in every record that asks its cache for something, by API; a test for them comes before any decoding.
_ANTHROPIC, _OPENAI = b"cache_control", b"prompt_cache_"
_SIGNS = {
    "anthropic-messages": _ANTHROPIC,
    "openai-chat": b"cache_",
    "openai-responses": _OPENAI,
    "bedrock-converse": b"cachePoint",
    "vercel-ai": b"cache",
    "langchain": _ANTHROPIC,
}
# A quote that is not escaped is no part of a text.
_RETENTION = re.compile(rb'(?<!\\)"prompt_cache_retention"\s*:\s*"([\w-]{1,20})"')
_OPTIONS = re.compile(rb'(?<!\\)"prompt_cache_options"\s*:\s*(\{[^{}]{0,400}\})')
_MARKERS = (_ANTHROPIC, b"prompt_cache_breakpoint")
_OPENAI_APIS = frozenset({"openai-chat", "openai-responses"})
_DIAGNOSED = frozenset({"anthropic-messages", "openai-responses"})
_FIRST_RECORDS = 100
_MODE = frozenset({"implicit", "explicit"})


class Observed(msgspec.Struct, frozen=True):
    """What was seen of one record.

    Attributes:
        strays: Pointers of what looks like markers where the API has no place for them.
        markers: In cache order; `positions`: how many block positions the prompt has, where there are markers.
        automatic: Whether the provider is asked to place a marker by itself.
        system_blocks: Blocks of the system text, where there are markers and it is a list of blocks.
        mode: OpenAI's `prompt_cache_options.mode`; `retention`: the lifetime that the request asks for, as it is named;
            `retention_at`: its pointer.
        headers: (pointer with `record:`, value) of the request headers that bear on caching; where they stand has an
            empty value.
        route: (pointer with `record:`, value) of what says who served the call, the most telling first; the model that
            answered is among them. Both are filled where a conversation has turns that were not served.
        diagnosis: None where the log has none.
        doubled: Usage that counts cached tokens twice, where the record proves it.
        lost_markers: Markers that a gateway did not pass on, where the record shows it.
    """

    strays: tuple[str, ...] = ()
    markers: tuple[MarkerPlace, ...] = ()
    positions: int = 0
    automatic: bool = False
    system_blocks: int = 0
    mode: str = ""
    retention: str = ""
    retention_at: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    route: tuple[tuple[str, str], ...] = ()
    diagnosis: Diagnosis | None = None
    doubled: Doubled | None = None
    lost_markers: LostMarkers | None = None


class Observer:
    """Looks at each request as its text passes by for the second time; most are told by a test for some bytes.

    Args:
        log: The rows, and whose caches they met.
    """

    def __init__(self, log: Log) -> None:
        self._log = log
        self._markers = MarkerReader()
        self._bodies: dict[str, bool] = {}
        self._looked: dict[str, int] = {}
        """By path: in how many records no second body was found; -1 where there is one."""

    def asks(self, row: int, record: bytes) -> bool:
        """Say whether anything may be seen of a row that stands in a log of bodies of one API, by its record."""
        api = self._log.format_of(row)
        sign = _SIGNS.get(api)
        if sign is not None and sign in record:
            return True
        return api in _DIAGNOSED and any(word in record for word in WORDS)

    def observe(self, row: int, request: Request) -> Observed | None:
        """Return what a request's record shows, None where there is nothing of the kind."""
        raw, sign = request.raw, _SIGNS.get(request.api)
        holds_bodies = self._bodies.get(request.path)
        if holds_bodies is None:
            holds_bodies = self._bodies[request.path] = self._log.holds_bodies(row)
        found: dict[str, Any] = {}
        if sign is not None and (sign in raw or not raw or request.automatic is not None):
            found = self._marked(request)
        if not holds_bodies and _counts_twice(raw) and (doubled := doubled_in(raw)) is not None:
            found["doubled"] = doubled
        diagnosis = _diagnosis(request, b"" if holds_bodies else raw)
        if diagnosis is not None:
            found["diagnosis"] = diagnosis
        return Observed(**found) if found else None

    def _marked(self, request: Request) -> dict[str, Any]:
        found: dict[str, Any] = {}
        raw = request.raw
        is_openai = request.api in _OPENAI_APIS and _OPENAI in raw
        if is_openai:
            found = _options(raw)
        if not is_openai or any(word in raw for word in _MARKERS):
            markers, positions = self._markers.places(request)
            if markers:
                found |= {"markers": markers, "positions": positions, "automatic": request.automatic is not None}
                found["system_blocks"] = sum(
                    len(section.items) for section in request.sections if section.kind == "system" and section.listed
                )
            if strays := self._markers.strays(request):
                found["strays"] = strays
        lost = self._lost(request.path, raw)
        if lost is not None:
            found["lost_markers"] = lost
        return found

    def _lost(self, path: str, record: bytes) -> LostMarkers | None:
        """Look for a second body, in the first records of a file, and in all of them once there was one."""
        looked = self._looked.get(path, 0)
        if looked == _FIRST_RECORDS:
            return None
        if has_two_bodies(record):
            self._looked[path] = -1
            return lost_markers_in(record)
        self._looked[path] = looked + (looked >= 0)
        return None


def _counts_twice(raw: bytes) -> bool:
    """Say whether a record may hold its usage in two places: two objects, or one beside columns of the exporter's."""
    return raw.count(b"usage") > 1 or (b"usage" in raw and b"prompt_cache_read_tokens" in raw)


def _diagnosis(request: Request, record: bytes) -> Diagnosis | None:
    """Return what the vendor says in the answer, or, where an exporter kept that apart, in the record."""
    if request.api not in _DIAGNOSED:
        return None
    for data in (bytes(request.response), record):
        if any(word in data for word in WORDS) and (found := diagnosis_in(data)) is not None:
            return found
    return None


def _options(raw: bytes) -> dict[str, str]:
    """Return what an OpenAI request asks of its cache."""
    found: dict[str, str] = {}
    if (retention := _RETENTION.search(raw)) is not None:
        found |= {"retention": retention[1].decode(), "retention_at": "/prompt_cache_retention"}
    if (options := _OPTIONS.search(raw)) is not None:
        try:
            said = msgspec.json.decode(options[1])
        except msgspec.MsgspecError:
            return found
        if said.get("mode") in _MODE:
            found["mode"] = said["mode"]
        if isinstance(said.get("ttl"), str):
            found |= {"retention": said["ttl"][:20], "retention_at": "/prompt_cache_options/ttl"}
    return found
