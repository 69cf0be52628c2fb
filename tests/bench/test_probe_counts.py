"""Counts that are missing, always 0 or lies: told as what they are, and times take over where they can."""

from __future__ import annotations

import pytest
from support.probing import TIMED, one, probed

from prefixwise.bench.probe.finding import Verdict


def test_counts_that_are_right_are_believed() -> None:
    found = one("usage")
    assert (found.verdict, found.facts["counting"]) == (Verdict.MEASURED, "right")


@pytest.mark.parametrize(
    ("fault", "counting", "verdict"),
    [
        ("usage=missing", "missing", Verdict.INFERRED),
        ("usage=zero", "zero", Verdict.INFERRED),
        ("usage=lie", "wrong", Verdict.MEASURED),
    ],
)
def test_counts_that_are_not_right_are_told_and_times_take_over(fault: str, counting: str, verdict: Verdict) -> None:
    report = probed(
        "usage",
        "replicas",
        "block-size",
        "minimum",
        "visibility",
        faults=[fault],
        model=TIMED,
        length=256 if fault == "usage=missing" else 1024,
    )
    usage, replicas, block, minimum, visibility = report.values.findings
    assert usage.facts["counting"] == counting
    assert block.verdict is Verdict.INCONCLUSIVE
    assert report.exit_code == 4
    # A machine that is busy may leave times too far apart to tell anything; what they tell is true.
    assert usage.verdict in {verdict, Verdict.INCONCLUSIVE}
    for found, holds in ((replicas, 1.0), (visibility, None), (minimum, None)):
        assert found.verdict in (Verdict.INFERRED, Verdict.INCONCLUSIVE)
        if found.verdict is Verdict.INFERRED and holds is not None:
            assert found.value == holds


@pytest.mark.parametrize("faults", [["no-cache"], ["no-cache", "usage=missing"]], ids=["counted", "not counted"])
def test_nothing_is_found_where_nothing_is_cached(faults: list[str]) -> None:
    usage, block = probed(
        "usage", "block-size", faults=faults, model=TIMED, length=256 if len(faults) > 1 else 1024
    ).values.findings
    assert usage.verdict in (Verdict.ABSENT, Verdict.INCONCLUSIVE)
    assert block.verdict is usage.verdict
    assert block.value is None


def test_salts_that_are_ignored_at_times_decide_nothing() -> None:
    report = probed("block-size", "minimum", faults=["contaminated=0.5"], settle=0.1, replicates=6)
    # What is written under one salt and read under none is not found: no count fits the others.
    assert {found.verdict for found in report.values.findings} == {Verdict.INCONCLUSIVE}
    assert report.exit_code == 4


def test_answers_that_come_late_or_fail_do_not_change_what_is_counted() -> None:
    found = one("block-size", faults=["delay=0.01"])
    assert (found.verdict, found.value) == (Verdict.MEASURED, 16)
