"""Findings as SARIF results, those of one rule on one line of a source folded into one."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from prefixwise.core.excerpt import visible
from prefixwise.core.finding import Edit, Finding, Mode, Safety, Step
from prefixwise.core.report import SourceText
from prefixwise.reports import finding_words as words
from prefixwise.reports.edits import published_edits
from prefixwise.reports.finding_places import Place, place_of, recorded, refs_of, spanned
from prefixwise.reports.line_hash import line_hashes
from prefixwise.reports.sarif.rules import LEVELS, name_of
from prefixwise.reports.sarif.uris import uri_of
from prefixwise.reports.suppressed import Suppressed

LOCATIONS = 1000
"""The most locations of a result that GitHub takes."""
_OCCURRENCES = 100
"""Places that GitHub shows of a result."""

# In a message `[text](target)` is a link.
_LINK = re.compile(r"\[([^\[\]\n]*)\](?=\()")


class Hits(NamedTuple):
    """Findings that are one result, and what suppresses them."""

    findings: tuple[Finding, ...]
    suppressed: Suppressed | None = None


def folded(findings: Iterable[Finding], suppressed: Iterable[Suppressed]) -> list[Hits]:
    """Return findings as results: GitHub would show two of a rule on one line of a source as one and lose the other."""
    groups: dict[object, list[Finding]] = {}
    for number, finding in enumerate(findings):
        groups.setdefault(_line_key(finding) or number, []).append(finding)
    return [*(Hits(tuple(group)) for group in groups.values()), *(Hits((one.finding,), one) for one in suppressed)]


def results_of(hits: Iterable[Hits], rules: Mapping[str, int], sources: Iterable[SourceText]) -> Iterator[Any]:
    """Yield the `result` of each of `hits`.

    Args:
        hits: In the order in which they are to be read.
        rules: Where the rule of each name stands in the run's list.
        sources: Files whose lines GitHub's fingerprint is made of.
    """
    listed = list(hits)
    lines = _hashed_lines(listed, sources)
    marked = any(one.suppressed is not None and one.suppressed.in_baseline for one in listed)
    seen: Counter[str] = Counter()
    for one in listed:
        first, place = one.findings[0], place_of(one.findings[0])
        line_hash = lines.get((place.path, place.line)) or _own_hash(first, seen)
        yield _result(one, place, rules[first.rule], line_hash) | _states(one, marked=marked)


def _line_key(finding: Finding) -> object:
    return None if finding.span is None else (finding.rule, finding.path, finding.span.line)


def _hashed_lines(hits: list[Hits], sources: Iterable[SourceText]) -> dict[tuple[str, int | None], str]:
    wanted: dict[str, set[int]] = {}
    for one in hits:
        if (span := one.findings[0].span) is not None:
            wanted.setdefault(one.findings[0].path, set()).add(span.line)
    return {
        (source.path, line): line_hash
        for source in sources
        for line, line_hash in line_hashes(source.text, wanted.get(source.path, ())).items()
    }


def _own_hash(finding: Finding, seen: Counter[str]) -> str:
    """Return a hash like that of a line, for what no line holds still: a record of a log, a file that is gone."""
    text = f"{finding.rule}\0{finding.fingerprint}".encode("utf-8", "replace")
    digest = hashlib.blake2b(text, digest_size=8).hexdigest()
    seen[digest] += 1
    return f"{digest}:{seen[digest]}"


def _result(hits: Hits, place: Place, index: int, line_hash: str) -> dict[str, Any]:
    first = hits.findings[0]
    worst = min(hits.findings, key=lambda finding: finding.level.rank)
    related = _related(hits)
    result: dict[str, Any] = {
        "ruleId": name_of(first.rule),
        "ruleIndex": index,
        "level": LEVELS[worst.level],
        "message": {"text": _message(hits)},
        "locations": [_location(place, field=first.field)],
        "partialFingerprints": {
            "primaryLocationLineHash": line_hash,
            "prefixwise/v1": visible(first.fingerprint) or line_hash,
        },
    }
    if related:
        result["relatedLocations"] = related
    if flows := [flow for finding in hits.findings for flow in _code_flows(finding)]:
        result["codeFlows"] = flows
    fixes = [_fix(finding) for finding in hits.findings if published_edits(finding)]
    if fixes:
        result["fixes"] = [fix for number, fix in enumerate(fixes) if fix not in fixes[:number]]
    return result | {"properties": _properties(worst)}


def _message(hits: Hits) -> str:
    parts = [words.plain(finding) for finding in hits.findings]
    more = f"\n\n{len(parts)} of this rule stand on this line." if len(parts) > 1 else ""
    return _LINK.sub(r"\\[\1\\]", "\n\n".join(parts) + more) or name_of(hits.findings[0].rule)


def _states(hits: Hits, *, marked: bool) -> dict[str, Any]:
    """Return whether a result is suppressed, and whether the baseline knows it where there is one."""
    known = hits.suppressed
    if known is None:
        return {"baselineState": "new"} if marked else {}
    suppression: dict[str, Any] = {"kind": "inSource" if known.in_source else "external", "status": "accepted"}
    if known.justification:
        suppression["justification"] = visible(known.justification)
    if known.path:
        suppression["location"] = _location(Place(known.path, known.line))
    states: dict[str, Any] = {"suppressions": [suppression]}
    return states | ({"baselineState": "unchanged" if known.in_baseline else "new"} if marked else {})


def _location(place: Place, message: str = "", field: str | None = None, number: int | None = None) -> dict[str, Any]:
    location: dict[str, Any] = {} if number is None else {"id": number}
    location["physicalLocation"] = {"artifactLocation": {"uri": uri_of(place.path)}, "region": _region(place)}
    if field:
        location["logicalLocations"] = [{"fullyQualifiedName": visible(field), "kind": "member"}]
    if message:
        location["message"] = {"text": visible(message)}
    return location


def _region(place: Place) -> dict[str, int]:
    """Return lines and columns, which GitHub wants of every result: of a record, the first character of its line."""
    line, column = place.line or 1, place.column or 1
    end_line = max(place.end_line or line, line)
    end = place.end_column or column + 1
    end = max(end, column) if end_line == line else max(end, 1)
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end}


def _related(hits: Hits) -> list[dict[str, Any]]:
    """Return the steps of flows, the records compared with, and the other places, as many as are shown."""
    spots: list[tuple[Place, str]] = []
    for finding in hits.findings:
        spots += [(spanned(step.path, step.span), step.note or "on the way to the prompt") for step in finding.flow]
        if finding.pair is not None:
            spots.append((recorded(finding.pair.before), f"the earlier request, record {finding.pair.before.record}"))
        spots += [(recorded(ref), f"shows in record {ref.record}, too") for ref in refs_of(finding)[:_OCCURRENCES]]
    room = LOCATIONS - 1
    return [_location(place, note, number=number) for number, (place, note) in enumerate(spots[:room], 1)]


def _code_flows(finding: Finding) -> list[dict[str, Any]]:
    """Return the way to the prompt; from each of the places that a log's value may come from, a way of its own."""
    if not finding.flow:
        return []
    ways = [finding.flow] if finding.mode is Mode.STATIC else [(step,) for step in finding.flow]
    return [_code_flow(finding, way) for way in ways]


def _code_flow(finding: Finding, way: tuple[Step, ...]) -> dict[str, Any]:
    steps = [(spanned(step.path, step.span), step.note) for step in way[:LOCATIONS]]
    end = place_of(finding)
    if steps[-1][0] != end:
        steps.append((end, finding.message))
    return {"threadFlows": [{"locations": [{"location": _location(place, note)} for place, note in steps]}]}


def _fix(finding: Finding) -> dict[str, Any]:
    by_path: dict[str, list[Edit]] = {}
    for edit in published_edits(finding):
        by_path.setdefault(edit.path, []).append(edit)
    aside = "" if finding.fix.safety is Safety.SAFE else " (needs a look)"
    return {
        "description": {"text": (visible(finding.fix.summary) or "Apply the edits.") + aside},
        "artifactChanges": [
            {"artifactLocation": {"uri": uri_of(path)}, "replacements": [*map(_replacement, edits)]}
            for path, edits in by_path.items()
        ],
    }


def _replacement(edit: Edit) -> dict[str, Any]:
    return {
        "deletedRegion": {"charOffset": edit.start, "charLength": edit.end - edit.start},
        "insertedContent": {"text": edit.text},
    }


def _properties(finding: Finding) -> dict[str, Any]:
    lost = finding.tokens_lost
    known: dict[str, Any] = {
        "severity": finding.severity,
        "confidence": finding.confidence,
        "mode": finding.mode,
        "where": finding.where,
        "tokensLost": None if lost is None else lost.value,
        "usdLost": finding.usd_lost,
    }
    return {key: value for key, value in known.items() if value is not None}
