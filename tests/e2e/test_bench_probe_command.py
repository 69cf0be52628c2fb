"""`prefixwise bench probe` as a user runs it."""

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest
from support.command import Run, command, environment
from support.probing import COUNTED
from support.serving import serving

FAST = ("--length", 512, "--longest", 1024, "--settle", 0.1, "--replicates", 2, "--no-progress")


def probe(url: str, *more: object) -> tuple:
    return ("bench", "probe", "--target", url, "--protocol", "prefixwise", "--model", "sim", *FAST, *more)


def test_a_run_gives_a_document_that_keeps_its_promise(run: Run, tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    with serving(COUNTED, faults=["block=32"]) as running:
        asked = probe(running.url, "--only", "block-size", "--only", "minimum", "--require", "block_size==32")
        done = run((*asked, "--keep", rows, "--json")).check(0)
        again = run((*asked, "--keep", rows, "--json")).check(0)
        text = run((*asked, "--keep", rows)).check(0)
    document = json.loads(done.out)
    assert document["schema"] == "prefixwise/bench-probe"
    block, minimum = document["values"]["findings"]
    assert (block["probe"], block["value"], block["verdict"]) == ("block-size", 32, "measured")
    assert minimum["probe"] == "minimum"
    assert json.loads(again.out)["values"] == document["values"]
    assert "blocks of 32 tokens" in text.out


def test_an_interrupted_run_keeps_what_was_answered_and_goes_on(run: Run, tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    with serving(COUNTED, faults=["delay=0.01"]) as running:
        asked = probe(running.url, "--only", "block-size", "--keep", rows)
        child = subprocess.Popen(command(asked), env=environment(tmp_path), stdout=-3, stderr=-3, cwd=tmp_path)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and (not rows.exists() or rows.read_bytes().count(b"\n") < 12):
            time.sleep(0.01)
        child.send_signal(signal.SIGINT)
        assert child.wait(30) == 130
        before = rows.read_bytes()
        assert before.count(b"\n") >= 12
        done = run((*asked, "--json")).check(0)
    assert rows.read_bytes().startswith(before)
    (found,) = json.loads(done.out)["values"]["findings"]
    assert (found["value"], found["verdict"]) == (16, "measured")


@pytest.mark.parametrize(
    ("more", "code"),
    [(("--require", "block_size==16"), 0), (("--require", "block_size<16"), 1), (("--only", "capacity"), 4)],
)
def test_exit_codes(run: Run, more: tuple, code: int) -> None:
    with serving(COUNTED) as running:
        run(probe(running.url, "--only", "block-size", *more)).check(code)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("--target", "http://127.0.0.1:9"), "no connection to 127.0.0.1:9"),
        (("--target", "http://localhost:9", "--only", "blocksize"), "did you mean block-size?"),
        (("--target", "http://localhost:9", "--ages", "soon"), "no list of ages"),
        (("--target", "http://localhost:9", "--require", "block>=2"), "no figure 'block'"),
        (("--target", "https://api.openai.com"), "add --yes"),
        (("--target", "https://api.openai.com", "--budget", "0.01"), "above its budget"),
    ],
)
def test_what_cannot_be_run_is_one_clear_error(run: Run, asked: tuple, said: str) -> None:
    assert said in run(("bench", "probe", "--model", "gpt-5.5", *asked)).check(2).err
