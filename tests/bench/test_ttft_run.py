"""A cold-against-warm run over real sockets."""

import asyncio
from collections import Counter

import msgspec
import pytest

from prefixwise.bench.rows import RowFile
from prefixwise.bench.sender import HttpSender
from prefixwise.bench.ttft.estimate import estimate
from prefixwise.bench.ttft.labels import Label
from prefixwise.bench.ttft.pairing import Cause, cause, control_pairs, pairs_of
from prefixwise.bench.ttft.plan import Mode, Plan, Row
from prefixwise.bench.ttft.result import result
from prefixwise.bench.ttft.run import TtftRun, cold_ways
from prefixwise.bench.ttft.schedule import Arm, Design
from prefixwise.bench.ttft.verdict import Verdict
from prefixwise.clients.endpoint import Endpoint
from prefixwise.clients.protocol import PROTOCOLS, Cold
from prefixwise.core.errors import UserError
from tests.support.caching_server import Faults, caching

LENGTHS = (128, 256)


def plan_of(**more) -> Plan:
    given = {"run": "r", "target": "t", "protocol": "vllm", "model": "m", "lengths": LENGTHS, "block": 16}
    return Plan(**{**given, "design": Design(items=8, controls=6), **more})


async def ran(path, plan, stop_after=None, **settings):
    """Return what was found, the rows, and the server; `stop_after` rows the run is cancelled.

    The server shares the client's loop, and the machine is used by others: that the client is late says nothing here.
    """
    async with caching(**settings) as server:
        protocol = PROTOCOLS.get(plan.protocol)
        sender = HttpSender(Endpoint(f"http://127.0.0.1:{server.port}", protocol, "m"))
        with RowFile(path, plan, Row) as rows:
            task = asyncio.create_task(TtftRun(plan, protocol, sender, rows, lambda line: None).run())
            while stop_after and not task.done() and len(rows.rows) < stop_after:
                await asyncio.sleep(0.001)
            if stop_after:
                task.cancel()
            found = (await asyncio.gather(task, return_exceptions=bool(stop_after)))[0]
            await sender.close()
            return found, [msgspec.structs.replace(row, late=0.0) for row in rows.rows], server


@pytest.mark.parametrize("cold", [Cold.SALT, Cold.NONCE])
def test_cold_requests_are_cold_and_warm_ones_warm(tmp_path, cold):
    found, rows, _ = asyncio.run(ran(tmp_path / "r.jsonl", plan_of(cold=cold)))
    assert found.reports
    assert found.visible_s == 0
    # A block of 16 holds the five tokens of the header and eleven that differ: nothing is shared by chance.
    assert found.header == 0
    assert Counter((row.length, row.arm, row.label) for row in rows) == {
        (length, arm, label): number
        for length in LENGTHS
        for arm, label, number in (
            (Arm.COLD, Label.COLD_OK, 8),
            (Arm.WARM, Label.WARM_OK, 8),
            (Arm.CONTROL, Label.COLD_OK, 6),
        )
    }
    assert {row.prompt for row in rows} == {length + 16 + 64 for length in LENGTHS}
    assert [row.order for row in rows] == list(range(len(rows)))


def test_the_speedup_is_that_of_the_formula(tmp_path):
    plan = plan_of(lengths=(512,), design=Design(items=12, controls=8))
    _, rows, _ = asyncio.run(ran(tmp_path / "r.jsonl", plan, token_s=0.0001))
    pairs = pairs_of(rows, 512, reported=True)
    assert len(pairs) >= 10
    found = estimate(pairs)
    # 592 tokens, 527 of them shared, 512 in whole blocks: 2 ms + 592 x 0.1 ms against 2 ms + 80 x 0.1 ms, 61.2 over 10,
    # and client and server add a little to both.
    assert 4.0 < found.speedup < 6.2
    assert 0.040 < found.saved_s < 0.056
    assert 0.9 < estimate(control_pairs(rows, 512, reported=True)).speedup < 1.12


def test_every_cold_prompt_is_new_and_every_end_too(tmp_path):
    _, rows, server = asyncio.run(ran(tmp_path / "r.jsonl", plan_of(cold=Cold.NONCE)))
    sent = server.bodies[-len(rows) :]
    starts = Counter(body["messages"][0]["content"] for body in sent)
    ends = Counter(body["messages"][1]["content"] for body in sent)
    assert Counter(starts.values()) == {2: 16, 1: 12}
    assert set(ends.values()) == {1}


def test_a_replay_sends_the_same_again(tmp_path):
    _, rows, server = asyncio.run(ran(tmp_path / "r.jsonl", plan_of(mode=Mode.REPLAY)))
    sent = Counter(str(body["messages"]) for body in server.bodies[-len(rows) :])
    assert Counter(sent.values()) == {2: 16, 1: 12}
    assert {row.label for row in rows if row.arm is Arm.WARM} == {Label.WARM_OK}
    assert {row.cached for row in rows if row.arm is Arm.WARM and row.length == 128} == {192}


def test_a_server_that_counts_nothing_leaves_labels_unknown(tmp_path):
    found, rows, _ = asyncio.run(ran(tmp_path / "r.jsonl", plan_of(lengths=(128,)), faults=Faults(reports=False)))
    assert not found.reports
    assert {row.label for row in rows} == {Label.UNKNOWN}
    assert len(pairs_of(rows, 128, reported=False)) == 8
    assert pairs_of(rows, 128, reported=True) == []


def test_a_server_that_does_not_even_count_prompts_is_measured_in_words(tmp_path):
    found, rows, _ = asyncio.run(ran(tmp_path / "r.jsonl", plan_of(lengths=(128,)), faults=Faults(usage=False)))
    assert not found.words.counted
    assert {row.prompt for row in rows} == {None}
    assert len(pairs_of(rows, 128, reported=False)) == 8


def test_no_cache_is_seen_as_misses(tmp_path):
    found, rows, _ = asyncio.run(
        ran(tmp_path / "r.jsonl", plan_of(lengths=(64,), design=Design(2, 1, 0, 2)), faults=Faults(caches=False))
    )
    assert found.visible_s is None
    assert {row.label for row in rows if row.arm is Arm.WARM} == {Label.MISSED}


@pytest.mark.parametrize("after", [1, 2, 7, 20])
def test_an_interrupted_run_goes_on_with_what_is_left(tmp_path, after):
    path, plan = tmp_path / "r.jsonl", plan_of(design=Design(items=6, controls=4))
    _, first, _ = asyncio.run(ran(path, plan, stop_after=after))
    assert after <= len(first) < 32
    _, rows, _ = asyncio.run(ran(path, plan))
    assert rows[: len(first)] == first
    for length in LENGTHS:
        pairs = pairs_of([*rows], length, reported=True)
        assert len(pairs) >= 5  # but for pairs that a busy machine or a new connection spoils
        finished = {row.item for row in rows if row.length == length and row.arm is Arm.WARM}
        assert finished == set(range(6))
    half_done = {(row.length, row.item) for row in first if row.arm is Arm.COLD} - {
        (row.length, row.item) for row in first if row.arm is Arm.WARM
    }
    again = [row for row in rows if row.attempt]
    assert {(row.length, row.item) for row in again} == half_done
    assert all(row.label is not Label.CONTAMINATED for row in again)


def test_a_broken_connection_costs_one_request(tmp_path):
    _, rows, _ = asyncio.run(ran(tmp_path / "r.jsonl", plan_of(), faults=Faults(breaks_at=40)))
    causes = Counter(cause(row, reported=True) for row in rows)
    assert causes[Cause.FAILED] == 1
    assert causes[Cause.OPENED] == 1
    assert len(rows) == 44


def test_a_server_that_refuses_is_one_clear_error(tmp_path):
    async def refused():
        async def refuse(reader, writer):
            await reader.readuntil(b"\r\n\r\n")
            body = b'{"error":{"message":"no such model"}}'
            writer.write(b"HTTP/1.1 404 Not Found\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(refuse, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            plan, protocol = plan_of(), PROTOCOLS.get("vllm")
            sender = HttpSender(Endpoint(f"http://127.0.0.1:{port}", protocol, "m"))
            with RowFile(tmp_path / "r.jsonl", plan, Row) as rows:
                await TtftRun(plan, protocol, sender, rows, lambda line: None).run()

    with pytest.raises(UserError, match="the server refuses: no such model"):
        asyncio.run(refused())


def test_ways_to_be_cold():
    assert cold_ways(PROTOCOLS.get("vllm"), None) is Cold.SALT
    assert cold_ways(PROTOCOLS.get("vllm"), Cold.NONCE) is Cold.NONCE
    assert cold_ways(PROTOCOLS.get("anthropic"), None) is Cold.NONCE
    with pytest.raises(UserError, match="no way to be cold"):
        cold_ways(PROTOCOLS.get("anthropic"), Cold.SALT)


@pytest.mark.parametrize(
    ("faults", "verdict"),
    [
        (Faults(), Verdict.CONFIRMED),
        (Faults(caches=False), Verdict.NONE),
        (Faults(reports=False), Verdict.INFERRED),
        (Faults(gains=False), Verdict.NO_GAIN),
        (Faults(lies=0), Verdict.CONTRADICTORY),
        (Faults(cold_hits=True), Verdict.CONTRADICTORY),
        (Faults(lies=64), Verdict.CONTRADICTORY),
    ],
    ids=["works", "no cache", "no usage", "no gain", "counts nothing", "counts all", "counts always the same"],
)
def test_verdicts_are_those_of_the_server(tmp_path, monkeypatch, faults, verdict):
    monkeypatch.setattr("prefixwise.bench.ttft.run._LONGEST_WAIT_S", 0.2)
    monkeypatch.setattr("prefixwise.bench.ttft.run._FALLBACK_WAIT_S", 0.02)
    plan = plan_of(lengths=(256, 1024), design=Design(items=14, controls=12))
    _, rows, _ = asyncio.run(ran(tmp_path / "r.jsonl", plan, faults=faults, token_s=0.00004, fixed_s=0.01))
    found = result(plan, rows)
    # With nothing to see, a busy machine may leave the interval too wide; it never gives another answer.
    unsure = {Verdict.INCONCLUSIVE} if verdict in (Verdict.NONE, Verdict.NO_GAIN) else set()
    assert found.judged.verdict in {verdict} | unsure, found
    if verdict is Verdict.CONFIRMED:
        assert found.grows
        # 0.04 ms a token: 40 ms for a thousand, computed; none, cached.
        assert found.computed.ms_per_1000 == pytest.approx(40, rel=0.15)
        assert abs(found.cached.ms_per_1000) < 6
    assert sum(sum(arm.values()) for one in found.lengths for arm in one.labels.values()) == len(rows)
