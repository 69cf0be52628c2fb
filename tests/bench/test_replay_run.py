"""A replay over real sockets, against the simulated model."""

import asyncio
import json
from pathlib import Path

import msgspec
import pytest
from support.caching_server import caching
from support.serving import QUICK, Serving, serving

from prefixwise.bench.replay.plan import ReplayRow
from prefixwise.clients.failures import Failure
from prefixwise.core.errors import UserError
from prefixwise.core.report import Outcome
from prefixwise.corpus.again import kept, requests_again
from prefixwise.corpus.corpus import read_corpus
from prefixwise.corpus.reader import ReadOptions
from prefixwise.workflows.replaying import ReplayAsked, Target, bench_replay

IDS = [
    {"request": {"model": "m", "prompt_token_ids": [*range(96), *more], "cache_salt": salt}, "ts": 1_700_000_000 + at}
    for at, salt, more in (
        (0.0, "a", [1]),
        (0.1, "a", [1, 2]),  # 96 of 98
        (0.2, "b", [1]),  # another tenant
        (0.3, "a", [2]),
        (0.4, "b", [3]),
    )
]
CACHED = [0, 96, 0, 96, 96]
TRACE = [
    {"timestamp": 0, "input_length": 1200, "output_length": 2, "hash_ids": [1, 2, 3]},
    {"timestamp": 30, "input_length": 1100, "output_length": 2, "hash_ids": [1, 2, 4]},
    {"timestamp": 60, "input_length": 1300, "output_length": 2, "hash_ids": [1, 5, 6]},
    {"timestamp": 90, "input_length": 600, "output_length": 2, "hash_ids": [7, 8]},
    {"timestamp": 120, "input_length": 1200, "output_length": 2, "hash_ids": [1, 2, 3]},
]


def replayed(tmp_path: Path, records, url: str, protocol: str = "prefixwise", **more):
    """Return the values of the report, and the report."""
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    asked = ReplayAsked(target=Target(address=url, protocol=protocol, model="sim"), **more)
    corpus = read_corpus([str(path)])
    with kept([str(path)], None) as stdin:

        def again(*, wanted=None):
            return requests_again([str(path)], corpus.rows, ReadOptions(), stdin, wanted)

        said = []
        report = bench_replay(asked, corpus, again, said.append, lambda *_: None)
    return report.values, report


def rows_of(path: Path) -> list[ReplayRow]:
    """Return the rows of a file by number; in open loop they come as they are answered."""
    found = [msgspec.json.decode(line, type=ReplayRow) for line in path.read_bytes().splitlines()[1:]]
    return sorted(found, key=lambda row: row.number)


@pytest.fixture(scope="module")
def sim():
    with serving(QUICK) as running:
        yield running


def test_a_log_of_ids_finds_what_it_shares_within_its_tenants(tmp_path: Path, sim: Serving) -> None:
    found, report = replayed(tmp_path, IDS, sim.url, concurrency=1, keep=tmp_path / "rows", output=1)
    rows = rows_of(tmp_path / "rows")
    assert [row.cached for row in rows] == CACHED
    assert [row.prompt for row in rows] == [97, 98, 97, 97, 97]
    assert found.hit_rate == pytest.approx(288 / 486)
    assert found.expected[0].rule == "vllm:block=16,outputs=no"
    assert found.expected[0].hit_rate == pytest.approx(288 / 486)
    assert found.success == 1.0
    assert report.exit_code == 0


def test_the_servers_counters_agree_with_its_answers(tmp_path: Path, sim: Serving) -> None:
    table = tmp_path / "rows.parquet"
    found, _ = replayed(tmp_path, IDS, sim.url, speed=20, output=1, metrics=("auto",), table=table)
    assert table.read_bytes()[:4] == b"PAR1"
    assert (found.counters.exclusive, found.counters.agrees) == (True, True)
    assert found.counters.hit_rate == pytest.approx(288 / 486)
    made_up, _ = replayed(tmp_path, TRACE, sim.url, synthetic=True, metrics=("auto",))
    assert (made_up.counters.exclusive, made_up.counters.agrees) == (True, True)


def test_answers_that_lie_are_seen_by_the_counters(tmp_path: Path) -> None:
    with serving(QUICK, faults=["usage=lie"]) as liar:
        found, report = replayed(tmp_path, IDS, liar.url, speed=20, output=1, metrics=("auto",))
    assert (found.counters.exclusive, found.counters.agrees) == (True, False)
    assert any("disagree on cached tokens" in note for note in report.notes)


def test_arrivals_are_those_of_the_log_at_the_speed_asked_for(tmp_path: Path, sim: Serving) -> None:
    replayed(tmp_path, IDS, sim.url, keep=tmp_path / "rows", speed=2.0, output=1)
    rows = rows_of(tmp_path / "rows")
    assert [row.due for row in rows] == pytest.approx([0, 0.05, 0.1, 0.15, 0.2])
    assert all(row.at >= row.due for row in rows)


def test_a_second_replay_starts_with_an_empty_cache_unless_asked_otherwise(tmp_path: Path, sim: Serving) -> None:
    first, _ = replayed(tmp_path, IDS, sim.url, speed=20, output=1)
    assert replayed(tmp_path, IDS, sim.url, speed=20, output=1)[0].hit_rate == first.hit_rate
    replayed(tmp_path, IDS, sim.url, speed=20, output=1, cold="none")
    warm, report = replayed(tmp_path, IDS, sim.url, speed=20, output=1, cold="none")
    assert warm.hit_rate > first.hit_rate
    assert any("nothing kept this run apart" in note for note in report.notes)


def test_a_closed_loop_sends_every_request_once(tmp_path: Path, sim: Serving) -> None:
    found, _ = replayed(tmp_path, IDS, sim.url, keep=tmp_path / "rows", concurrency=3, output=4)
    rows = rows_of(tmp_path / "rows")
    assert sorted(row.number for row in rows) == list(range(5))
    assert {row.output for row in rows} == {4}
    assert all(row.late == 0 for row in rows)
    assert found.load == "closed loop, 3 at a time"


@pytest.mark.parametrize("protocol", ["prefixwise", "vllm"])
def test_a_made_up_trace_shares_exactly_its_blocks(tmp_path: Path, sim: Serving, protocol: str) -> None:
    """As ids: the server has what it takes of a block of 16 in common, to the token."""
    replayed(tmp_path, TRACE, sim.url, protocol, concurrency=1, keep=tmp_path / "rows", synthetic=True)
    rows = rows_of(tmp_path / "rows")
    assert [row.prompt for row in rows] == [1200, 1100, 1300, 600, 1200]
    assert [row.cached for row in rows] == [0, 1024, 512, 0, 1184]  # the last token is always computed
    assert [row.output for row in rows] == [2] * 5


def test_a_made_up_trace_in_words_shares_its_blocks_too(tmp_path: Path, sim: Serving) -> None:
    """The server's bytes are tokens: words of several tokens, and nothing in front of a bare prompt but "Words:"."""
    keep = tmp_path / "rows"
    found, _ = replayed(tmp_path, TRACE, sim.url, "openai-completions", concurrency=1, keep=keep, synthetic=True)
    rows = rows_of(tmp_path / "rows")
    assert [row.prompt for row in rows] == [1200, 1100, 1300, 600, 1200]
    assert [row.cached for row in rows] == [0, 1024, 512, 0, 1184]
    assert found.complete == 5


def test_chats_go_to_a_server_whose_template_is_its_own(tmp_path: Path, sim: Serving) -> None:
    system = {"role": "system", "content": "You answer questions about ferries. " * 10}
    log = [
        {"request": {"model": "gpt-4o", "messages": [system, {"role": "user", "content": text}]}, "ts": 1_700_000_000}
        for text in ("When?", "Where?", "When?")
    ]
    found, _ = replayed(tmp_path, log, sim.url, concurrency=1, keep=tmp_path / "rows", output=1)
    rows = rows_of(tmp_path / "rows")
    assert rows[0].cached == 0
    assert min(row.cached for row in rows[1:]) > 0.8 * rows[0].prompt
    assert found.hit_rate > 0.5


def test_a_nonce_keeps_runs_apart_and_requests_together(tmp_path: Path) -> None:
    log = [{"model": "m", "messages": [{"role": "user", "content": "word " * 60 + end}]} for end in ("a", "b")]

    async def twice():
        async with caching(token_s=0, fixed_s=0) as server:
            url, rows = f"http://127.0.0.1:{server.port}", []
            for number in range(2):
                keep = tmp_path / f"rows{number}"
                await asyncio.to_thread(replayed, tmp_path, log, url, "openai-chat", concurrency=1, keep=keep)
                rows.append([row.cached for row in rows_of(keep)])
            return rows

    first, second = asyncio.run(twice())
    assert first == second
    assert first[0] == 0
    assert first[1] >= 64


def test_failures_are_counted_and_no_retry_hides_them(tmp_path: Path) -> None:
    with serving(QUICK, faults=["errors=1"]) as broken:
        found, report = replayed(tmp_path, IDS, broken.url, speed=50, output=1, slos=("ttft=5",))
    assert found.failed == {"HTTP 503": 5}
    assert (found.success, found.goodput[0].good, found.goodput[0].sent) == (0.0, 0, 5)
    assert report.outcome is Outcome.INVALID


def test_streams_that_break_off_have_no_times(tmp_path: Path) -> None:
    with serving(QUICK, faults=["early-close=1"]) as broken:
        found, _ = replayed(tmp_path, IDS, broken.url, speed=50, output=3, keep=tmp_path / "rows")
    assert {row.failure for row in rows_of(tmp_path / "rows")} <= {Failure.CUT, Failure.LOST}
    assert found.complete == 0
    assert found.times == ()


def test_usage_that_is_missing_is_no_miss(tmp_path: Path) -> None:
    with serving(QUICK, faults=["usage=missing"]) as silent:
        found, report = replayed(tmp_path, IDS, silent.url, speed=50, output=1, require=("hit_rate>=0.1",))
    assert (found.hit_rate, found.counted, found.complete) == (None, 0, 5)
    assert report.exit_code == 4
    assert any("absent is not zero" in note for note in report.notes)


def test_an_interrupted_replay_goes_on_with_what_is_left(tmp_path: Path, sim: Serving) -> None:
    keep = tmp_path / "rows"
    replayed(tmp_path, IDS, sim.url, concurrency=1, output=1, keep=keep)
    lines = keep.read_bytes().splitlines(keepends=True)
    keep.write_bytes(b"".join(lines[:3]) + b'{"number": 2, "rec')  # a crash in the middle of a line
    found, report = replayed(tmp_path, IDS, sim.url, concurrency=1, output=1, keep=keep)
    rows = rows_of(keep)
    assert [(row.number, row.part) for row in rows] == [(0, 0), (1, 0), (2, 1), (3, 1), (4, 1)]
    assert found.parts == 2
    assert any("2 sittings" in note for note in report.notes)
    with pytest.raises(UserError, match="holds another run"):
        replayed(tmp_path, IDS, sim.url, concurrency=2, output=1, keep=keep)


def test_what_is_not_sendable_is_left_out_and_counted(tmp_path: Path, sim: Serving) -> None:
    gemini = {"contents": [{"role": "user", "parts": [{"text": "When?"}]}], "model": "m"}
    found, _ = replayed(tmp_path, [IDS[0], {"request": gemini, "ts": 1_700_000_001}], sim.url, speed=50, output=1)
    assert found.left_out == {"gemini bodies cannot be sent to prefixwise serve": 1}
    with pytest.raises(UserError, match="no request can be sent"):
        replayed(tmp_path, [{"request": gemini, "ts": 1_700_000_001}], sim.url)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"slos": ("speed=3",)}, "no limit of a time"),
        ({"slos": ("ttft=nan",)}, "no limit of a time"),
        ({"require": ("speed>=3",)}, "no figure 'speed'"),
        ({"log_model": "other"}, "no request to 'other'"),
        ({"cold": "isolation-key"}, "no way to be cold"),
    ],
)
def test_what_cannot_be_replayed_is_said_before_anything_is_sent(tmp_path: Path, more: dict, said: str) -> None:
    with pytest.raises(UserError, match=said):
        replayed(tmp_path, IDS, "http://127.0.0.1:9", **more)


@pytest.mark.parametrize(("budget", "said"), [(None, "add --yes"), (1.0, "unknown price")])
def test_an_endpoint_elsewhere_is_asked_about(tmp_path: Path, budget: float | None, said: str) -> None:
    (tmp_path / "log.jsonl").write_text(json.dumps(IDS[0]))
    corpus = read_corpus([str(tmp_path / "log.jsonl")])
    target = Target(address="https://api.example", protocol="vllm", model="nobody-knows", budget=budget)
    with pytest.raises(UserError) as problem:
        bench_replay(ReplayAsked(target=target), corpus, None, print, print)
    assert said in f"{problem.value} {problem.value.help}"


def test_a_trace_without_synthetic_says_what_to_do(tmp_path: Path, sim: Serving) -> None:
    with pytest.raises(UserError, match="no text") as problem:
        replayed(tmp_path, TRACE, sim.url)
    assert "--synthetic" in problem.value.help


def test_a_disk_that_is_full_is_one_clear_error(tmp_path: Path, sim: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("prefixwise.bench.rows.RowFile.add", full)
    for load in ({"speed": 50.0}, {"concurrency": 2}):
        with pytest.raises(OSError, match="No space left"):
            replayed(tmp_path, IDS, sim.url, **load)


def test_an_endpoint_that_is_not_there_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no connection"):
        replayed(tmp_path, IDS, "http://127.0.0.1:9")
