"""What a rule says of a log of the engine's own requests is what the engine found in its cache, to the token."""

from __future__ import annotations

from typing import Any

import pytest
from support.engine_runs import Job, engine, jobs, serve
from support.reading import corpus_of

from prefixwise.caches.policy import parse_policy
from prefixwise.engine.build import Built
from prefixwise.engine.request import Request, Sampling

BEGIN = 1_700_000_000


def record(request: Request, start: float, end: float) -> dict[str, Any]:
    """Return a request as a gateway logs it."""
    body = {"model": "tiny", "prompt_token_ids": request.tokens[: request.prompt_tokens]}
    body |= {"cache_salt": f"tenant {request.namespace}"} if request.namespace else {}
    return {"request": body, "response": request.output, "ts": BEGIN + start, "end_time": BEGIN + end}


def predicted(rule: str, log: list[dict[str, Any]]) -> list[int]:
    """Return the tokens that a rule serves each request of a log."""
    return list(parse_policy(rule).replay(corpus_of(*log).rows).matched)


def conversations(built: Built, work: list[Job]) -> list[Request]:
    """Run jobs one after the other; every third goes on from an answer that came before."""
    done: list[Request] = []
    for number, job in enumerate(work):
        prompt: list[int] = list(job.prompt)
        if number % 3 == 2:
            prompt = (done[number // 2].tokens + prompt)[:200]
        request = built.engine.submit(prompt, Sampling(max_tokens=job.answer, ignore_end=True), job.namespace)
        built.engine.finish([request])
        done.append(request)
    built.engine.check_integrity()
    return done


# A chain is the same whether prompts are computed at once or in chunks. Chunks are nodes of their own in a tree, which
# is evicted by whole nodes, while the rule takes prompts as computed at once.
RULES: list[tuple[str, str, dict[str, Any]]] = [
    ("vllm:block={block}", "chain", {"token_budget": 50}),
    ("sglang:page={block}", "radix", {}),
    *((f"sglang:page={{block}},eviction={name}", "radix", {"eviction": name}) for name in ("lfu", "slru", "fifo")),
]


@pytest.mark.parametrize("tokens", [224, 600, 20000])
@pytest.mark.parametrize("block", [1, 16])
@pytest.mark.parametrize(("rule", "index", "settings"), RULES)
def test_bounded_caches_find_what_their_rule_says(
    rule: str, index: str, settings: dict[str, Any], block: int, tokens: int
) -> None:
    blocks = tokens // block
    seed = blocks + len(rule)
    built = engine(index=index, block=block, capacity=str(blocks), **settings)
    done = conversations(built, jobs(seed, 30, namespaces=3))
    log = [record(request, 10 * number, 10 * number + 5) for number, request in enumerate(done)]
    expected = predicted(rule.format(block=block) + f",capacity={blocks}", log)
    assert [sum(request.cached.values()) for request in done] == expected
    assert sum(expected) > 0


@pytest.mark.parametrize(("rule", "index", "block"), [("vllm:block=16", "chain", 16), ("vllm:block=4", "chain", 4)])
def test_requests_that_run_together_find_what_the_rule_says(rule: str, index: str, block: int) -> None:
    # Blocks can be found from when they are scheduled on, by requests of the same step too.
    work = jobs(21, 60)
    built = engine(index=index, block=block, capacity="20000tokens")
    requests = serve(built, work)
    log = [record(request, 0.001 * number, 1000 + number) for number, request in enumerate(requests)]
    assert [sum(request.cached.values()) for request in requests] == predicted(rule, log)


@pytest.mark.parametrize("page", [1, 8])
def test_prompts_of_earlier_steps_are_found_in_the_tree(page: int) -> None:
    work = [Job(job.prompt, job.answer, job.namespace, after=1) for job in jobs(22, 60)]
    built = engine(index="radix", block=page, capacity="20000tokens")
    requests = serve(built, work)
    log = [record(request, 0.001 * number, 1000 + number) for number, request in enumerate(requests)]
    assert [sum(request.cached.values()) for request in requests] == predicted(f"sglang:page={page}", log)
