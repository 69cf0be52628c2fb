"""The server as clients see it, on a model that takes no time."""

from __future__ import annotations

import asyncio
import concurrent.futures
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from support.serving import QUICK, Serving, cached, serving, wait_until

from prefixwise.caches.policy import parse_policy
from prefixwise.engine.server.limits import Limits
from prefixwise.engine.server.listen import bound

LONG = "Ferries leave from pier four. " * 40


@pytest.fixture(scope="module")
def quick() -> Iterator[Serving]:
    with serving() as running:
        yield running


def official(running: Serving, key: str = "none") -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{running.url}/v1", api_key=key, max_retries=0)


def test_the_official_client_gets_answers_and_usage(quick: Serving) -> None:
    client = official(quick)
    messages: Any = [{"role": "system", "content": LONG}, {"role": "user", "content": "When?"}]
    answers = [client.chat.completions.create(model="sim", messages=messages, max_tokens=8) for _ in range(2)]
    texts = {answer.choices[0].message.content for answer in answers}
    assert len(texts) == 1
    usages = [answer.usage for answer in answers]
    assert all(usage is not None for usage in usages)
    # <|open|>system\n 8, <|close|> 1, <|open|>user\n 6, "When?" 5, <|close|> 1, <|open|>assistant\n 11
    prompt = 8 + len(LONG) + 1 + 6 + 5 + 1 + 11
    assert [usage.prompt_tokens for usage in usages if usage] == [prompt, prompt]
    found = [usage.prompt_tokens_details.cached_tokens for usage in usages if usage and usage.prompt_tokens_details]
    assert found == [0, (prompt - 1) // 16 * 16]
    assert [model.id for model in client.models.list()] == ["sim"]


def test_the_official_client_streams(quick: Serving) -> None:
    client = official(quick)
    messages: Any = [{"role": "user", "content": "Stream this."}]
    whole = client.chat.completions.create(model="sim", messages=messages, max_tokens=30, temperature=0)
    options: Any = {"include_usage": True}
    chunks = list(
        client.chat.completions.create(
            model="sim", messages=messages, max_tokens=30, temperature=0, stream=True, stream_options=options
        )
    )
    pieces = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
    assert "".join(pieces) == whole.choices[0].message.content
    assert len(pieces) > 3
    assert chunks[0].choices[0].delta.role == "assistant"
    assert chunks[-2].choices[0].finish_reason == whole.choices[0].finish_reason
    usage = chunks[-1].usage
    assert usage is not None
    assert usage.prompt_tokens_details is not None
    assert usage.prompt_tokens_details.cached_tokens == 16
    assert usage.completion_tokens == (whole.usage.completion_tokens if whole.usage else None)
    text = list(client.completions.create(model="sim", prompt="Stream this.", max_tokens=5, stream=True))
    assert text[-1].choices[0].finish_reason in ("length", "stop")


def test_prompts_may_be_ids_and_several(quick: Serving) -> None:
    one = quick.text("abc", max_tokens=4).json()
    assert quick.text([97, 98, 99], max_tokens=4).json()["choices"] == one["choices"]
    many = quick.text(["abc", "xyz"], max_tokens=4).json()
    assert many["choices"][0]["text"] == one["choices"][0]["text"]
    assert [choice["index"] for choice in many["choices"]] == [0, 1]
    assert many["usage"]["prompt_tokens"] == 6
    assert quick.text([[97, 98, 99], [1]], max_tokens=4).json()["choices"][0]["text"] == one["choices"][0]["text"]


def test_salts_and_nothing_else_are_apart(quick: Serving) -> None:
    prompt = "salted " + LONG
    assert [cached(quick.text(prompt, max_tokens=1, cache_salt=salt)) for salt in ("a", "b", "a", None, "")] == [
        0,
        0,
        pytest.approx(len(prompt), abs=16),
        0,
        0,
    ]


def test_tokenize_counts_as_a_request_does(quick: Serving) -> None:
    found = quick.client.post("/tokenize", json={"prompt": "ab\u20ac"}).json()
    assert found == {"count": 5, "max_model_len": 131072, "tokens": [97, 98, 0xE2, 0x82, 0xAC]}
    messages = [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]
    found = quick.client.post("/tokenize", json={"messages": messages}).json()
    assert found["count"] == quick.chat("Hi", max_tokens=1).json()["usage"]["prompt_tokens"]
    assert found["tokens"][0] == 256


def test_the_cache_is_reset() -> None:
    with serving() as running:
        assert cached(running.text(LONG, max_tokens=1)) == 0
        assert cached(running.text(LONG, max_tokens=1)) > 1000
        assert running.client.post("/reset_prefix_cache").status_code == 200
        assert cached(running.text(LONG, max_tokens=1)) == 0


def test_metrics_have_vllms_names() -> None:
    with serving() as running:
        usages = [
            running.text(LONG + str(number), max_tokens=3, ignore_eos=True).json()["usage"] for number in range(3)
        ]
        page = running.client.get("/metrics").text
    values = {
        name: float(value) for name, value in re.findall(r'^(\S+?)\{model_name="sim"\} (\S+)$', page, re.MULTILINE)
    }
    assert (
        values["vllm:prompt_tokens_total"]
        == values["vllm:prefix_cache_queries_total"]
        == sum(usage["prompt_tokens"] for usage in usages)
    )
    hits = sum(usage["prompt_tokens_details"]["cached_tokens"] for usage in usages)
    assert values["vllm:prefix_cache_hits_total"] == hits > 0
    assert values["vllm:generation_tokens_total"] == 9
    assert values["vllm:num_requests_running"] == values["vllm:kv_cache_usage_perc"] == 0
    assert values["vllm:time_to_first_token_seconds_count"] == 3
    assert 'vllm:request_success_total{model_name="sim",finished_reason="length"} 3' in page
    assert f'prefixwise:cached_tokens_total{{model_name="sim",tier="idle"}} {hits}' in page


BAD: list[tuple[int, str, dict[str, Any]]] = [
    (400, "n is not supported", {"n": 2}),
    (400, "logit_bias is not supported", {"logit_bias": {"5": 1}}),
    (400, "response_format is not supported", {"response_format": {"type": "json_object"}}),
    (400, "temperature=-1.0 makes no sense", {"temperature": -1}),
    (400, "the body is not what the API takes", {"max_tokens": "many"}),
    (400, "max_tokens=0 makes no sense", {"max_tokens": 0}),
    (400, "do not fit into the model's context", {"max_tokens": 131073}),
    (400, "neither text, nor token ids", {"prompt": ["a", 5]}),
    (400, "neither text nor a list", {"prompt": 5}),
    (400, "ids that are no tokens", {"prompt": [5, 300]}),
    (400, "the prompt is empty", {"prompt": []}),
    (400, "1 to 64 prompts", {"prompt": ["a"] * 65}),
    (404, "the model 'gpt-4o' is not served, 'sim' is", {"model": "gpt-4o"}),
]


@pytest.mark.parametrize(("status", "said", "body"), BAD, ids=[said for _, said, _ in BAD])
def test_what_cannot_be_is_said(status: int, said: str, body: dict[str, Any], quick: Serving) -> None:
    response = quick.client.post("/v1/completions", json={"prompt": "a", **body})
    assert response.status_code == status
    assert said in response.json()["error"]["message"]


def test_other_wrong_requests_are_errors_of_the_api(quick: Serving) -> None:
    assert quick.client.post("/v1/completions", content=b"{").json()["error"]["message"] == "the body is no JSON"
    assert quick.client.post("/v1/completions", content=b"[" * 100_000).status_code == 400
    assert quick.client.post("/v1/chat/completions", json={"messages": []}).status_code == 400
    image = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}]}]
    assert "text only" in quick.client.post("/v1/chat/completions", json={"messages": image}).text
    assert quick.client.post("/tokenize", json={}).status_code == 400
    assert quick.client.get("/v1/nothing").status_code == 404
    assert quick.client.get("/v1/completions").status_code == 405


def test_keys_are_needed_where_there_are_tenants() -> None:
    keys = {"key-a": "acme", "key-a2": "acme", "key-b": "bolt"}
    bearer = lambda key: {"authorization": f"Bearer {key}"}  # noqa: E731
    with serving(keys=keys) as running:
        for headers in ({}, bearer("key-c"), {"authorization": "key-a"}):
            response = running.text(LONG, headers=headers)
            assert response.status_code == 401
            assert response.json()["error"]["code"] == "invalid_api_key"
        # Two keys of one tenant share; another tenant does not, nor does another salt.
        found = [cached(running.text(LONG, max_tokens=1, headers=bearer(key))) for key in ("key-a", "key-b", "key-a2")]
        assert found[:2] == [0, 0]
        assert found[2] > 1000
        assert cached(running.text(LONG, max_tokens=1, cache_salt="acme", headers=bearer("key-b"))) == 0
        assert running.client.get("/health").status_code == 200
        assert official(running, "key-b").models.list().data[0].id == "sim"
        with pytest.raises(openai.AuthenticationError):
            official(running, "key-x").models.list()


def test_what_is_too_much_is_refused() -> None:
    with serving(limits=Limits(body=2000, prompt=50)) as running:
        assert running.text("a" * 2000).status_code == 413
        response = running.text("a" * 51)
        assert response.status_code == 400
        assert response.json()["error"]["code"] == "context_length_exceeded"
        assert running.text("a" * 50).status_code == 200


def test_a_full_queue_says_try_again() -> None:
    with serving("sim:a=0.05", limits=Limits(waiting=2), most_running=1) as running:
        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            send = lambda number: running.text(f"{number}", max_tokens=10, ignore_eos=True)  # noqa: E731
            responses = list(pool.map(send, range(12)))
        codes = [response.status_code for response in responses]
        assert set(codes) == {200, 429}
        refused = next(response for response in responses if response.status_code == 429)
        assert refused.headers["retry-after"] == "1"
        assert refused.json()["error"]["code"] == "queue_full"


@pytest.mark.parametrize("stream", [True, False])
def test_a_client_that_goes_away_frees_its_blocks(stream: bool) -> None:
    with serving("sim:a=0.02") as running:
        body = {"prompt": LONG, "max_tokens": 50_000, "ignore_eos": True, "stream": stream}
        (engine,) = running.served.engines
        if stream:
            with httpx.stream("POST", f"{running.url}/v1/completions", json=body, trust_env=False) as response:
                next(response.iter_lines())
                assert engine.scheduler.running
        else:
            with pytest.raises(httpx.ReadTimeout):
                httpx.post(f"{running.url}/v1/completions", json=body, timeout=0.3, trust_env=False)
        wait_until(lambda: engine.idle)
        assert engine.totals.finished == {"cancelled": 1}
        engine.check_integrity()


@pytest.mark.parametrize("where", ["executor", "scheduler"])
def test_a_step_that_fails_is_an_error_and_the_server_goes_on(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any) -> Any:
        raise RuntimeError("out of memory")

    with serving() as running:
        (engine,) = running.served.engines
        with monkeypatch.context() as broken:
            broken.setattr(
                *(
                    (engine._executor, "run", fail)
                    if where == "executor"
                    else (engine.scheduler, "_schedule_waiting", fail)
                )
            )
            response = running.text(LONG)
            assert response.status_code == 500
            assert response.json()["error"]["type"] == "server_error"
            assert "server_error" in running.text(LONG, stream=True).text
        assert running.warnings[0] == "a step failed: RuntimeError: out of memory"
        # Nothing of what failed is in the cache.
        assert cached(running.text(LONG, max_tokens=1)) == 0
        engine.check_integrity()


def test_a_stop_ends_what_is_running() -> None:
    with serving("sim:a=0.02") as running, concurrent.futures.ThreadPoolExecutor(1) as pool:
        (engine,) = running.served.engines
        late = pool.submit(lambda: running.text(LONG, max_tokens=40, ignore_eos=True))
        wait_until(lambda: engine.scheduler.running)
        response = late.result()
    assert response.status_code == 200
    assert engine.idle


def test_the_simulated_time_is_the_formula() -> None:
    # a + b n + c n (L - n / 2) for 1,000 tokens, then for the 24 that are not cached.
    a, b, c = 0.2, 0.002, 2e-6
    with serving(f"sim:a={a},b={b},c={c}") as running:
        prompt = list(range(100)) * 10
        cold, warm = (running.text(prompt, max_tokens=1).json() for _ in range(2))
    assert warm["usage"]["prompt_tokens_details"]["cached_tokens"] == 992
    expected = [a + b * n + c * n * (1000 - n / 2) for n in (1000, 8)]
    for response, seconds in zip((cold, warm), expected, strict=True):
        spent = response["prefixwise"][0]["prefill_seconds"]
        assert seconds <= spent < seconds + 1  # a busy machine wakes up late


def test_a_simulated_model_needs_no_torch() -> None:
    program = """
import sys
sys.modules["torch"] = None
from support.serving import serving
with serving() as running:
    assert running.text("abc", max_tokens=2).status_code == 200
"""
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{root / 'tests'}"}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True, timeout=60)


def test_a_real_model_is_served_with_its_own_template() -> None:
    with serving("random:tiny", index="radix", capacity="2000tokens", threads=1, context=512) as running:
        first, second = (running.chat("Who are you?", max_tokens=5, temperature=0).json() for _ in range(2))
        assert first["choices"][0]["message"] == second["choices"][0]["message"]
        assert second["usage"]["prompt_tokens_details"]["cached_tokens"] == second["usage"]["prompt_tokens"] - 1
        assert running.chat("x" * 600).json()["error"]["code"] == "context_length_exceeded"
        drawn = [running.chat("Who?", max_tokens=9, seed=seed).json()["choices"][0]["message"] for seed in (1, 1, 2)]
        assert drawn[0] == drawn[1] != drawn[2]


def test_what_the_server_reports_is_what_the_rule_predicts() -> None:
    from support.engine_runs import jobs
    from support.reading import corpus_of

    with serving(QUICK, capacity="800tokens", block=8) as running:
        log, found = [], []
        for number, job in enumerate(jobs(77, 60)):
            salt = {"cache_salt": f"tenant {job.namespace}"}
            response = running.text(list(job.prompt), max_tokens=1, **salt)
            found.append(cached(response))
            body = {"model": "sim", "prompt_token_ids": list(job.prompt), **salt}
            log.append({"request": body, "ts": 1_700_000_000 + number})
    assert found == list(parse_policy("vllm:block=8,capacity=100").replay(corpus_of(*log).rows).matched)
    assert sum(found) > 500


def test_streamed_events_are_json_and_end_with_done(quick: Serving) -> None:
    lines = (
        quick.text("abc", max_tokens=4, stream=True, stream_options={"include_usage": True}).text.strip().split("\n\n")
    )
    assert lines[-1] == "data: [DONE]"
    events = [json.loads(line.removeprefix("data: ")) for line in lines[:-1]]
    assert {event["object"] for event in events} == {"text_completion"}
    assert events[-1]["choices"] == []
    assert events[-1]["usage"]["prompt_tokens"] == 3
    assert len({event["id"] for event in events}) == 1


def test_small_pieces_of_an_answer_are_sent_at_once() -> None:
    """The second piece does not wait for the acknowledgement of the first, which clients put off for up to 40 ms."""

    async def nodelay() -> int:
        seen: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        async def accepted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            taken = writer.get_extra_info("socket")
            seen.set_result(taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        listening = bound("127.0.0.1", 0)
        async with await asyncio.start_server(accepted, sock=listening):
            _, writer = await asyncio.open_connection(*listening.getsockname())
            writer.close()
            return await seen

    assert asyncio.run(nodelay())
