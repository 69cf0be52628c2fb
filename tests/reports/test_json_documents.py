"""JSON documents against the JSON Schemas that `prefixwise schema` prints."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator, ValidationError

from prefixwise.analyzers.lint.document import LINT, LintValues, lint_input, lint_summary
from prefixwise.core.finding import ComparedPair, Finding, Level, Pair, Severity, Verdict
from prefixwise.core.report import Findings, InputFile, Report
from prefixwise.core.suppression import Suppression, SuppressionKind
from prefixwise.reports.format import FORMATS
from prefixwise.reports.json_schema import json_schema, schema_document
from prefixwise.workflows.documents import document_kinds

# As issue 5 lists them.
FINDING = (
    "rule, code, severity, level, confidence, mode, where, path, span, record, pair, occurrences, field, char_offset, "
    "from_text, to_text, flow, tokens_lost, usd_lost, evidence, message, fix, fingerprint, also_rules"
)
PAIR = "from, to, verdict, field, char_offset, kept_tokens"
INPUT = "path, format, provider, mode, record_path, records, broken, reason_skipped"


def lint_report(findings: tuple[Finding, ...]) -> Report:
    """Return a lint report as the command will make it."""
    read = InputFile("logs/a.jsonl", "openai-chat", "log", "/request", 13, 1)
    skipped = InputFile("logs/readme.txt", "", "log", "", 0, 0, "no records")
    pairs = [finding.pair for finding in findings if finding.pair is not None]
    values = LintValues(
        inputs=(lint_input(read, "openai"), lint_input(skipped, "")),
        findings=findings,
        pairs=tuple(_compared(pair) for pair in pairs),
        suppressed=findings[:1],
        suppressions=tuple(Suppression(SuppressionKind.INLINE, "known", one.path, 3) for one in findings[:1]),
        summary=lint_summary(findings),
    )
    return Report(
        schema=LINT.schema,
        schema_version=LINT.version,
        command="lint",
        title="Lint of 13 requests",
        blocks=(Findings("findings", "", findings),),
        values=values,
        inputs=(read, skipped),
        notes=("a note",),
        flat=True,
    )


def _compared(pair: Pair) -> ComparedPair:
    return ComparedPair(pair.before, pair.after, Verdict.BREAKS, "/messages/0/content", 29, 12)


def written(report: Report) -> Any:
    return json.loads(FORMATS.get("json").render(report))


def test_a_flat_document_has_its_values_at_the_top(reports: dict[str, Report]) -> None:
    document = written(lint_report(findings_of(reports["everything"])))
    assert ", ".join(document) == (
        "schema, schema_version, tool, inputs, findings, pairs, suppressed, summary, suppressions, "
        "command, title, environment, seed, notes, requirements"
    )
    assert [", ".join(item) for item in (document["inputs"][0], document["findings"][0], document["pairs"][0])] == [
        INPUT,
        FINDING,
        PAIR,
    ]
    assert document["inputs"][1]["reason_skipped"] == "no records"
    assert document["inputs"][0]["reason_skipped"] is None
    assert document["findings"][2]["tokens_lost"] is document["findings"][2]["pair"] is None
    assert document["summary"] == {
        "by_rule": {"clock-in-prefix": 1, "unordered-iteration": 1, "usage-missing": 1},
        "by_level": {"error": 1, "warning": 1, "info": 1},
    }


def test_a_lint_document_without_findings_has_every_key() -> None:
    document = written(lint_report(()))
    assert document["findings"] == document["pairs"] == document["suppressed"] == []
    assert document["summary"] == {"by_rule": {}, "by_level": {"error": 0, "warning": 0, "info": 0}}


@pytest.mark.parametrize("name", ["everything", "hostile"])
def test_lint_documents_are_valid(reports: dict[str, Report], name: str) -> None:
    Draft202012Validator(json_schema(LINT)).validate(written(lint_report(findings_of(reports[name]))))


def test_every_key_is_required_and_kinds_of_values_are_held_to(reports: dict[str, Report]) -> None:
    validator = Draft202012Validator(json_schema(LINT))
    document = written(lint_report(findings_of(reports["everything"])))
    for key in document:
        with pytest.raises(ValidationError):
            validator.validate({k: v for k, v in document.items() if k != key})
    for key in document["findings"][0]:
        finding = {k: v for k, v in document["findings"][0].items() if k != key}
        with pytest.raises(ValidationError):
            validator.validate(document | {"findings": [finding]})
    for changed in ({"level": "fatal"}, {"char_offset": 1.5}, {"fix": None}, {"evidence": "x"}):
        with pytest.raises(ValidationError):
            validator.validate(document | {"findings": [document["findings"][0] | changed]})
    validator.validate(document | {"a_later_key": 1})
    with pytest.raises(ValidationError):
        validator.validate(document | {"schema_version": 2})


@pytest.mark.parametrize("kind", document_kinds(), ids=lambda kind: kind.name)
def test_schemas_are_valid_and_hold_no_more_than_they_need(kind: Any) -> None:
    schema = json.loads(schema_document(kind))
    Draft202012Validator.check_schema(schema)
    assert schema["title"] == f"{kind.schema} {kind.version}"
    assert schema_document(kind) == schema_document(kind)
    text = json.dumps(schema)
    assert all(f'"#/$defs/{name}"' in text for name in schema["$defs"])


def test_what_may_fail_a_run_is_what_was_asked_for(reports: dict[str, Report]) -> None:
    error, warning, info = findings_of(reports["everything"])
    for findings, codes in (((error,), "1110"), ((warning,), "0110"), ((info,), "0010"), ((), "0000")):
        report = lint_report(findings)
        for fail_on, code in zip((Level.ERROR, Level.WARNING, Level.INFO, None), codes, strict=True):
            assert msgspec.structs.replace(report, fail_on=fail_on).exit_code == int(code)


def test_levels_follow_severities() -> None:
    levels = [severity.level.value for severity in Severity]
    assert levels == ["error", "error", "warning", "warning", "info"]


def findings_of(report: Report) -> tuple[Finding, ...]:
    return next(block.findings for block in report.blocks if isinstance(block, Findings))
