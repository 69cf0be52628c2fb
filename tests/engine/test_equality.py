"""Whatever the cache does, an answer is the one that the request gets alone and without it, token for token."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch
from support.engine_runs import ALONE, engine, jobs, logits_of, serve, some_settings, wrong


@pytest.mark.parametrize("seed", range(24))
def test_answers_do_not_depend_on_the_cache(seed: int, tmp_path: Path) -> None:
    work = jobs(seed, 25)
    built = engine(**some_settings(seed, tmp_path))
    assert wrong(work, serve(built, work)) == []


TIGHT: dict[str, Any] = {"capacity": "240tokens", "token_budget": 64, "most_running": 8}
RUNS: dict[str, dict[str, Any]] = {
    "chain": {"index": "chain", "block": 8},
    "radix": {"index": "radix", "block": 1},
    "partial": {"index": "partial", "block": 8},
}


@pytest.mark.parametrize("index", RUNS)
def test_preemptions_and_evictions_change_no_answer(index: str) -> None:
    work = jobs(100, 40, longest=40)
    built = engine(**RUNS[index], **TIGHT)
    requests = serve(built, work)
    assert wrong(work, requests) == []
    assert built.engine.scheduler.preemptions > 3
    assert sum(request.preemptions for request in requests) == built.engine.scheduler.preemptions
    assert built.engine.totals.cached_tokens > 100


@pytest.mark.parametrize("write", ["through", "selective", "back"])
@pytest.mark.parametrize("index", ["chain", "radix"])
def test_blocks_come_back_from_host_and_disk(index: str, write: str, tmp_path: Path) -> None:
    work = jobs(101, 60, namespaces=1)
    # Little is written at its second use, so it takes a smaller tier to overflow.
    host = "100tokens" if write == "selective" else "300tokens"
    tiers = {"host": host, "disk": tmp_path, "disk_capacity": "4000tokens"}
    built = engine(**{**RUNS[index], "block": 8}, **{**TIGHT, "token_budget": 2048}, **tiers, write=write)
    requests = serve(built, work)
    assert wrong(work, requests) == []
    by_tier: Counter[str] = Counter()
    for request in requests:
        by_tier.update(request.cached)
    assert by_tier["host"] > 0
    assert by_tier["disk"] > 0


def test_the_partial_index_brings_blocks_back_from_the_host() -> None:
    work = jobs(102, 40)
    built = engine(**RUNS["partial"], **TIGHT, host="2000tokens")
    requests = serve(built, work)
    assert wrong(work, requests) == []
    assert sum(request.cached.get("host", 0) for request in requests) > 0


@pytest.mark.parametrize("index", RUNS)
def test_another_namespace_finds_nothing_and_answers_alike(index: str) -> None:
    built = engine(**RUNS[index])
    prompt = jobs(7, 5)[4].prompt * 3
    first, again, other = (
        serve(built, [job])[0]
        for job in (
            jobs_of(prompt, namespace=0),
            jobs_of(prompt, namespace=0),
            jobs_of(prompt, namespace=1),
        )
    )
    assert first.output == again.output == other.output
    assert sum(again.cached.values()) >= len(prompt) - 9
    assert not first.cached
    assert not other.cached


def jobs_of(prompt: tuple[int, ...], namespace: int) -> Any:
    from support.engine_runs import Job

    return Job(prompt, 8, namespace)


@pytest.mark.parametrize("index", RUNS)
def test_logits_are_the_same_to_the_last_bit(index: str, tmp_path: Path) -> None:
    work = jobs(104, 25)
    alone = logits_of(work, index="none", most_running=1)
    tiers: dict[str, Any] = {"host": "300tokens"} | ({} if index == "partial" else {"disk": tmp_path})
    for settings in ({"capacity": "240tokens", "token_budget": 33}, {"token_budget": 7}, {**TIGHT, **tiers}):
        found = logits_of(work, **{**RUNS[index], **settings})
        assert all(torch.equal(one, other) for one, other in zip(alone, found, strict=True))


def test_without_being_exact_answers_hardly_differ() -> None:
    # Products of other sizes add up otherwise: tokens may differ only where two are about equal.
    work = jobs(103, 30)
    built = engine(index="chain", block=8, deterministic=False, dtype="fp32")
    assert wrong(work, serve(built, work)) == []


def test_the_first_token_tells_on_the_answer() -> None:
    # Otherwise the tests above would pass with keys and values that are wrong.
    prompts = [job.prompt for job in jobs(1, 40)]
    changed = [((prompt[0] + 1) % 256, *prompt[1:]) for prompt in prompts]
    alike = sum(ALONE.answer(one, 8) == ALONE.answer(other, 8) for one, other in zip(prompts, changed, strict=True))
    assert alike <= 2
