"""`prefixwise bench load` as a user runs it."""

import json

import pytest
from support.command import Run
from support.serving import serving

FAST = ("--groups", 3, "--each", 4, "--prefix", 256, "--output", 4, "--no-progress")


def load(url: str, *more: object) -> tuple:
    return ("bench", "load", "--target", url, "--protocol", "prefixwise", "--model", "sim", *FAST, *more)


@pytest.mark.parametrize("loop", [("--concurrency", 2), ("--rate", 40)], ids=["closed", "open"])
def test_a_run_gives_a_document_that_keeps_its_promise(run: Run, loop: tuple) -> None:
    with serving("sim:a=0.001,b=0.00001,c=0") as running:
        done = run(load(running.url, *loop, "--slo", "ttft=30s", "--json")).check(0, 4)
    document = json.loads(done.out)
    assert document["schema"] == "prefixwise/bench-load"
    values = document["values"]
    assert values["success"]["number"] == values["good"]["number"] == 12
    assert 0.3 < values["hit_rate"] <= values["possible"] < 0.7
    names = {one["name"] for one in values["times"]}
    assert ("ttft_from_schedule" in names) is (loop[0] == "--rate")


@pytest.mark.parametrize(
    ("more", "codes"),
    [
        (("--require", "success>=10%"), (0, 4)),
        (("--require", "hit_rate>=99%"), (1,)),
        (("--require", "ttft_p99_ms<1"), (4,)),
    ],
)
def test_exit_codes(run: Run, more: tuple, codes: tuple[int, ...]) -> None:
    with serving("sim:a=0.001,b=0.00001,c=0") as running:
        run(load(running.url, *more)).check(*codes)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("--target", "http://localhost:9", "--concurrency", 2, "--rate", 2), "a concurrency or a rate"),
        (("--target", "http://localhost:9", "--slo", "fast"), "no limit of a time"),
        (("--target", "http://localhost:9", "--require", "speed>=2"), "no figure 'speed'"),
        (("--target", "http://127.0.0.1:9"), "no connection to 127.0.0.1:9"),
        (("--target", "https://api.openai.com"), "add --yes"),
    ],
)
def test_what_cannot_be_run_is_one_clear_error(run: Run, asked: tuple, said: str) -> None:
    assert said in run(("bench", "load", "--model", "gpt-5.5", *asked)).check(2).err
