"""From what moves in a log to the line of a source that fills it in."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from prefixwise.analyzers.lint.documents import Document, TurnReader
from prefixwise.analyzers.origins.index import Moving, Origin, SourceIndex
from prefixwise.analyzers.values.hunks import hunks
from prefixwise.core.finding import Finding, Step
from prefixwise.core.pointer import parse_pointer, resolve
from prefixwise.core.request import Ref, Request
from prefixwise.corpus.again import Again
from prefixwise.corpus.rows import Rows

_Place = tuple[str, int]


def traced(
    findings: Iterable[Finding], rows: Rows, again: Again, index: Callable[[], SourceIndex]
) -> tuple[Finding, ...]:
    """Return findings of a log, those with their source whose moving value stands between constant text of one.

    Args:
        findings: Of one log.
        rows: Its rows.
        again: Reads its requests once more.
        index: Gives the sources; not called where nothing is to be looked for.
    """
    found = tuple(findings)
    places = {_place(ref) for one in found if _may_move(one) for ref in _refs(one)}
    if not places:
        return found
    requests = _requests(places, rows, again)
    sources = index()
    return tuple(_traced(one, requests, sources) if _may_move(one) else one for one in found)


def _may_move(finding: Finding) -> bool:
    return finding.pair is not None and finding.char_offset is not None and bool(finding.field) and not finding.flow


def _refs(finding: Finding) -> tuple[Ref, ...]:
    return () if finding.pair is None else (finding.pair.before, finding.pair.after)


def _place(ref: Ref) -> _Place:
    return ref.path, ref.record


def _requests(places: set[_Place], rows: Rows, again: Again) -> dict[_Place, Request]:
    by_row = {
        row: place for row in range(len(rows)) if (place := (rows.files[rows.file[row]], rows.record[row])) in places
    }
    found: dict[_Place, Request] = {}
    for row, request in again(wanted=lambda row, _: row in by_row):
        if row in by_row:
            found[by_row[row]] = request
            if len(found) == len(by_row):
                break
    return found


def _traced(finding: Finding, requests: dict[_Place, Request], sources: SourceIndex) -> Finding:
    texts = [_text_at(requests.get(_place(ref)), finding.field or "") for ref in _refs(finding)]
    before, after = texts
    if before is None or after is None:
        return finding
    hunk = next((hunk for hunk in hunks(before, after) if (hunk.before_text + hunk.after_text).strip()), None)
    if hunk is None:
        return finding
    origins = sources.origins(Moving(before, after, hunk.before_end, hunk.after_start, hunk.after_end))
    if not origins:
        return finding
    steps = tuple(Step(origin.path, origin.span, _note(origin, len(origins))) for origin in origins)
    return msgspec.structs.replace(finding, flow=steps, evidence=(*finding.evidence, _evidence(origins)))


def _note(origin: Origin, number: int) -> str:
    if origin.sure:
        return "the value is filled in here, between text that the log has around it"
    return (
        f"one of {number} places that may fill the value in" if number > 1 else "possibly, the value is filled in here"
    )


def _evidence(origins: list[Origin]) -> str:
    places = " or ".join(f"{origin.path}:{origin.span.line}" for origin in origins)
    if origins[0].sure:
        return f"the text around it stands in {places}"
    return f"possibly, it comes from {places}: there is text like that around it"


def _text_at(request: Request | None, field: str) -> str | None:
    """Return the text at a pointer of a request's body, as its items have it."""
    if request is None:
        return None
    document = Document(0, request, TurnReader())
    for entry in document.entries():
        if not field.startswith(entry.pointer):
            continue
        for part in entry.parts:
            pointer = entry.pointer + part.pointer
            if part.text and pointer == field and not part.is_json:
                return part.text
            if part.is_json and field.startswith(pointer + "/"):
                return _inside(part.text, field[len(pointer) :])
    return None


def _inside(text: str, pointer: str) -> str | None:
    try:
        value: Any = msgspec.json.decode(text)
    except msgspec.MsgspecError:
        return None
    found = next(resolve(value, parse_pointer(pointer)), None)
    return found if isinstance(found, str) else None
