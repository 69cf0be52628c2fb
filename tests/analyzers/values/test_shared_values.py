"""The values that differ in the shared cases are quoted and described as their answers say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from prefixwise.analyzers.values.describe import describe
from prefixwise.analyzers.values.hunks import hunks
from prefixwise.analyzers.values.kinds import SpanKind

CASES = Path(__file__).parents[4] / "shared" / "cases"
ANSWERS = sorted(CASES.glob("*/expected.json"))

KINDS = {
    "clock-in-prefix": SpanKind.CLOCK,
    "request-id-in-prefix": SpanKind.IDENTIFIER,
    "tool-call-id-regenerated": SpanKind.IDENTIFIER,
    "cache-key-unstable": SpanKind.IDENTIFIER,
    "env-state-in-prefix": SpanKind.ENVIRONMENT,
    "counter-in-prefix": SpanKind.COUNTER,
    "retrieved-text-in-prefix": SpanKind.PROSE,
    "user-data-first": SpanKind.PERSON,
    "relative-time-in-history": SpanKind.RELATIVE_TIME,
    "unicode-drift": SpanKind.UNICODE,
    "whitespace-drift": SpanKind.WHITE_SPACE,
    "tool-args-reserialised": SpanKind.JSON_FORM,
    "model-changed": SpanKind.VERSION,
}
# Of every other kind the text does not say what it is: that may be called prose or nothing, and no more.
HARMLESS = {SpanKind.OTHER, SpanKind.PROSE}


class Pair(NamedTuple):
    """What one finding of an answer says of two strings."""

    case: str
    finding: dict[str, Any]
    before: str
    after: str


def at(value: Any, pointer: str) -> Any:
    """Return what a JSON pointer names."""
    for key in pointer.split("/")[1:]:
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value


def pairs() -> Iterator[Pair]:
    """Yield every finding whose two strings the input or the answer itself holds."""
    for path in ANSWERS:
        answer = json.loads(path.read_text(encoding="utf-8"))
        if answer["input"]["mode"] != "log":
            continue
        for finding in answer["findings"]:
            if "pair" in finding and finding.get("char_offset") is not None:
                lines = (path.parent / answer["input"]["files"][0]).read_text(encoding="utf-8").splitlines()
                where = (answer["input"]["record_path"] or "") + finding["field"]
                texts = [at(json.loads(lines[finding["pair"][side]]), where) for side in ("from", "to")]
                yield Pair(answer["id"], finding, *texts)
            elif "pair" not in finding and finding.get("from_text") and finding.get("to_text"):
                yield Pair(answer["id"], {**finding, "char_offset": None}, finding["from_text"], finding["to_text"])


@pytest.mark.skipif(not ANSWERS, reason="the shared cases are not here")
def test_values_of_the_shared_cases_are_what_their_answers_say() -> None:
    wrong, seen = [], set()
    for case, finding, before, after in pairs():
        hunk = hunks(before, after)[0]
        description = describe(before, after, hunk, label=finding["field"].rpartition("/")[2].replace("_", " "))
        seen.add(finding["kind"])
        kind = KINDS.get(finding["kind"])
        if description.kind not in ({kind} if kind else HARMLESS):
            wrong.append((case, finding["kind"], description.kind))
        if finding["char_offset"] not in (None, hunk.before_start):
            wrong.append((case, finding["char_offset"], hunk.before_start))
        quote = description.quote
        for expected, found in ((finding.get("from_text"), quote.from_text), (finding.get("to_text"), quote.to_text)):
            if finding["char_offset"] is not None and expected not in (None, found):
                wrong.append((case, expected, found))
    assert wrong == []
    assert seen >= set(KINDS)


@pytest.mark.skipif(not ANSWERS, reason="the shared cases are not here")
def test_every_difference_of_a_shared_case_is_described() -> None:
    kinds: dict[str, list[SpanKind]] = {}
    for case, _, before, after in pairs():
        kinds.setdefault(case[:3], []).extend(describe(before, after, hunk).kind for hunk in hunks(before, after))
    assert kinds["R02"] == [SpanKind.IDENTIFIER, SpanKind.CLOCK] * 2
    assert set(kinds["R15"]) == {SpanKind.JSON_FORM}
    assert set(kinds["R17"]) == {SpanKind.UNICODE}
    assert set(kinds["R32"]) == {SpanKind.PROSE}
