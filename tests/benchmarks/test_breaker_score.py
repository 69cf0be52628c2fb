"""The scorer of labelled logs on documents made by hand, and the script on stand-ins for the command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.breakers.logs import FAMILIES
from benchmarks.breakers.scene import Variant
from benchmarks.breakers.score import NOTHING, NotALintDocumentError, Verdict, judge, score
from benchmarks.breakers.tables import tell

ROOT = Path(__file__).parents[2]
STAND_IN = """
import json, re, sys
from benchmarks.breakers.logs import FAMILIES
name, variant = re.match(r"(\\w+)-\\d+-(\\w+)\\.jsonl", sys.argv[2].rsplit("/", 1)[-1]).groups()
assert sys.argv[1] == "lint" and sys.argv[3] == "--json" and open(sys.argv[2]).read().count("\\n") >= 40
rule = {rule}
finding = {{"rule": rule, "level": "error", "tokens_lost": {{"value": 5, "exact": True, "per": "call"}}}}
print(json.dumps({{"schema": "prefixwise/lint", "findings": [finding] if rule else []}}))
sys.exit(1 if rule else 0)
"""
KNOWS = 'FAMILIES[name].rule if variant == "broken" else ""'
BLAMES = '"clock-in-prefix"'


def document(*findings: tuple[str, str, int | None]) -> dict[str, Any]:
    return {
        "schema": "prefixwise/lint",
        "findings": [
            {
                "rule": rule,
                "level": level,
                "tokens_lost": None if lost is None else {"value": lost, "exact": True, "per": "once"},
            }
            for rule, level, lost in findings
        ],
    }


def verdict(family: str, variant: Variant, *findings: tuple[str, str, int | None], seed: int = 0) -> Verdict:
    return judge(FAMILIES[family], seed, variant, document(*findings))


def test_a_cause_is_named_when_it_comes_first_or_costs_most() -> None:
    first = verdict("ts_top", Variant.BROKEN, ("clock-in-prefix", "error", None), ("ttl-expired", "warning", 9))
    assert (first.is_found, first.is_named, first.wrong) == (True, True, ("ttl-expired",))
    most = verdict("ts_top", Variant.BROKEN, ("ttl-expired", "warning", 8), ("clock-in-prefix", "error", 9))
    assert (most.is_found, most.is_named) == (True, True)
    behind = verdict("ts_top", Variant.BROKEN, ("ttl-expired", "warning", 9), ("clock-in-prefix", "error", 8))
    assert (behind.is_found, behind.is_named, behind.found) == (True, False, ("ttl-expired", "clock-in-prefix"))


def test_information_counts_for_nothing() -> None:
    silent = verdict("ts_top", Variant.BROKEN, ("clock-in-prefix", "info", 900))
    assert (silent.is_found, silent.found) == (False, ())
    calm = verdict("ts_top", Variant.NEWEST, ("clock-in-prefix", "info", 900))
    assert (calm.expected, calm.found, calm.wrong) == ("", (), ())


def test_an_equal_name_is_as_good_and_anything_said_of_a_twin_is_wrong() -> None:
    other = verdict("json_in_system", Variant.BROKEN, ("schema-key-order", "error", 5))
    assert other.is_named
    assert other.expected == "unordered-iteration"
    twin = verdict("ts_top", Variant.CONSTANT, ("clock-in-prefix", "warning", 5))
    assert twin.wrong == ("clock-in-prefix",)
    control = verdict("clean", Variant.RIGHT, ("block-remainder", "warning", None))
    assert control.wrong == ("block-remainder",)


def test_rules_that_report_what_was_done_to_all_logs_are_left_out() -> None:
    said = document(("usage-missing", "warning", None), ("clock-in-prefix", "error", 1))
    found = judge(FAMILIES["ts_top"], 0, Variant.BROKEN, said, frozenset({"usage-missing"}))
    assert found.found == ("clock-in-prefix",)


@pytest.mark.parametrize("wrong", [{}, {"schema": "prefixwise/hitrate", "findings": []}, {"schema": "prefixwise/lint"}])
def test_another_document_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(NotALintDocumentError):
        judge(FAMILIES["ts_top"], 0, Variant.BROKEN, wrong)


def test_precision_recall_and_confusion_add_up() -> None:
    clock, nonce = "clock-in-prefix", "request-id-in-prefix"
    found = score(
        [
            verdict("ts_top", Variant.BROKEN, (clock, "error", 9)),
            verdict("ts_top", Variant.CONSTANT),
            verdict("epoch_mid", Variant.BROKEN, (nonce, "error", 9)),
            verdict("epoch_mid", Variant.CONSTANT, (clock, "warning", 1)),
            verdict("uuid_mid", Variant.BROKEN, (nonce, "error", 9), (clock, "warning", 2)),
            verdict("uuid_mid", Variant.CONSTANT),
            verdict("nonce_top", Variant.BROKEN),
            verdict("clean", Variant.RIGHT),
        ],
        FAMILIES,
    )
    tally = found.rules[clock]
    assert (tally.right, tally.wrong, tally.missed) == (1, 2, 1)
    assert (tally.precision, tally.recall) == (1 / 3, 1 / 2)
    tally = found.rules[nonce]
    assert (tally.right, tally.wrong, tally.missed) == (1, 1, 1)
    assert found.confusion == {
        (clock, clock): 1, (clock, nonce): 1, (nonce, nonce): 1, (nonce, clock): 1, (nonce, NOTHING): 1,
        (NOTHING, NOTHING): 3, (NOTHING, clock): 1,
    }  # fmt: skip
    assert [alarm.family for alarm in found.false_alarms] == ["epoch_mid"]
    (comparison,) = found.comparisons
    assert (comparison.causes, comparison.named, comparison.needed) == (4, 2, 4)
    assert not found.is_reached
    text = tell(found, FAMILIES)
    assert "seed 0: 2 of 4 causes of the openai comparison named, 4 needed: missed" in text
    assert "1 of 4 logs without a cause accused, 0 allowed: missed" in text
    assert json.loads(json.dumps(found.values()))["rules"][clock]["precision"] == 1 / 3


def all_named(but: set[str]) -> list[Verdict]:
    return [
        verdict(name, Variant.BROKEN, *([] if name in but else [(family.rule, "error", 1)]))
        for name, family in FAMILIES.items()
        if not family.is_control
    ]


def test_one_of_the_21_may_be_missed_and_none_of_the_11() -> None:
    assert score(all_named(but=set()), FAMILIES).is_reached
    assert score(all_named(but={"nfd"}), FAMILIES).is_reached
    assert not score(all_named(but={"nfd", "short"}), FAMILIES).is_reached
    assert not score(all_named(but={"a_gap"}), FAMILIES).is_reached
    assert score(all_named(but={"crlf", "a_image_pointer", "e_salt"}), FAMILIES).is_reached


def test_every_seed_must_reach_the_targets() -> None:
    second = [verdict("a_gap", Variant.BROKEN, seed=1)]
    found = score([*all_named(but=set()), *second], FAMILIES)
    assert [(each.name, each.seed, each.is_reached) for each in found.comparisons] == [
        ("openai", 0, True), ("anthropic", 0, True), ("anthropic", 1, False),
    ]  # fmt: skip


def script(tmp_path: Path, rule: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    stand_in = tmp_path / "stand_in.py"
    stand_in.write_text(STAND_IN.format(rule=rule), "utf-8")
    return subprocess.run(
        [sys.executable, "-m", "benchmarks.breakers", "--command", f"{sys.executable} {stand_in}", *arguments],
        cwd=ROOT, capture_output=True, text=True, env={"PYTHONPATH": str(ROOT)},
    )  # fmt: skip


def test_the_script_says_whether_the_targets_are_reached(tmp_path: Path) -> None:
    families = ("--families", "ts_top,a_gap,clean", "--seeds", "2")
    done = script(tmp_path, KNOWS, *families, "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["is_reached"]
    assert len(result["logs"]) == 10
    done = script(tmp_path, BLAMES, *families)
    assert done.returncode == 1, done.stderr
    assert "6 of 6 logs without a cause accused" in done.stdout


def test_without_usage_the_families_that_need_it_are_left_out(tmp_path: Path) -> None:
    done = script(tmp_path, KNOWS, "--families", "u_double,ts_top", "--no-usage", "--json")
    assert done.returncode == 0, done.stderr
    assert [log["family"] for log in json.loads(done.stdout)["logs"]] == ["ts_top", "ts_top"]


def test_what_cannot_run_ends_with_two(tmp_path: Path) -> None:
    done = script(tmp_path, KNOWS, "--families", "no_such")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no family no_such" in done.stderr
    done = script(tmp_path, "sys.exit(2)", "--families", "clean")
    assert (done.returncode, done.stdout) == (2, "")
    assert "ended with 2" in done.stderr
