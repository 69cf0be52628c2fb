"""`prefixwise bench program` as a user runs it."""

import json

import pytest
from support.command import Run
from support.serving import serving


def program(url: str, *more: object) -> tuple:
    fast = ("--only", "chat", "--rounds", 7, "--controls", 0, "--no-progress")
    return ("bench", "program", "--target", url, "--protocol", "prefixwise", "--model", "sim", *fast, *more)


def test_a_run_gives_a_document_that_keeps_its_promise(run: Run) -> None:
    with serving("sim:a=0.001,b=0.0001,c=0") as running:
        done = run(program(running.url, "--json")).check(0, 4)
    document = json.loads(done.out)
    assert document["schema"] == "prefixwise/bench-program"
    (found,) = document["values"]["programs"]
    assert (found["name"], found["calls"], found["off_rate"]) == ("chat", 8, 0.0)
    assert 0.5 < found["hit_rate"] < 1


@pytest.mark.parametrize(("required", "codes"), [("speedup>=1.01", (0, 4)), ("chat_speedup>=500", (1, 4))])
def test_exit_codes(run: Run, required: str, codes: tuple[int, ...]) -> None:
    with serving("sim:a=0.001,b=0.0001,c=0") as running:
        run(program(running.url, "--require", required)).check(*codes)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("--target", "http://localhost:9", "--only", "talk"), "no program called 'talk'"),
        (("--target", "http://localhost:9", "--require", "speed>=2"), "no figure 'speed'"),
        (("--target", "http://127.0.0.1:9"), "no connection to 127.0.0.1:9"),
        (("--target", "https://api.openai.com"), "add --yes"),
        (("--target", "https://api.openai.com", "--budget", "0.01"), "above its budget"),
    ],
)
def test_what_cannot_be_run_is_one_clear_error(run: Run, asked: tuple, said: str) -> None:
    assert said in run(("bench", "program", "--model", "gpt-5.5", *asked)).check(2).err
