"""Each probe finds what is true of the bundled server, over real sockets, whatever that does wrong on purpose."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from support.probing import COUNTED, asked, one, probed
from support.serving import serving

from prefixwise.bench.probe.finding import Verdict
from prefixwise.bench.probe.plan import Plan, Role, Row
from prefixwise.bench.rows import read_rows
from prefixwise.core.errors import UserError
from prefixwise.workflows.probing import bench_probe, plan_of


@pytest.mark.parametrize("block", [1, 16, 64, 128])
def test_blocks_are_as_large_as_they_are(block: int) -> None:
    found = one("block-size", faults=[f"block={block}"])
    assert (found.verdict, found.low, found.value, found.high) == (Verdict.MEASURED, block, block, block)


def test_blocks_larger_than_the_usual_prompt_take_longer_ones() -> None:
    found = one("block-size", faults=["block=512"], length=1024, longest=8192)
    assert (found.verdict, found.value) == (Verdict.MEASURED, 512)
    unseen = one("block-size", faults=["block=512"], length=1024, longest=1024)
    assert (unseen.verdict, unseen.value) == (Verdict.INCONCLUSIVE, None)


def test_two_replicas_are_seen_and_do_no_harm() -> None:
    report = probed("usage", "replicas", "block-size", "minimum", faults=["replicas=2"])
    usage, replicas, block, minimum = report.values.findings
    assert usage.facts["counting"] == "right"
    assert (replicas.value, replicas.low, replicas.high) == (2, 2, None)
    assert (block.verdict, block.value) == (Verdict.MEASURED, 16)
    assert minimum.verdict is Verdict.MEASURED
    assert report.exit_code == 0


def test_one_replica_is_one() -> None:
    assert one("replicas").value == 1


@pytest.mark.parametrize(("faults", "true"), [(["minimum=700"], 700), (["minimum=300", "block=64"], 300)])
def test_the_shortest_cached_prompt_lies_in_its_bracket(faults: list[str], true: int) -> None:
    found = one("minimum", faults=faults)
    assert found.verdict is Verdict.MEASURED
    assert found.low <= true <= found.high
    assert found.high - found.low <= 8


def test_without_a_minimum_a_block_and_a_token_are_the_least() -> None:
    found = one("minimum", faults=["block=256"])
    assert found.low <= 257 <= found.high <= found.low + 2


@pytest.mark.parametrize(
    ("faults", "server", "order"),
    [
        ([], {}, "lru"),
        (["fifo"], {}, "fifo"),
        ([], {"index": "radix", "eviction": "lru"}, "lru"),
        ([], {"index": "radix", "eviction": "lfu", "block": 16}, "lfu"),
    ],
    ids=["chain", "fifo", "radix", "lfu"],
)
def test_room_and_the_order_of_eviction(faults: list[str], server: dict[str, Any], order: str) -> None:
    found = one("capacity", faults=faults, server={"capacity": "8000tokens", **server}, length=256, fill=16000)
    assert found.verdict is Verdict.MEASURED
    assert found.facts["eviction"] == order
    if order != "lfu":  # there, what was often used before the probe keeps its place
        assert found.low <= 8000 <= found.high


def test_room_that_is_not_filled_has_no_upper_end() -> None:
    found = one("capacity", length=256, fill=4000)
    assert (found.verdict, found.high, found.facts["eviction"]) == (Verdict.MEASURED, None, "unclear")
    assert found.value >= 3600


def test_a_finished_unit_is_not_sent_again(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    with serving(COUNTED) as running:
        given = msgspec.structs.replace(asked(running.url, "block-size", "visibility"), keep=path)
        first = bench_probe(given, lambda line: None, lambda line: None)
        lines = path.read_bytes().splitlines(keepends=True)
        cut = len(lines) // 2
        path.write_bytes(b"".join(lines[:cut]))
        second = bench_probe(given, lambda line: None, lambda line: None)
        third = bench_probe(given, lambda line: None, lambda line: None)
    _, rows = read_rows(path, Plan, Row)
    assert path.read_bytes().startswith(b"".join(lines[:cut]))
    assert [found.value for found in second.values.findings[:1]] == [found.value for found in first.values.findings[:1]]
    assert third.values == second.values
    again = [row.unit for row in rows if row.attempt and row.role is not Role.END]
    assert len(set(again)) <= 1  # the one that was half done
    ended = [row.unit for row in rows if row.role is Role.END]
    assert len(ended) == len(set(ended))


def test_what_is_required_is_met_where_the_whole_bracket_says_so() -> None:
    report = probed(
        "block-size", "minimum", "ttl", ages=(0.2,), require=("block_size==16", "block_size>16", "ttl_s>=0.1", "paid<2")
    )
    assert [one.state for one in report.requirements] == ["met", "not met", "undecided", "undecided"]
    assert report.exit_code == 1


def test_what_is_no_probe_is_refused() -> None:
    with pytest.raises(UserError, match="no probe called 'blocks'"):
        plan_of(asked("http://localhost:1", "blocks"))
