"""Each fault does what it says, says so, and is off by default."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

import httpx
import pytest
from support.serving import QUICK, Serving, cached, serving, wait_until

from prefixwise.core.errors import UserError
from prefixwise.engine.server.faults import Faults, parse_faults

LONG = "Ferries leave from pier four. " * 20
TOKENS = len(LONG)


def warm(running: Serving, **more: Any) -> int:
    """Send a prompt twice; return what the second finds."""
    running.text(LONG, max_tokens=1, **more)
    return cached(running.text(LONG, max_tokens=1, **more))


def test_faults_are_off_by_default_and_loud_when_on() -> None:
    with serving() as running:
        assert "x-prefixwise-faults" not in running.text("a").headers
        assert running.client.get("/health").json()["faults"] == []
        assert warm(running) == (TOKENS - 1) // 16 * 16
    with serving(faults=["usage=zero", "delay=0.01", "no-cache", "block=4"]) as running:
        names = "no-cache, block=4, usage=zero, delay=0.01"
        assert running.text("a").headers["x-prefixwise-faults"] == names
        assert running.text("a", n=2).headers["x-prefixwise-faults"] == names
        assert running.client.get("/health").json()["faults"] == names.split(", ")


def test_without_a_cache_nothing_is_found() -> None:
    with serving(faults=["no-cache"]) as running:
        assert warm(running) == 0


@pytest.mark.parametrize("block", [1, 16, 64])
def test_blocks_have_another_size(block: int) -> None:
    with serving(faults=[f"block={block}"], block=8) as running:
        assert warm(running) == (TOKENS - 1) // block * block


def test_what_came_first_goes_first() -> None:
    # Three prompts of 100 tokens in 280: the third pushes one out. The first was used last, but came first.
    prompts = [[number] * 100 for number in range(3)]
    for faults, first, second in ((["fifo"], 0, 96), ([], 96, 0)):
        with serving(faults=faults, index="radix", block=16, capacity="280tokens") as running:
            for prompt in (prompts[0], prompts[1], prompts[0], prompts[2]):
                running.text(prompt, max_tokens=1)
            (engine,) = running.served.engines
            found = [engine.cache.match(prompt, b"--").usable for prompt in prompts[:2]]
            assert found == [first, second]


def test_entries_live_so_long() -> None:
    with serving(faults=["ttl=1.5"]) as running:
        assert warm(running) > 500
        time.sleep(0.8)
        assert cached(running.text(LONG, max_tokens=1)) > 500
        time.sleep(0.8)
        # Used 0.8 s ago, made 1.6 s ago.
        assert cached(running.text(LONG, max_tokens=1)) > 500
        time.sleep(1.8)
        assert cached(running.text(LONG, max_tokens=1)) == 0
        running.served.engines[0].check_integrity()


def test_usage_is_missing_zero_or_a_lie() -> None:
    with serving(faults=["usage=missing"]) as running:
        assert "usage" not in running.text("a").json()
        streamed = running.text("a", stream=True, stream_options={"include_usage": True}).text
        assert "usage" not in streamed
        assert streamed.endswith("data: [DONE]\n\n")
    with serving(faults=["usage=zero"]) as running:
        assert warm(running) == 0
        assert running.text(LONG, max_tokens=1).json()["prefixwise"][0]["cached_by_tier"] == {"idle": 592}
    with serving(faults=["usage=lie"]) as running:
        assert cached(running.text(LONG, max_tokens=1)) == TOKENS - 1


def test_replicas_take_turns_unless_a_key_says_where() -> None:
    with serving(faults=["replicas=2"]) as running:
        assert [cached(running.text(LONG, max_tokens=1)) > 0 for _ in range(4)] == [False, False, True, True]
        other = LONG[::-1]
        assert [cached(running.text(other, max_tokens=1, prompt_cache_key="k")) > 0 for _ in range(3)] == [
            False,
            True,
            True,
        ]


def test_requests_may_be_scattered_over_replicas() -> None:
    with serving(faults=["replicas=4", "scatter"]) as running:
        hits = []
        for number in range(40):
            prompt = f"{number} {LONG}"
            running.text(prompt, max_tokens=1)
            hits.append(cached(running.text(prompt, max_tokens=1)) > 0)
        assert 2 <= sum(hits) <= 22


def test_an_answer_may_come_later_unless_somebody_else_asked_right_before() -> None:
    with serving(faults=["stirred=0.3"]) as running:
        spent = []
        for key in ("a", "b", "b", "a"):
            began = time.monotonic()
            running.text("x", max_tokens=1, headers={"authorization": f"Bearer {key}"})
            spent.append(time.monotonic() - began)
        assert spent[2] >= 0.3 > max(spent[1], spent[3])


def test_the_host_tier_may_mix_up_tenants() -> None:
    for faults, leaks in ((["salt-ignored"], True), ([], False)):
        with serving(faults=faults, capacity="700tokens", host="4000tokens") as running:
            running.text(LONG, max_tokens=1, cache_salt="a")
            # Another prompt pushes it out of the device; the host keeps it.
            running.text(LONG[::-1], max_tokens=1, cache_salt="a")
            found = running.text(LONG, max_tokens=1, cache_salt="b").json()["prefixwise"][0]["cached_by_tier"]
            assert (found.get("host", 0) > 500) is leaks
            running.served.engines[0].check_integrity()


def test_what_should_be_cold_may_be_warm() -> None:
    with serving(faults=["contaminated=0.5"]) as running:
        warm(running)
        found = Counter(cached(running.text(LONG, max_tokens=1, cache_salt=str(n))) > 0 for n in range(40))
        assert 8 <= found[True] <= 32


def test_answers_come_late_and_later() -> None:
    def spent(running: Serving) -> float:
        began = time.monotonic()
        assert running.text("a", max_tokens=1).status_code == 200
        return time.monotonic() - began

    with serving(faults=["delay=0.3"]) as running:
        assert spent(running) >= 0.3
    with serving(faults=["drift=0.5"]) as running:
        time.sleep(0.8)
        assert spent(running) >= 0.4


def test_some_requests_fail() -> None:
    with serving(faults=["errors=0.4"]) as running:
        codes = Counter(running.text("a", max_tokens=1).status_code for _ in range(50))
        assert set(codes) == {200, 503}
        assert 8 <= codes[503] <= 32


def test_streams_are_closed_early() -> None:
    with serving(faults=["early-close=1"]) as running:
        body = {"prompt": "a", "max_tokens": 20, "stream": True, "ignore_eos": True}
        text = running.client.post("/v1/completions", json=body).text
        assert "[DONE]" not in text
        assert text.count("data: ") == 1
        (engine,) = running.served.engines
        wait_until(lambda: engine.idle)
        assert sum(engine.totals.finished.values()) == 1


def test_chunks_come_slowly() -> None:
    with serving(faults=["slow-chunks=0.1"]) as running:
        began = time.monotonic()
        running.text("a", max_tokens=4, stream=True, ignore_eos=True)
        assert time.monotonic() - began >= 0.4


WRONG = {
    "there is no such fault": "nothing",
    "has no value": "no-cache=1",
    "no way to report usage": "usage=odd",
    "needs a number": "delay=soon",
    "a share is at most 1": "errors=1.5",
    "makes no sense": "replicas=0",
}


@pytest.mark.parametrize("said", WRONG)
def test_faults_that_are_none_are_refused(said: str) -> None:
    with pytest.raises(UserError) as refusal:
        parse_faults([WRONG[said]])
    assert said in refusal.value.what
    assert parse_faults([]) == Faults()


def test_noise_and_drift_of_a_simulated_model_depend_on_its_seed() -> None:
    from prefixwise.engine.executor import Piece
    from prefixwise.engine.sim_model import SimExecutor, parse_sim

    def slept(text: str, seconds: float = 0.0) -> list[float]:
        found: list[float] = []
        now = iter([0.0, *[seconds] * 100])
        model = parse_sim(text)
        executor = SimExecutor(model, model.seed, found.append, lambda: next(now))
        for _ in range(100):
            executor.run([Piece(range(10), 0, [0])])
        return found

    assert slept("sim:a=1,b=0,c=0") == [1.0] * 100
    assert slept("sim:a=1,b=0,c=0,drift=0.5", 120.0) == [2.0] * 100
    noisy = slept("sim:a=1,b=0,c=0,noise=0.2,seed=1")
    assert noisy == slept("sim:a=1,b=0,c=0,noise=0.2,seed=1") != slept("sim:a=1,b=0,c=0,noise=0.2,seed=2")
    assert 0.9 < sum(noisy) / 100 < 1.15
    for text in ("sim:x=1", "sim:a", "sim:a=-1", "sim:a=one", "sim:context=0"):
        with pytest.raises(UserError):
            parse_sim(text)


def test_faults_and_errors_are_seen_by_plain_clients_too() -> None:
    with serving(QUICK, faults=["errors=1"]) as running:
        response = httpx.post(f"{running.url}/v1/completions", json={"prompt": "a"}, trust_env=False)
        assert response.status_code == 503
        assert response.headers["x-prefixwise-faults"] == "errors=1"


def test_entries_live_so_long_after_they_were_written() -> None:
    with serving(faults=["ttl-fixed=1.5"]) as running:
        assert warm(running) > 500
        time.sleep(0.8)
        assert cached(running.text(LONG, max_tokens=1)) > 500
        time.sleep(0.9)
        # Used 0.9 s ago, written 1.7 s ago; what is computed now is written anew.
        assert cached(running.text(LONG, max_tokens=1)) == 0
        assert cached(running.text(LONG, max_tokens=1)) > 500
        running.served.engines[0].check_integrity()


def test_what_was_written_is_found_later() -> None:
    with serving(faults=["visible=1.2"]) as running:
        assert warm(running) == 0
        time.sleep(1.3)
        assert cached(running.text(LONG, max_tokens=1)) > 500
        running.served.engines[0].check_integrity()


def test_short_prompts_find_nothing() -> None:
    with serving(faults=["minimum=400"]) as running:
        found = {}
        for length in (100, 399, 400, 600):
            running.text(LONG[:length], max_tokens=1)
            found[length] = cached(running.text(LONG[:length], max_tokens=1)) > 0
        assert found == {100: False, 399: False, 400: True, 600: True}
