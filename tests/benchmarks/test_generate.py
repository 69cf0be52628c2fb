"""The generator of request logs: same bytes from the same seed, the promised sharing, well-formed records."""

from __future__ import annotations

import bisect
import json
import os
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from benchmarks.children import run
from benchmarks.traffic import BREAKAGES, PROFILES
from benchmarks.yardsticks import load

ROOT = Path(__file__).parents[2]
PROMISED = {"shared95": 95.0, "shared50": 50.0}

Record = dict[str, Any]
Encode = Callable[[str], list[int]]


def command(profile: str, requests: int, *options: str) -> list[str]:
    size = ["--profile", profile, "--requests", str(requests)]
    return [sys.executable, "-m", "benchmarks.generate", *size, *options]


def generate(profile: str, requests: int, *options: str, hash_seed: str = "0") -> bytes:
    env = {**os.environ, "PYTHONHASHSEED": hash_seed}
    made = subprocess.run(command(profile, requests, *options), cwd=ROOT, env=env, capture_output=True, check=True)
    assert made.stderr == b""
    return made.stdout


def records(log: bytes) -> list[Record]:
    return [json.loads(line) for line in log.splitlines()]


def shared_share(log: list[Record], encode: Encode) -> tuple[float, float]:
    """Encode every prompt whole; the longest common prefix with any earlier one is with a neighbour in sorted order.

    Returns the shared percentage and the mean tokens of a request.
    """
    earlier: list[list[int]] = []
    total = shared = 0
    for record in log:
        body = record["request"]
        parts = [json.dumps(body["tools"]), *(json.dumps(message) for message in body["messages"])]
        prompt = encode("\n".join(parts))
        place = bisect.bisect(earlier, prompt)
        near = earlier[max(0, place - 1) : place + 1]
        shared += max((common(prompt, other) for other in near), default=0)
        total += len(prompt)
        earlier.insert(place, prompt)
    return 100 * shared / total, total / len(log)


def common(one: list[int], other: list[int]) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


@pytest.fixture(scope="module")
def encode() -> Encode:
    encoding = load()
    return encoding.encode_ordinary


@pytest.fixture(scope="module")
def log() -> list[Record]:
    return records(generate("shared95", 300))


@pytest.mark.parametrize("profile", PROMISED)
def test_the_same_seed_gives_the_same_bytes_and_a_short_log_begins_a_long_one(profile: str) -> None:
    short, long = generate(profile, 60, hash_seed="1"), generate(profile, 120, hash_seed="2")
    assert long.startswith(short)
    assert generate(profile, 60, "--seed", "7") != short


@pytest.mark.parametrize(("profile", "percent"), PROMISED.items())
def test_a_profile_shares_what_it_promises(profile: str, percent: float, encode: Encode) -> None:
    share, mean = shared_share(records(generate(profile, 1000)), encode)
    assert abs(share - percent) <= 3
    assert 1_700 <= mean <= 2_300


def test_records_are_gateway_lines_in_time_order(log: list[Record]) -> None:
    assert all(list(record) == ["ts", "tenant", "session", "request", "response"] for record in log)
    assert all(list(record["request"]) == ["model", "messages", "tools"] for record in log)
    times = [record["ts"] for record in log]
    assert times == sorted(times)
    sessions = [record["session"] for record in log]
    assert sum(a != b for a, b in pairwise(sessions)) > 0.9 * len(log)
    assert len({record["tenant"] for record in log}) > 10
    for record in log:
        usage = record["response"]["usage"]
        assert 0 <= usage["prompt_tokens_details"]["cached_tokens"] < usage["prompt_tokens"]
        assert usage["completion_tokens"] > 0


def test_messages_and_tools_are_what_a_chat_endpoint_accepts(log: list[Record]) -> None:
    called = 0
    for record in log:
        body = record["request"]
        names = {tool["function"]["name"] for tool in body["tools"]}
        first, *rest = body["messages"]
        assert first["role"] == "system"
        assert rest[0]["role"] == "user"
        calls: set[str] = set()
        for message in rest:
            for call in message.get("tool_calls", ()):
                assert call["function"]["name"] in names
                json.loads(call["function"]["arguments"])
                calls.add(call["id"])
                called += 1
            assert message["role"] != "tool" or message["tool_call_id"] in calls
            assert message["content"] or message.get("tool_calls")
    assert called > 100


def test_repeating_writes_the_same_bodies_ten_times_at_later_times() -> None:
    once, tenfold = generate("shared95", 40), generate("shared95", 40, "--mode", "repeat10")
    assert tenfold.startswith(once)
    lines = records(tenfold)
    assert len(lines) == 400
    assert all(line["request"] == lines[index % 40]["request"] for index, line in enumerate(lines))
    times = [line["ts"] for line in lines]
    assert times == sorted(times)


def test_bare_bodies_are_those_of_the_log(log: list[Record]) -> None:
    assert records(generate("shared95", 30, "--mode", "bodies")) == [record["request"] for record in log[:30]]


@pytest.mark.parametrize("block", [16, 512])
def test_a_hashed_trace_has_the_arrivals_and_the_sharing_of_its_log(log: list[Record], block: int) -> None:
    trace = records(generate("shared95", 300, "--hashed", "--block", str(block)))
    lengths = [record["response"]["usage"]["prompt_tokens"] for record in log]
    assert [line["input_length"] for line in trace] == lengths
    before: dict[int, int] = {}
    shared = 0
    for line in trace:
        ids = line["hash_ids"]
        assert len(ids) == -(-line["input_length"] // block)
        shared += sum(name in before for name in ids)
        for previous, name in pairwise([-1, *ids]):
            assert before.setdefault(name, previous) == previous
    assert (0.90 if block == 16 else 0.6) < shared * block / sum(lengths) < 0.97


@pytest.mark.parametrize("broken", BREAKAGES)
def test_every_broken_variant_costs_sharing(broken: str, encode: Encode, tmp_path: Path) -> None:
    text = (PROFILES / "shared95.toml").read_text("utf-8").split("[broken]")[0].replace("share = 45", "share = 1")
    shares = {}
    for name, percent in (("clean", 0), ("all", 100)):
        profile = tmp_path / f"{name}.toml"
        profile.write_text(f"{text}[broken]\n{broken} = {percent}\n", "utf-8")
        shares[name], _ = shared_share(records(generate(str(profile), 300)), encode)
    assert shares["all"] < shares["clean"] - 2


def test_memory_does_not_grow_with_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    small, large = (run(command("shared95", n, "-o", str(tmp_path / str(n)))).rss_mb for n in (500, 5000))
    assert large < small + 8
