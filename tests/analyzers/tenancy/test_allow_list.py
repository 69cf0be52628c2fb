"""The allow-list: what is approved is no exposure, whatever its variables say; what a log suggests can be read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.auditing import SYSTEM, audit_records, call, finding, found

from prefixwise.analyzers.tenancy.approved import Approved, read_approved
from prefixwise.core.errors import UserError

TENANTS = ("ash", "birch", "cedar", "dogwood", "elder", "fern")
DATED = SYSTEM * 2 + "Today is {}. Be kind."


def dated(day: str = "2026-03-02", tenants: tuple[str, ...] = TENANTS) -> list[dict[str, Any]]:
    return [call(name, None, 60 * at, f"Question {at}?", DATED.format(day)) for at, name in enumerate(tenants)]


def suggested(folder: Path, records: list[dict[str, Any]], approved: Approved | None = None) -> Approved:
    saved: dict[str, str] = {}
    more = {} if approved is None else {"approved": approved}
    audit_records(folder, records, saved=saved, output={"write_approved": Path("approved.json")}, **more)
    path = folder / "approved.json"
    path.write_text(saved["approved.json"], encoding="utf-8")
    return read_approved(path)


def with_variables(folder: Path, *variables: tuple[str, str]) -> Approved:
    document = {"schema": "prefixwise/approved", "schema_version": 1, "prompts": []}
    document["variables"] = [{"name": name, "pattern": pattern} for name, pattern in variables]
    path = folder / "variables.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return read_approved(path)


def test_what_is_approved_is_no_exposure(tmp_path: Path) -> None:
    records = dated()
    before = audit_records(tmp_path, records).values
    after = audit_records(tmp_path, records, approved=suggested(tmp_path, records)).values
    assert before.exposed_tokens > 0
    assert after.exposed_tokens == 0
    assert {one.kind for one in before.shared} >= {"template-like"}
    assert {one.kind for one in after.shared} >= {"approved"}


def test_an_unknown_day_is_the_same_prompt_where_the_day_is_a_variable(tmp_path: Path) -> None:
    for declared, exposed in ((False, True), (True, False)):
        start = with_variables(tmp_path, ("day", r"\d{4}-\d{2}-\d{2}")) if declared else None
        approved = suggested(tmp_path, dated(), start)
        later = audit_records(tmp_path, dated("2026-03-03"), approved=approved).values
        assert (later.exposed_tokens > 0) is exposed


def test_prompts_of_few_tenants_are_written_but_not_approved(tmp_path: Path) -> None:
    few = suggested(tmp_path, dated(tenants=TENANTS[:2]))
    assert [(one.approved, one.tenants, one.kind) for one in few.file.prompts] == [(False, 2, "private")]
    assert not few
    many = suggested(tmp_path, dated())
    assert [(one.approved, one.tenants, one.kind) for one in many.file.prompts] == [(True, 6, "template-like")]


def test_prompts_with_secrets_are_never_suggested(tmp_path: Path) -> None:
    records = dated("postgres://desk:zK4-mQw7vB9xTr2@db.quay.internal:5432/ferries")
    assert suggested(tmp_path, records).file.prompts == ()


def test_a_variable_that_holds_a_value_a_tenant_is_told_of(tmp_path: Path) -> None:
    records = [call(name, None, at, "When?", DATED.format(f"the desk of {name}")) for at, name in enumerate(TENANTS)]
    approved = suggested(tmp_path, dated("the desk of nobody"), with_variables(tmp_path, ("desk", r"desk of \w+")))
    report = audit_records(tmp_path, records, approved=approved)
    assert "tenant-data-before-boundary" in found(report)
    assert "6 variants are approved as one" in finding(report, "tenant-data-before-boundary").message


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("{", "no allow-list"),
        ('{"schema": "prefixwise/lint", "schema_version": 1}', "not prefixwise/approved"),
        (
            '{"schema": "prefixwise/approved", "schema_version": 1, "variables": [{"name": "a", "pattern": "("}]}',
            "variable 'a'",
        ),
    ],
)
def test_files_that_are_no_allow_list(text: str, what: str, tmp_path: Path) -> None:
    path = tmp_path / "approved.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=what):
        read_approved(path)
