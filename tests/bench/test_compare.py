"""Two cold-against-warm runs compared: what is a change, and what is noise."""

from __future__ import annotations

import math

import msgspec
import pytest
from support.ttft_runs import pairs, run, write

from prefixwise.bench.ttft.compare import FIGURES, Change, Ratio, change, compared_runs, comparison_report, required
from prefixwise.bench.ttft.estimate import Pair, estimate
from prefixwise.bench.ttft.verdict import Verdict
from prefixwise.core.condition import parse_condition
from prefixwise.core.errors import UserError
from prefixwise.reports.format import FORMATS
from prefixwise.stats.interval import Interval
from prefixwise.workflows.comparing import compare


def test_the_ratio_is_that_of_the_speedups_whatever_the_machine_does():
    """The second machine is half as fast: times double, the speed-up does not change."""
    found = compared_runs(run((1024, pairs(4.0))), run((1024, pairs(4.0, seed=2, cold=0.8)))).lengths[0]
    assert found.speedup.value == pytest.approx(1.0, abs=0.08)
    assert 1.0 in found.speedup.interval
    assert found.cold.value == pytest.approx(2.0, rel=0.08)
    assert found.warm.value == pytest.approx(2.0, rel=0.08)
    assert found.change is not Change.UP
    assert found.change is not Change.DOWN


def test_a_ratio_worked_out_by_hand():
    old = tuple(Pair(2.0, 1.0) for _ in range(7))
    new = tuple(Pair(6.0, 1.5) for _ in range(7))
    found = compared_runs(run((1024, old)), run((1024, new))).lengths[0]
    assert (found.old, found.new) == (pytest.approx(2), pytest.approx(4))
    assert found.speedup.value == pytest.approx(2)
    assert (found.speedup.interval.low, found.speedup.interval.high) == (pytest.approx(2), pytest.approx(2))
    assert (found.cold.value, found.warm.value) == (pytest.approx(3), pytest.approx(1.5))


@pytest.mark.parametrize(
    ("low", "high", "noise", "said"),
    [
        (1.10, 1.30, 0.05, Change.UP),
        (1.10, 1.30, 0.219, Change.OPEN),  # two runs of one set-up differed by as much
        (0.60, 0.80, 0.219, Change.DOWN),
        (0.70, 0.85, 0.219, Change.OPEN),
        (0.97, 1.04, 0.05, Change.SAME),
        (0.90, 1.04, 0.05, Change.OPEN),
        (1.10, 1.30, None, Change.OPEN),
    ],
)
def test_a_change_is_larger_than_noise_over_its_whole_interval(low, high, noise, said):
    assert change(Ratio(math.sqrt(low * high), Interval(low, high, 0.95, None, "")), noise) is said
    assert change(Ratio(1.2, None), noise) is Change.OPEN


@pytest.mark.parametrize("seed", range(12))
def test_runs_of_one_setup_are_never_a_change(seed):
    old, new = run((1024, pairs(5, seed=2 * seed))), run((1024, pairs(5, seed=2 * seed + 1)))
    assert compared_runs(old, new).lengths[0].change in (Change.SAME, Change.OPEN)


def test_a_cache_that_saves_less_is_down():
    found = compared_runs(run((1024, pairs(5))), run((1024, pairs(2, seed=2))))
    assert found.lengths[0].change is Change.DOWN
    assert found.lengths[0].speedup.value == pytest.approx(0.4, rel=0.08)


@pytest.mark.parametrize(
    ("new", "expression", "state"),
    [
        (5.0, "speedup_ratio>=0.8", "met"),
        (2.0, "speedup_ratio>=0.8", "not met"),
        (4.0, "speedup_ratio>=0.8", "undecided"),  # right on it
        (5.0, "speedup_ratio>=1.5", "not met"),
        (5.0, "warm_ratio<=1.2", "met"),
        (2.0, "warm_ratio<=1.2", "not met"),
    ],
)
def test_requirements(new, expression, state):
    found = compared_runs(run((1024, pairs(5))), run((1024, pairs(new, seed=2))))
    assert required(parse_condition(expression, FIGURES), found).state == state


def test_what_noise_may_have_done_fails_no_gate():
    old, new = run((1024, pairs(5)), noise=0.2), run((1024, pairs(4.6, seed=2)), noise=0.02)
    condition = parse_condition("speedup_ratio>=1", FIGURES)
    assert required(condition, compared_runs(old, new)).undecided
    report = comparison_report(compared_runs(old, new), [condition])
    assert report.exit_code == 4


def test_lengths_that_both_have_are_compared_and_the_longest_decides():
    old = run((512, pairs(2)), (1024, pairs(5)), (2048, pairs(9)))
    new = run((512, pairs(2, seed=2)), (1024, pairs(1.5, seed=2)), (4096, pairs(9, seed=2)))
    found = compared_runs(old, new)
    assert [one.length for one in found.lengths] == [512, 1024]
    assert "1,024" in comparison_report(found).title
    assert found.lengths[-1].change is Change.DOWN
    with pytest.raises(UserError, match="no length"):
        compared_runs(run((512, pairs(2))), run((1024, pairs(2))))
    with pytest.raises(UserError, match="no length"):
        compared_runs(run((512, ())), run((512, pairs(2))))


def test_too_few_pairs_decide_nothing():
    report = comparison_report(compared_runs(run((1024, pairs(5, n=5))), run((1024, pairs(5)))))
    assert report.values.lengths[0].speedup.interval is None
    assert report.exit_code == 4


def test_what_the_runs_differ_in_is_said_and_an_invalid_one_is_no_measurement():
    old, new = run((1024, pairs(5)), block=16), run((1024, pairs(5, seed=2)), block=64, verdict=Verdict.INVALID)
    report = comparison_report(compared_runs(old, new))
    assert report.exit_code == 5
    assert any("differ in block" in note for note in report.notes)
    assert any("the new run is invalid" in note for note in report.notes)


def test_files_are_read_by_what_they_say_they_are(tmp_path):
    old = write(tmp_path / "old.json", run((1024, pairs(5))))
    new = write(tmp_path / "new.json", run((1024, pairs(2, seed=2))))
    report = compare(old, new, ["speedup_ratio>=0.9"])
    assert report.values.lengths[0].change is Change.DOWN
    assert report.values.lengths[0].old == pytest.approx(estimate(pairs(5)).speedup)
    assert report.exit_code == 1
    for form in FORMATS:
        assert form.render(report, width=80, colour=False)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read"),
        (b"not json", "no result file"),
        (b"{}", "no result file"),
        (b'{"schema":"prefixwise/lint","schema_version":1}', "two kinds"),
        (b'{"schema":"prefixwise/bench-ttft","schema_version":99,"values":{}}', "newer"),
        (b'{"schema":"prefixwise/bench-ttft","schema_version":1,"values":{}}', "no result of this kind"),
    ],
)
def test_what_is_no_result_is_one_clear_error(tmp_path, content, said):
    old = write(tmp_path / "old.json", run((1024, pairs(5))))
    new = tmp_path / "new.json"
    if content is not None:
        new.write_bytes(content)
    with pytest.raises(UserError, match=said):
        compare(old, new)


def test_kinds_that_nobody_can_compare_are_told(tmp_path):
    path = tmp_path / "lint.json"
    path.write_bytes(msgspec.json.encode({"schema": "prefixwise/lint", "schema_version": 1}))
    with pytest.raises(UserError, match="cannot be compared") as problem:
        compare(path, path)
    assert "bench-ttft" in problem.value.help
