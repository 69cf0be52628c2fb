"""The shared cases of templates: everything that has to be found, at its line, and nothing else above info."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from prefixwise.analyzers.static.sources import Source
from prefixwise.analyzers.static.templates.read import read_template
from prefixwise.analyzers.static.volatile import VolatileKind
from prefixwise.core.finding import Confidence, Severity

CASES = Path(__file__).parents[5] / "shared" / "cases"
NAMES = ("R28-template-date-jinja", "R30-prompt-md-volatile-top", "R38-neg-prompt-md-changelog")
KINDS = {
    VolatileKind.CLOCK: "clock-in-prefix",
    VolatileKind.IDENTIFIER: "request-id-in-prefix",
    VolatileKind.PERSON: "user-data-first",
    VolatileKind.RETRIEVED: "retrieved-text-in-prefix",
}


@pytest.mark.skipif(not CASES.exists(), reason="the shared cases are not here")
@pytest.mark.parametrize("name", NAMES)
def test_a_shared_case(name):
    expected = json.loads((CASES / name / "expected.json").read_text(encoding="utf-8"))
    (file,) = expected["input"]["files"]
    findings = read_template(Source(file, (CASES / name / file).read_text(encoding="utf-8")))
    found = {(KINDS[one.kind], f"{file}:{one.span.line}", one.quote) for one in findings.volatiles}
    found |= {
        (one.rule, f"{file}:{one.span.line}", one.quote) for one in findings.traits if one.severity is not Severity.INFO
    }
    assert found == {(one["kind"], one["field"], one["from_text"]) for one in expected["findings"]}
    assert [one for one in findings.stranded if one.confidence is not Confidence.POSSIBLE] == []
    rendered = {one["rendered_at"] for one in expected["findings"] if "rendered_at" in one}
    assert {f"{file}:{one.flow[-1].span.line}" for one in findings.traits if one.flow} == rendered
