"""The grader of labelled cases: it passes right answers, and fails each kind of wrong one."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.cases import LintFailedError, cases_in, grade, grade_folder, main, same_field, totals

Json = dict[str, Any]
ROOT = Path(__file__).parents[2]

ANSWER: Json = {
    "id": "T01-clock",
    "input": {"files": ["log.jsonl"], "mode": "log", "record_path": "/request"},
    "findings": [
        {
            "kind": "clock-in-prefix",
            "severity": "critical",
            "pair": {"from": 0, "to": 1},
            "field": "/messages/0/content",
            "char_offset": 40,
            "alternatives": ["counter-in-prefix"],
        }
    ],
    "pairs": [{"from": 0, "to": 1, "verdict": "breaks"}, {"from": 1, "to": 2, "verdict": "extends"}],
    "must_not_flag": [{"text": "2026-01-01", "why": "constant"}],
}


def ref(record: int) -> Json:
    return {"path": "log.jsonl", "record": record, "line": record + 1, "side": "request"}


def occurrence(pair: tuple[int, int] | None = (0, 1), field: str | None = "/messages/0/content", **more: Any) -> Json:
    found: Json = {"pair": None, "record": None, "field": field, "char_offset": 40, **more}
    return found | ({"pair": {"from": ref(pair[0]), "to": ref(pair[1])}} if pair else {})


def finding(rule: str = "clock-in-prefix", level: str = "error", *shown: Json, **more: Any) -> Json:
    found = {"rule": rule, "level": level, "occurrences": list(shown or [occurrence()]), "from_text": "09:14:07"}
    return found | {"to_text": "09:15:00"} | more


def document(*findings: Json) -> Json:
    pairs = [
        {"from": ref(0), "to": ref(1), "verdict": "breaks"},
        {"from": ref(1), "to": ref(2), "verdict": "ttl_gap"},
    ]
    return {"findings": list(findings), "pairs": pairs}


def answer(**changed: Any) -> Json:
    made = copy.deepcopy(ANSWER)
    made["findings"][0] |= changed
    return {**made, "findings": [{k: v for k, v in made["findings"][0].items() if v is not None}]}


def test_a_right_answer_passes() -> None:
    result = grade(ANSWER, document(finding()))
    assert result.is_right
    assert (result.expected, result.found) == (1, 1)
    assert (result.pairs_agreeing, result.pairs) == (1, 2)


@pytest.mark.parametrize(
    "right",
    [
        finding("counter-in-prefix"),
        finding("clock-in-prefix", "warning", occurrence((1, 2)), occurrence(char_offset=48)),
        finding("clock-in-prefix", "error", occurrence(char_offset=32)),
        finding("clock-in-prefix", "error", occurrence(char_offset=None)),
        finding("clock-in-prefix", "error", occurrence(field="/messages/0")),
        finding("clock-in-prefix", "error", occurrence(field="/messages/0/content/0/text")),
    ],
    ids=["alternative", "second occurrence", "near offset", "no offset", "ancestor", "descendant"],
)
def test_what_counts_as_found(right: Json) -> None:
    assert grade(ANSWER, document(right)).is_right


@pytest.mark.parametrize(
    ("wrong", "nearest"),
    [
        (None, "no finding of"),
        (finding("request-id-in-prefix"), "no finding of"),
        (finding("clock-in-prefix", "info"), "info only"),
        (finding("clock-in-prefix", "error", occurrence((1, 2))), "pair or record"),
        (finding("clock-in-prefix", "error", occurrence((1, 0))), "pair or record"),
        (finding("clock-in-prefix", "error", occurrence(None, record=ref(1))), "pair or record"),
        (finding("clock-in-prefix", "error", occurrence(field="/messages/1/content")), "another field"),
        (finding("clock-in-prefix", "error", occurrence(field="/messages")), "another field"),
        (finding("clock-in-prefix", "error", occurrence(field=None)), "another field"),
        (finding("clock-in-prefix", "error", occurrence(char_offset=49)), "another offset"),
        (finding("clock-in-prefix", "error", occurrence(char_offset=31)), "another offset"),
        (
            finding("clock-in-prefix", "error", occurrence((0, 1), "/tools/0"), occurrence((1, 2))),
            "another field",
        ),
    ],
)
def test_what_counts_as_missed(wrong: Json | None, nearest: str) -> None:
    result = grade(ANSWER, document(*([wrong] if wrong else [])))
    assert [miss.kind for miss in result.misses] == ["clock-in-prefix"]
    assert nearest in result.misses[0].nearest
    assert not result.is_right


def test_findings_without_pair_are_about_the_whole_file_or_one_record() -> None:
    somewhere = finding("clock-in-prefix", "error", occurrence((3, 4)))
    assert grade(answer(pair=None), document(somewhere)).is_right
    assert grade(answer(pair=None, record=4), document(somewhere)).is_right
    assert not grade(answer(pair=None, record=3), document(somewhere)).is_right
    in_record = finding("clock-in-prefix", "error", occurrence(None, record=ref(3)))
    assert grade(answer(pair=None, record=3), document(in_record)).is_right
    assert grade(answer(pair=None, field=None, char_offset=None), document(in_record)).is_right


def test_info_is_enough_where_info_is_expected() -> None:
    assert grade(answer(severity="info"), document(finding("clock-in-prefix", "info"))).is_right


def test_anything_else_above_info_is_a_false_alarm() -> None:
    others = [finding("tools-reordered", level) for level in ("error", "warning", "info")]
    result = grade(ANSWER, document(finding(), *others))
    assert [(alarm.rule, alarm.level) for alarm in result.alarms] == [
        ("tools-reordered", "error"),
        ("tools-reordered", "warning"),
    ]
    assert not result.is_right


def test_a_negative_case_bears_nothing_above_info() -> None:
    negative = {**ANSWER, "findings": []}
    assert grade(negative, document()).is_right
    assert grade(negative, document(finding(level="info"))).is_right
    assert not grade(negative, document(finding(level="warning"))).is_right


@pytest.mark.parametrize("where", ["from_text", "to_text"])
def test_what_rests_on_innocent_text_is_a_false_alarm_of_an_expected_rule_too(where: str) -> None:
    result = grade(ANSWER, document(finding(), finding(**{where: "since 2026-01-01 at"})))
    assert ["rests on" in alarm.reason for alarm in result.alarms] == [True]
    assert grade(ANSWER, document(finding(), finding(level="info", **{where: "2026-01-01"}))).is_right


def test_findings_without_occurrences_are_taken_by_their_own_place() -> None:
    bare = {**finding(), **occurrence(), "occurrences": []}
    assert grade(ANSWER, document(bare)).is_right


@pytest.mark.parametrize(
    ("wanted", "given", "record_path", "agree"),
    [
        ("/tools/2/name", "/tools/2", "/request", True),
        ("/tools/2/name", "/tools", "/request", False),
        ("/reasoning/effort", "/reasoning", "/request", True),
        ("/reasoning/effort/x", "/reasoning", "/request", False),
        ("/system", "/system/0/text", "/request", True),
        ("/system/0/text", "/system/1/text", "/request", False),
        ("/model", "", "", False),
        ("/messages/*/content/*/cache_control", "/messages/2/content/0/cache_control", "/request", True),
        ("/messages/2/content/*/cache_control", "/messages/3/content/0/cache_control", "/request", False),
        ("/observations/*/usageDetails", "record:/usageDetails", "/observations/*", True),
        ("/observations/*/usageDetails", "record:/observations/1/usageDetails", "/observations/*", True),
        ("/observations/*/usageDetails", "record:/usage", "/observations/*", False),
        ("record:/usageDetails/input", "record:/usageDetails/input", "/data/*/input", True),
        ("record:/usageDetails", "record:/data/0/usageDetails/input", "/data/*/input", True),
        ("record:/response/usage", "record:/response/usage/prompt_tokens", "/request", True),
        ("/response/usage", "record:/response/usage", "/request", True),
        ("record:/headers/anthropic-beta", "record:/headers", "/request", True),
        ("/request/messages/2/content", "/messages/2/content", "/request", True),
        ("/messages/0/content", None, "", False),
    ],
)
def test_fields(wanted: str, given: str | None, record_path: str, agree: bool) -> None:
    assert same_field(wanted, given, record_path) is agree


# -- sources ------------------------------------------------------------------------------------------------------

PROMPT = "Rules of 2026-01-01.\nIt is {{ now }}.\n\n\nOrders from {{ today }} on.\nThe rest.\n"
SOURCES = {"prompts/desk.md": PROMPT, "desk.md": ""}


def static_answer(field: str = "prompts/desk.md:2", *innocent: str) -> Json:
    expected = {"kind": "clock-in-prefix", "severity": "critical", "field": field}
    flags = [{"text": text, "why": "constant"} for text in innocent]
    return {**ANSWER, "findings": [expected], "pairs": [], "must_not_flag": flags}


def found_at(quote: str, path: str = "/somewhere/prompts/desk.md", **more: Any) -> Json:
    start = PROMPT.index(quote)
    span = {"line": PROMPT.count("\n", 0, start) + 1, "start": start, "end": start + len(quote)}
    found = {"rule": "clock-in-prefix", "level": "error", "path": path, "span": span, "occurrences": []}
    return found | {"from_text": None, "to_text": None} | more


@pytest.mark.parametrize("field", ["prompts/desk.md:1", "prompts/desk.md:2", "prompts/desk.md:3", "prompts/desk.md"])
def test_findings_of_sources_are_found_within_a_line(field: str) -> None:
    assert grade(static_answer(field), document(found_at("{{ now }}")), SOURCES).is_right


@pytest.mark.parametrize(
    ("given", "nearest"),
    [
        (found_at("{{ today }}"), "in another line"),
        (found_at("{{ now }}", "/somewhere/desk.md"), "in another file"),
        (found_at("{{ now }}", "/somewhere/old-prompts/desk.md"), "in another file"),
        (found_at("{{ now }}", level="info"), "info only"),
        (found_at("{{ now }}", rule="counter-in-prefix"), "no finding of"),
    ],
)
def test_findings_of_sources_are_missed(given: Json, nearest: str) -> None:
    result = grade(static_answer(), document(given), SOURCES)
    assert [nearest in miss.nearest for miss in result.misses] == [True]


def test_findings_that_stand_in_innocent_text_are_false_alarms() -> None:
    both = document(found_at("{{ now }}"), found_at("{{ today }}"))
    assert grade(static_answer(), both, SOURCES).is_right
    assert grade(static_answer("prompts/desk.md:2", "2026-01-01", "The rest."), both, SOURCES).is_right
    result = grade(static_answer("prompts/desk.md:2", "from {{ today }} on"), both, SOURCES)
    assert [(alarm.place, alarm.reason) for alarm in result.alarms] == [
        ("/somewhere/prompts/desk.md:5", "rests on 'from {{ today }} on'")
    ]


def test_sources_are_linted_by_the_library(tmp_path: Path) -> None:
    rules = "Answer from the timetable and name the quay. " * 30
    (tmp_path / "desk.md").write_text(f"It is {{{{ now }}}}.\n{rules}\n{{{{ question }}}}\n")
    given = {"files": ["desk.md"], "mode": "static"}
    (tmp_path / "expected.json").write_text(json.dumps({**static_answer("desk.md:1"), "input": given}))
    assert grade_folder(tmp_path).is_right
    (tmp_path / "desk.md").write_text("{% if %}")
    assert "not read" in grade_folder(tmp_path).failure


# -- folders ------------------------------------------------------------------------------------------------------


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    for name, changed in (("a", {}), ("b", {"findings": []})):
        (tmp_path / name).mkdir()
        (tmp_path / name / "expected.json").write_text(json.dumps({**ANSWER, "id": name, **changed}))
    return tmp_path


def test_a_folder_is_graded_case_by_case(cases: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(cases)], lambda folder, _: document(*([finding()] if folder.name == "a" else []))) == 0
    told = capsys.readouterr().out
    assert "2 of 2 cases right; 1 of 1 findings found; 0 false alarms" in told


def test_misses_and_false_alarms_fail_the_run_and_are_named(cases: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(cases)], lambda folder, _: document(*([finding()] if folder.name == "b" else []))) == 1
    told = capsys.readouterr().out
    assert "missed clock-in-prefix 0->1 /messages/0/content" in told
    assert "false alarm clock-in-prefix" in told
    assert "0 of 2 cases right; 0 of 1 findings found; 1 false alarms" in told


def test_a_run_that_failed_fails_its_case(cases: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def broken(*_: object) -> Json:
        raise LintFailedError("exit code 2: no such file")

    assert main([str(cases), "--only", "b"], broken) == 1
    told = capsys.readouterr().out
    assert "FAILED b" in told
    assert "exit code 2: no such file" in told
    assert "1 runs failed" in told


def test_nothing_to_grade_is_an_error(tmp_path: Path) -> None:
    assert main([str(tmp_path)]) == 2


def test_a_silent_linter_misses_every_finding_of_our_cases_and_a_perfect_one_none() -> None:
    folders = cases_in(ROOT / "fixtures" / "cases")
    silent = [grade_folder(folder, lambda *_: document()) for folder in folders]
    wanted = sum(one.expected for one in silent)
    assert wanted > 100
    assert totals(silent).split("; ")[1] == f"0 of {wanted} findings found"
    assert all(grade_folder(folder, _perfect).is_right for folder in folders)


def _perfect(folder: Path, _: Json) -> Json:
    """Answer as `expected.json` says."""
    wanted = json.loads((folder / "expected.json").read_text(encoding="utf-8"))["findings"]
    findings = []
    for one in wanted:
        name, _, line = one.get("field", "").rpartition(":")
        if name and line.isdecimal():
            place = {"path": name, "span": {"line": int(line), "start": 0, "end": 0}}
            findings.append({"rule": one["kind"], "level": "info" if one["severity"] == "info" else "error", **place})
            continue
        shown: Json = {"pair": None, "record": None, "field": one.get("field"), "char_offset": one.get("char_offset")}
        if "pair" in one:
            shown["pair"] = {"from": ref(one["pair"]["from"]), "to": ref(one["pair"]["to"])}
        elif "record" in one:
            shown["record"] = ref(one["record"])
        level = "info" if one["severity"] == "info" else "error"
        findings.append(
            {"rule": one["kind"], "level": level, "occurrences": [shown], "from_text": None, "to_text": None}
        )
    return {"findings": findings, "pairs": []}
