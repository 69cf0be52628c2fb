"""How much of the time to first token is the server's, by its own clock."""

import asyncio

import msgspec
import pytest
from support.serving import QUICK, serving

from prefixwise.bench.counters import Told, compare, counter_blocks
from prefixwise.bench.rows import RowFile
from prefixwise.bench.sender import HttpSender
from prefixwise.bench.server_times import ServerTime
from prefixwise.bench.ttft.inside import inside, inside_by_metrics
from prefixwise.bench.ttft.plan import Plan, Row
from prefixwise.bench.ttft.report import ttft_report
from prefixwise.bench.ttft.result import result
from prefixwise.bench.ttft.run import TtftRun
from prefixwise.bench.ttft.schedule import Arm, Design
from prefixwise.clients.endpoint import Endpoint
from prefixwise.clients.prometheus import read_page
from prefixwise.clients.protocol import PROTOCOLS, Cold
from prefixwise.clients.server_sent_events import Event


def told(protocol: str, data: dict) -> float | None:
    return PROTOCOLS.get(protocol).part(Event("", msgspec.json.encode(data).decode(), 0)).server_s


@pytest.mark.parametrize(
    ("protocol", "data", "seconds"),
    [
        ("prefixwise", {"prefixwise": [{"queue_seconds": 0.25, "prefill_seconds": 0.5}]}, 0.75),
        ("prefixwise", {"prefixwise": [{"queue_seconds": None, "prefill_seconds": 0.5}]}, None),
        ("prefixwise", {"prefixwise": []}, None),
        ("prefixwise", {"choices": []}, None),
        ("llama-cpp", {"timings": {"prompt_ms": 1500, "predicted_ms": 9}}, 1.5),
        ("llama-cpp", {"timings": {"prompt_ms": -1}}, None),
        ("llama-cpp", {"timings": {"prompt_ms": True}}, None),
        ("llama-cpp", {"timings": "soon"}, None),
        ("vllm", {"timings": {"prompt_ms": 1500}}, None),
    ],
)
def test_what_a_server_says_of_its_time(protocol, data, seconds):
    assert told(protocol, data) == seconds


def row(ttft, server=None):
    return Row(length=128, item=0, arm=Arm.COLD, ttft=ttft, server=server)


def test_the_share_is_of_means_and_the_rest_a_median():
    found = inside([row(1.0, 0.9), row(2.0, 1.9), row(3.0, 2.0)])
    assert found.share == pytest.approx(4.8 / 6)
    assert (found.requests, found.source) == (3, "answers")
    assert found.outside_s == pytest.approx(0.1)
    assert inside([row(1.0, 0.9), row(2.0)]) is None
    assert inside([]) is None


PAGE = """vllm:prompt_tokens_total{{engine="0"}} {prompt}
vllm:time_to_first_token_seconds_sum{{engine="0"}} {first}
vllm:time_to_first_token_seconds_count{{engine="0"}} {count}
vllm:request_queue_time_seconds_sum 7
vllm:request_queue_time_seconds_count 3
process_start_time_seconds {started}
"""


def counted(prompt=300, first=16.0, count=12, started=1, answers=300):
    before = read_page(PAGE.format(prompt=0, first=10, count=10, started=1))
    after = read_page(PAGE.format(prompt=prompt, first=first, count=count, started=started))
    return compare(["page"], [before], [after], Told(answers, None))


def test_histograms_give_the_mean_of_what_came_in_between():
    found = counted()
    assert found.times == (ServerTime("first token", "vllm:time_to_first_token_seconds", 2, 3.0),)
    assert [table.name for table in counter_blocks(found)] == ["counters", "server_times"]
    assert counted(started=2).times == ()


def test_metrics_are_held_against_the_rows_of_the_sitting_only():
    rows = [row(100.0), row(3.0), row(5.0)]
    found = inside_by_metrics(rows, counted())
    assert (found.source, found.requests, found.ttft_s, found.share, found.outside_s) == ("metrics", 2, 4.0, 0.75, None)
    assert inside_by_metrics(rows, counted(answers=200)) is None  # others were there
    assert inside_by_metrics(rows[:1], counted()) is None
    assert inside_by_metrics([row(100.0), row(3.0), row(None)], counted()) is None
    assert inside_by_metrics(rows, None) is None


def test_a_run_against_the_bundled_server_says_how_much_of_it_is_the_server(tmp_path):
    plan = Plan(
        run="r", target="t", protocol="prefixwise", model="m", lengths=(200,), design=Design(6, 1, 0), cold=Cold.SALT
    )

    async def ran(url, rows):
        sender = HttpSender(Endpoint(url, PROTOCOLS.get("prefixwise"), plan.model))
        await TtftRun(plan, PROTOCOLS.get("prefixwise"), sender, rows, lambda line: None).run()
        await sender.close()

    with serving(QUICK) as server, RowFile(tmp_path / "rows.jsonl", plan, Row) as rows:
        plan = msgspec.structs.replace(plan, model=server.client.get("/v1/models").json()["data"][0]["id"])
        asyncio.run(ran(server.url, rows))
        kept = [msgspec.structs.replace(one, late=0.0) for one in rows.rows]
    # What the simulated model says depends on the length; an end of text is no token that somebody waited for.
    timed = [one for one in kept if one.ttft is not None]
    assert len(timed) > 3
    assert all(0 < one.server < one.ttft for one in timed)
    found = result(plan, kept)
    assert found.inside.requests == len(timed)
    assert 0 < found.inside.share < 1
    report = ttft_report(found, kept)
    assert any("passes inside the server" in line for line in report.blocks[0].lines)
    (table,) = (block for block in report.blocks if block.name == "inside")
    assert [(length, arm) for length, arm, *_ in table.rows] == [(200, "cold"), (200, "warm")]
    assert sum(line[2] for line in table.rows) == len(timed)
