"""Loads on the bundled server, over real sockets."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from support.serving import serving

from prefixwise.bench.load.plan import Plan, Row
from prefixwise.bench.load.result import LoadResult
from prefixwise.bench.rows import read_rows
from prefixwise.core.errors import UserError
from prefixwise.core.report import Outcome, Report
from prefixwise.workflows.loading import LoadAsked, bench_load, plan_of

MODEL = "sim:a=0.001,b=0.00001,c=0"


def loaded(
    path: Path, *, faults: Sequence[str] = (), model: str = MODEL, **more: Any
) -> tuple[LoadResult, list[Row], Report]:
    usual = {"groups": 4, "each": 5, "prefix": 512, "suffix": 64, "output": 4, "keep": path / "rows.jsonl"}
    with serving(model, faults=faults) as running:
        asked = LoadAsked(target=running.url, protocol="prefixwise", model="sim", **{**usual, **more})
        report = bench_load(asked, lambda line: None, lambda line: None)
    return report.values, read_rows(path / "rows.jsonl", Plan, Row)[1], report


def under_way(rows: Sequence[Row]) -> int:
    """Return the most requests that were under way at a time."""
    changes = sorted([(row.at, 1) for row in rows] + [(row.end, -1) for row in rows])
    return max(itertools.accumulate(change for _, change in changes))


def test_a_closed_loop_keeps_so_many_under_way(tmp_path: Path) -> None:
    found, rows, _ = loaded(tmp_path, concurrency=3)
    assert len(rows) == 20
    assert under_way(rows) == 3
    assert {row.due for row in rows} == {None}
    assert [row.number for row in rows if row.first] == sorted({plan_first(found.plan, group) for group in range(4)})
    assert found.success.number == 20
    assert {row.output for row in rows} == {4}


def plan_first(plan: Plan, group: int) -> int:
    return plan.order.index(group)


def test_one_at_a_time_finds_all_that_it_shares(tmp_path: Path) -> None:
    found, rows, _ = loaded(tmp_path, concurrency=1)
    assert {row.cached for row in rows if row.first} == {0}
    # 512 tokens and a few of the template are shared, in blocks of 16.
    assert {row.cached for row in rows if not row.first} <= {480, 496, 512}
    assert 0 <= found.possible - found.hit_rate < 0.06


def test_an_open_loop_sends_when_it_is_due_whatever_is_under_way(tmp_path: Path) -> None:
    found, rows, _ = loaded(tmp_path, faults=["delay=0.05"], model="sim:a=0.05,b=0,c=0", rate=60.0, output=12)
    assert under_way(rows) > 8
    assert [row.due for row in sorted(rows, key=lambda row: row.number)] == found.plan.arrivals(20)
    assert all(row.at >= row.due for row in rows)


def test_too_few_connections_are_a_wait_that_counts(tmp_path: Path) -> None:
    """One at a time, each of 0.05 s and more, due at 60 a second: the last one waits nearly as long as all take."""
    found, rows, _ = loaded(tmp_path, faults=["delay=0.05"], rate=60.0, connections=1)
    assert under_way(rows) == 1
    sent, due = (next(one for one in found.times if one.name == name) for name in ("ttft", "ttft_from_schedule"))
    assert due.at(0.5).value > sent.at(0.5).value + 0.2
    assert found.bound
    assert found.sent_per_s < 0.5 * found.due_per_s


def test_what_fails_is_counted_and_stays_in_the_denominators(tmp_path: Path) -> None:
    found, rows, _ = loaded(tmp_path, faults=["errors=0.2"], concurrency=4, each=10, slo="ttft=60s")
    failed = [row for row in rows if not row.ok]
    assert 1 <= len(failed) <= 20
    assert {row.status for row in failed} == {503}
    assert found.success.of == found.good.of == 40
    assert found.success.number == found.good.number == 40 - len(failed)
    assert sum(found.errors.values()) == len(failed)


@pytest.mark.parametrize(("fault", "rate"), [("usage=missing", None), ("usage=zero", 0.0)])
def test_a_hit_rate_is_what_is_counted(tmp_path: Path, fault: str, rate: float | None) -> None:
    found, _, report = loaded(tmp_path, faults=[fault], concurrency=2, require=("hit_rate>=0.1",))
    assert found.hit_rate == rate
    assert report.exit_code == 1


def test_nothing_answered_is_no_measurement(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="refuses"):
        loaded(tmp_path, faults=["errors=1"], concurrency=2)
    with serving(MODEL, faults=["early-close=1"]) as running:
        asked = LoadAsked(target=running.url, protocol="prefixwise", model="sim", concurrency=2)
        report = bench_load(asked, lambda line: None, lambda line: None)
    assert (report.values.success.number, report.values.success.of) == (0, 64)
    assert report.exit_code == 5


def test_an_interrupted_load_goes_on_with_what_is_left(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    with serving(MODEL) as running:
        asked = LoadAsked(
            target=running.url, protocol="prefixwise", model="sim", groups=3, each=4, concurrency=2, keep=path
        )
        bench_load(asked, lambda line: None, lambda line: None)
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join(lines[:6]))
        report = bench_load(asked, lambda line: None, lambda line: None)
    _, rows = read_rows(path, Plan, Row)
    assert sorted(row.number for row in rows) == list(range(12))
    assert [row.part for row in rows] == [0] * 5 + [1] * 7
    assert report.values.parts == 2
    assert any("interrupted" in note for note in report.notes)
    assert report.outcome is not Outcome.INVALID


def test_a_load_is_closed_or_open() -> None:
    asked = LoadAsked(target="http://localhost:1", protocol="vllm", model="m", concurrency=2, rate=1.0)
    with pytest.raises(UserError, match="a concurrency or a rate"):
        plan_of(asked)
    with pytest.raises(UserError, match="above 0"):
        plan_of(msgspec.structs.replace(asked, concurrency=None, rate=0.0))
    assert plan_of(msgspec.structs.replace(asked, concurrency=None, rate=None)).concurrency == 8
