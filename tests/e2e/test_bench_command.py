"""`prefixwise bench ttft` as a user runs it."""

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from support.caching_server import Faults, ServedInThread
from support.command import Run, command, environment
from support.ttft_runs import pairs, write
from support.ttft_runs import run as made

FAST = ("--items", 8, "--controls", 6, "--block", 16, "--lengths", "128,512", "--no-progress")


def ttft(server, *more) -> tuple:
    return ("bench", "ttft", "--target", f"http://127.0.0.1:{server.port}", "--protocol", "vllm", "--model", "m", *more)


def test_a_run_gives_a_document_that_keeps_its_promise(run: Run) -> None:
    with ServedInThread(token_s=0.0001, fixed_s=0.01) as server:
        done = run(ttft(server, *FAST, "--json")).check(0, 4)
    document = json.loads(done.out)
    assert document["schema"] == "prefixwise/bench-ttft"
    values = document["values"]
    assert [one["length"] for one in values["lengths"]] == [128, 512]
    assert values["reported"] is True
    assert values["lengths"][1]["labels"] == {"cold": {"cold": 8}, "warm": {"warm": 8}, "control": {"cold": 6}}
    assert values["plan"]["cold"] == "salt"
    assert 30 < values["computed"]["ms_per_1000"] < 200


@pytest.mark.parametrize(
    ("faults", "required", "codes"),
    [
        (Faults(), "speedup>=1.5", (0, 4)),
        (Faults(), "speedup>=50", (1, 4)),
        (Faults(cold_hits=True), "speedup>=1.5", (4,)),
    ],
)
def test_exit_codes(run: Run, faults: Faults, required: str, codes: tuple[int, ...]) -> None:
    with ServedInThread(token_s=0.0001, fixed_s=0.01, faults=faults) as server:
        run(ttft(server, *FAST, "--require", required)).check(*codes)


def test_an_interrupted_run_keeps_what_was_answered_and_goes_on(run: Run, tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    with ServedInThread(token_s=0.0001, fixed_s=0.02) as server:
        asked = ttft(server, *FAST, "--keep", rows)
        child = subprocess.Popen(command(asked), env=environment(tmp_path), stdout=-3, stderr=-3, cwd=tmp_path)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and (not rows.exists() or rows.read_bytes().count(b"\n") < 8):
            time.sleep(0.01)
        child.send_signal(signal.SIGINT)
        assert child.wait(20) == 130
        before = rows.read_bytes()
        assert before.count(b"\n") >= 8
        run(asked).check(0, 4)
    after = rows.read_bytes()
    assert after.startswith(before)
    wanted = 1 + 2 * (8 + 8 + 6)
    assert wanted <= after.count(b"\n") <= wanted + 2  # a pair that was half done is done again


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("--target", "http://127.0.0.1:9", "--model", "m"), "no connection to 127.0.0.1:9"),
        (("--target", "localhost", "--model", "m"), "no address of an endpoint"),
        (("--target", "http://localhost:9", "--model", "m", "--protocol", "vlm"), "did you mean vllm?"),
        (("--target", "http://localhost:9", "--model", "m", "--lengths", "a,b"), "no list of whole numbers"),
        (("--target", "http://localhost:9", "--model", "m", "--require", "speed>=2"), "no figure 'speed'"),
        (("--target", "http://localhost:9", "--model", "m", "--header", "x"), "no header field"),
        (("--target", "http://localhost:9", "--model", "m", "--key-env", "NO_SUCH"), "not set"),
        (("--target", "http://localhost:9", "--model", "m", "--cold", "salt"), "no way to be cold"),
        (("--target", "https://api.openai.com", "--model", "gpt-5.5"), "add --yes"),
        (("--target", "https://api.openai.com", "--model", "gpt-5.5", "--budget", "0.01"), "above its budget"),
        (("--target", "https://h.example", "--model", "nobody-knows", "--budget", "5"), "unknown price"),
    ],
)
def test_what_cannot_be_run_is_one_clear_error(run: Run, asked: tuple, said: str) -> None:
    done = run(("bench", "ttft", *asked)).check(2)
    assert said in done.err
    assert done.out == ""


def test_a_key_is_in_no_output_and_no_file(run: Run, tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    with ServedInThread() as server:
        env = {"MY_KEY": "sk-very-secret"}
        done = run(ttft(server, *FAST, "--key-env", "MY_KEY", "--keep", rows, "--json"), env=env).check(0, 4)
    assert "sk-very-secret" not in done.out + done.err + rows.read_text()


def test_the_client_measures_its_own_error(run: Run) -> None:
    done = run(("bench", "selfcheck", "--concurrency", "1,8", "--requests", 60, "--json")).check(0)
    one, eight = json.loads(done.out)["values"]["checks"]
    assert (one["concurrency"], one["requests"], eight["concurrency"], eight["requests"]) == (1, 60, 8, 60)
    for found in (one, eight):
        # The loopback delays 20 to 60 ms: an error that small means that both clocks tell the same.
        assert 0 < found["median"] < 0.02
        assert found["median"] <= found["p90"] <= found["worst"]
        assert found["p99"] is None
        assert found["smallest"] == 2 * found["worst"]


def test_concurrency_is_a_list_of_numbers(run: Run) -> None:
    assert "no list of whole numbers" in run(("bench", "selfcheck", "--concurrency", "0")).check(2).err


def test_two_runs_are_compared_by_their_result_files(run: Run, tmp_path: Path) -> None:
    old = write(tmp_path / "old.json", made((1024, pairs(5.0))))
    new = write(tmp_path / "new.json", made((1024, pairs(2.0, seed=2))))
    done = run(("compare", old, new, "--require", "speedup_ratio>=0.9")).check(1)
    assert "5." in done.out
    assert "down" in done.out
    document = run(("compare", old, new, "--json")).check(0).json()
    Draft202012Validator(run(("schema", "compare-ttft")).check(0).json()).validate(document)
    values = document["values"]
    assert values["lengths"][0]["change"] == "down"
    other = tmp_path / "other.json"
    run(("rules", "--report", f"json={other}")).check(0)
    assert "two kinds" in run(("compare", old, other)).check(2).err
