"""Markdown that fits a comment on a pull request."""

from __future__ import annotations

import msgspec
import pytest

from prefixwise.core.finding import Finding
from prefixwise.core.report import Column, Findings, Report, Table, Text
from prefixwise.reports.format import FORMATS
from prefixwise.reports.formats.markdown import COMMENT

CUT = "*This is cut"


def written(*blocks: object, **more: object) -> str:
    report = Report("prefixwise/test", 1, "test", "Test", blocks, **more)  # type: ignore[arg-type]
    return FORMATS.get("markdown").render(report)


@pytest.fixture
def finding(reports: dict[str, Report]) -> Finding:
    return reports["everything"].findings[0]


def test_what_is_said_of_a_finding_unfolds(finding: Finding) -> None:
    document = written(Findings("f", "", (finding,)))
    first, rest = document.split("  <details><summary>details</summary>\n\n")
    assert "**error** clock-in-prefix (PC01) at logs/a.jsonl\\#1" in first.replace("#<!-- -->", "\\#")
    assert "12,340 tokens" in first
    inside, behind = rest.split("\n\n  </details>")
    assert inside.startswith("  - at: /messages/0/content, character 29\n    ```diff\n")
    assert behind == "\n\n1 error\n"


def test_many_findings_are_cut_between_two_and_the_cut_is_said(finding: Finding) -> None:
    many = tuple(msgspec.structs.replace(finding, message=f"Number {number}.") for number in range(400))
    document = written(Findings("f", "", many), notes=("the last word",))
    assert COMMENT - 2000 < len(document) <= COMMENT
    assert document.count("<details>") == document.count("</details>") == document.count("**error**")
    assert document.count("```diff") * 2 == document.count("```")
    assert CUT in document
    assert document.endswith("- **note:** the last word\n")
    assert CUT not in written(Findings("f", "", many[:20]))


def test_a_long_table_keeps_the_rows_that_fit() -> None:
    rows = tuple((f"row {number}", "x" * 90) for number in range(3000))
    document = written(Table("t", "T", (Column("a", "a"), Column("b", "b")), rows), Text("x", ("behind",)))
    assert len(document) <= COMMENT
    lines = document.splitlines()
    shown = [line for line in lines if line.startswith("| row")]
    assert shown == [f"| row {number} | {'x' * 90} |" for number in range(len(shown))]
    assert len(shown) > 500
    assert "behind" not in document
    assert CUT in lines[-1]


@pytest.mark.parametrize("size", [COMMENT, 10 * COMMENT])
def test_a_single_long_text_or_many_notes_do_not_break_the_limit(size: int) -> None:
    assert len(written(Text("x", ("word " * (size // 5),)))) <= COMMENT
    assert len(written(notes=("a note",) * (size // 10))) <= COMMENT
