"""What findings say, piece by piece; the goldens hold how it looks."""

from __future__ import annotations

from typing import Any

import pytest

from prefixwise.core.finding import (
    Confidence,
    Edit,
    Finding,
    Fix,
    Lost,
    Mode,
    Occurrence,
    Pair,
    Per,
    Safety,
    Severity,
    Where,
)
from prefixwise.core.report import Findings, Report
from prefixwise.core.request import Ref
from prefixwise.reports import finding_words as words
from prefixwise.reports.format import FORMATS

A = [Ref("a", number) for number in range(9)]


def finding(**more: Any) -> Finding:
    given: dict[str, Any] = {
        "rule": "clock-in-prefix",
        "code": "PC01",
        "severity": Severity.HIGH,
        "level": Severity.HIGH.level,
        "confidence": Confidence.CERTAIN,
        "mode": Mode.LOG,
        "where": Where.SYSTEM,
        "path": "a",
        "record": A[0],
        "message": "A clock.",
        "fix": Fix("", Safety.NONE),
        "fingerprint": "f",
    }
    return Finding(**given | more)


def shown(one: Finding, form: str = "text", width: int | None = 80, *, colour: bool = False) -> str:
    report = Report("s", 1, "lint", "Lint", (Findings("findings", "", (one,)),))
    return FORMATS.get(form).render(report, width=width, colour=colour)


def pair(before: Ref, after: Ref) -> Occurrence:
    return Occurrence(Pair(before, after), None, None, None)


def record(ref: Ref) -> Occurrence:
    return Occurrence(None, ref, None, None)


@pytest.mark.parametrize(
    ("lost", "usd", "said"),
    [
        (Lost(12340, True, Per.ONCE), 0.1234, "12,340 tokens · $0.1234 lost"),
        (Lost(1, False, Per.CALL), None, "about 1 token lost"),
        (Lost(2, True, Per.DAY), 3.0, "2 tokens · $3.00 lost"),
        (Lost(0, True, Per.ONCE), 0.0, "0 tokens · $0.00 lost"),
        (None, 5.5, "$5.50 lost"),
        (None, None, ""),
    ],
)
def test_the_loss(lost: Lost | None, usd: float | None, said: str) -> None:
    assert words.loss(finding(tokens_lost=lost, usd_lost=usd)) == said


@pytest.mark.parametrize(
    ("occurrences", "said"),
    [
        ([], ""),
        ([record(A[0])], ""),
        ([pair(A[0], A[1])], "#0→#1"),
        ([pair(A[0], A[1]), pair(A[0], A[1])], "#0→#1"),
        ([pair(Ref("b", 0), A[1])], "b#0→a#1"),
        ([pair(A[0], A[1]), pair(A[1], A[2])], "2 pairs: #0→#1, #1→#2"),
        ([record(ref) for ref in A[:3]], "3 records: #0, #1, #2"),
        ([record(ref) for ref in A], "9 records: #0, #1, #2 and 6 more"),
        ([record(A[0]), pair(A[1], Ref("b", 2)), pair(A[3], A[4])], "3 places: #0, #1→b#2, a#3→#4"),
    ],
)
def test_the_places(occurrences: list[Occurrence], said: str) -> None:
    assert words.places(finding(occurrences=tuple(occurrences))) == said


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("09:14:07", "09:14:52", [("-", "09:14:07"), ("+", "09:14:52")]),
        ("a ", "a", [("-", '"a "'), ("+", '"a"')]),
        ("a  b", "a b", [("-", '"a  b"'), ("+", '"a b"')]),
        ("", "new", [("-", '""'), ("+", '"new"')]),
        (None, "new", [("+", "new")]),
        ("", "", []),
        (None, None, []),
    ],
)
def test_the_differing_texts(before: str | None, after: str | None, said: list[tuple[str, str]]) -> None:
    assert words.texts(finding(from_text=before, to_text=after)) == said


def test_the_spot() -> None:
    assert words.spot(finding(field="/tools/0", char_offset=None)) == "/tools/0"
    assert words.spot(finding(field="/a", char_offset=0)) == "/a, character 0"
    assert words.spot(finding(field="")) == "the whole body"
    assert words.spot(finding()) == ""


def test_the_fix_says_whether_it_may_be_applied_without_a_look() -> None:
    edit = Edit("a", 0, 1, "")
    assert words.remedy(finding(fix=Fix("Sort.", Safety.SAFE, (edit, edit)))) == "Sort. (safe, 2 edits)"
    assert words.remedy(finding(fix=Fix("Move it.", Safety.UNSAFE, (edit,)))) == "Move it. (unsafe, 1 edit)"
    assert words.remedy(finding(fix=Fix("Move it.", Safety.UNSAFE))) == "Move it."
    assert words.remedy(finding(fix=Fix("Think.", Safety.NONE))) == "Think."


def test_doubt_is_said() -> None:
    assert words.named(finding()) == "clock-in-prefix (PC01)"
    assert words.named(finding(confidence=Confidence.POSSIBLE, code="")) == "clock-in-prefix, possible"


@pytest.mark.parametrize("width", [40, 60, 80, 120, None])
def test_a_header_is_broken_between_its_parts(width: int | None) -> None:
    one = finding(tokens_lost=Lost(12340, True, Per.CALL), usd_lost=0.1)
    document = shown(one, width=width)
    for part in ("a#0", "error", "clock-in-prefix (PC01)", "12,340 tokens · $0.1000 lost"):
        assert part in document
    assert width is None or max(map(len, document.splitlines())) <= width


def test_only_what_differs_stands_out() -> None:
    document = shown(finding(from_text="at 09:14:07 in Oslo", to_text="at 09:14:52 in Oslo"), colour=True)
    assert "\x1b[1;31m07\x1b[0m" in document
    assert "\x1b[1;32m52\x1b[0m" in document
    grown = shown(finding(from_text="aa", to_text="aaa"), colour=True)
    assert "\x1b[1;32ma\x1b[0m" in grown


def test_escape_sequences_and_markup_are_only_text() -> None:
    one = finding(from_text="\x1b[2Jx", to_text="[bold]x[/bold]", evidence=("[red]why[/red]",), also_rules=("\u202ea",))
    for form in ("text", "markdown", "concise", "csv"):
        document = shown(one, form)
        assert not {"\x1b", "\u202e"} & set(document)
    document = shown(one)
    assert r"- \x1b[2Jx" in document
    assert "+ [bold]x[/bold]" in document
    assert "[red]why[/red]" in document


def test_a_text_cannot_end_its_fence() -> None:
    lines = shown(finding(from_text="```", to_text="~~~\n```"), "markdown").splitlines()
    fences = [line.strip() for line in lines if line.strip().startswith("```")]
    assert fences == ["```diff", "```"]


def test_concise_is_one_line_a_finding() -> None:
    one = finding(pair=Pair(A[0], A[1]), message="A clock,\nin two lines.")
    assert shown(one, "concise", 40) == "a#1: error clock-in-prefix: A clock,\\nin two lines.\n1 error\n"
    nothing = Report("s", 1, "lint", "Lint", (Findings("findings", "", ()),))
    assert FORMATS.get("concise").render(nothing) == "no findings\n"


def test_a_file_called_like_a_command_makes_no_line_one() -> None:
    for path in (":", "::error", " :"):
        document = shown(finding(path=path, record=None, pair=None), "concise")
        assert not document.lstrip().startswith("::")
