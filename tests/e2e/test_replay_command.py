"""`prefixwise bench replay` as a user runs it."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from support.command import Run, command, environment, lines
from support.serving import QUICK, Serving, serving

FORMATS = ("text", "json", "csv", "markdown", "html", "junit", "concise")


@pytest.fixture(scope="module")
def sim() -> Iterator[Serving]:
    with serving(QUICK) as running:
        yield running


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Return a log of ten prompts of ids, 0.1 s apart, which share 96 tokens."""
    path = tmp_path / "log.jsonl"
    begin = 1_700_000_000
    requests = [{"model": "m", "prompt_token_ids": [*range(96), n]} for n in range(10)]
    path.write_bytes(lines(*({"request": one, "ts": begin + n / 10} for n, one in enumerate(requests))))
    return path


def replay(log: Path, url: str, *more: object) -> tuple[object, ...]:
    target = ("--target", url, "--protocol", "prefixwise", "--model", "sim")
    return ("bench", "replay", log, *target, "--output-tokens", 1, "--speed", 20, "--no-progress", *more)


def test_a_replay_gives_a_document(run: Run, sim: Serving, log: Path) -> None:
    document = run(replay(log, sim.url, "--slo", "ttft=30s", "--json")).check(0).json()
    Draft202012Validator(run(("schema", "bench-replay")).check(0).json()).validate(document)
    values = document["values"]
    assert values["hit_rate"] == pytest.approx(9 * 96 / 970)
    assert (values["sent"], values["complete"], values["goodput"][0]["good"]) == (10, 10, 10)
    assert values["expected"][0] == {"rule": "vllm:block=16,outputs=no", "hit_rate": pytest.approx(9 * 96 / 970)}


def test_all_formats_render_it(run: Run, sim: Serving, log: Path, tmp_path: Path) -> None:
    files = [tmp_path / f"out.{name}" for name in FORMATS]
    reports = [arg for name, path in zip(FORMATS, files, strict=True) for arg in ("--report", f"{name}={path}")]
    run(replay(log, sim.url, "--slo", "ttft=30s", *reports)).check(0)
    for path in files[:5]:  # the others show requirements only
        assert "89.1" in path.read_text() or "0.89" in path.read_text(), path


@pytest.mark.parametrize(("required", "code"), [("hit_rate>=0.95", 1), ("goodput>=0.5", 0), ("goodput>=0.99", 4)])
def test_exit_codes_of_requirements(run: Run, sim: Serving, log: Path, required: str, code: int) -> None:
    run(replay(log, sim.url, "--slo", "ttft=30s", "--require", required)).check(code)


def test_nothing_answered_is_an_invalid_measurement(run: Run, log: Path) -> None:
    with serving(QUICK, faults=["errors=1"]) as broken:
        run(replay(log, broken.url)).check(5)


def test_an_interrupted_replay_keeps_what_was_answered_and_goes_on(run: Run, log: Path, tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    with serving("sim:a=0.05,b=0,c=0") as slow:
        asked = replay(log, slow.url, "--keep", rows, "--speed", 1)
        child = subprocess.Popen(command(asked), env=environment(tmp_path), stdout=-3, stderr=-3, cwd=tmp_path)
        deadline = time.monotonic() + 40
        while time.monotonic() < deadline and (not rows.exists() or rows.read_bytes().count(b"\n") < 4):
            time.sleep(0.01)
        child.send_signal(signal.SIGINT)
        assert child.wait(20) == 130
        before = rows.read_bytes()
        assert 4 <= before.count(b"\n") <= 10
        values = run((*asked, "--json")).check(0).json()["values"]
    assert rows.read_bytes().startswith(before)
    assert rows.read_bytes().count(b"\n") == 11
    assert (values["sent"], values["parts"]) == (10, 2)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--slo", "ttft"), "no limit of a time"),
        (("--cold", "isolation-key"), "no way to be cold"),
        (("--target", "https://api.example"), "add --yes"),
        (("--under", "vlm"), "did you mean vllm?"),
    ],
)
def test_what_cannot_be_replayed_is_one_clear_error(run: Run, log: Path, more: tuple[str, ...], said: str) -> None:
    done = run(replay(log, "http://127.0.0.1:9", *more)).check(2, 3)
    assert said in done.err


def test_a_made_up_trace_is_asked_for_by_name(run: Run, sim: Serving, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    requests = ([1, 2], [1, 3], [1, 2])
    records = ({"timestamp": n, "input_length": 1000, "hash_ids": ids} for n, ids in enumerate(requests))
    trace.write_bytes(lines(*records))
    assert "--synthetic" in run(replay(trace, sim.url)).check(2).err
    values = run(replay(trace, sim.url, "--synthetic", "--json")).check(0).json()["values"]
    assert values["cached_tokens"] == 512 + 992
