"""A thousand requests in a tenth of the room that they would need, some of which are given up on the way."""

from __future__ import annotations

import gc
import random
from typing import Any

import pytest
from support.engine_runs import ALONE, Job, engine, jobs

from prefixwise.engine.request import Finish, Sampling

RUNS: dict[str, dict[str, Any]] = {
    "chain": {"index": "chain", "block": 8},
    "radix": {"index": "radix", "block": 1},
    "partial": {"index": "partial", "block": 8},
}


@pytest.mark.parametrize(("index", "count"), [("chain", 1000), ("radix", 400), ("partial", 400)])
def test_cancelled_requests_leave_nothing_behind(index: str, count: int) -> None:
    draw = random.Random(index)
    known = [Job(job.prompt, 6, job.namespace) for job in jobs(300, 60)]
    work = [draw.choice(known) for _ in range(count)]
    needed = sum(len(job.prompt) + job.answer for job in work)
    room = 400
    assert room < needed / 10
    built = engine(**RUNS[index], capacity=f"{room}tokens", token_budget=96, most_running=12)
    open_requests: list[Any] = []
    ended: list[Any] = []
    sizes: list[int] = []
    for number, job in enumerate(work):
        sampling = Sampling(max_tokens=job.answer, ignore_end=True)
        open_requests.append((job, built.engine.submit(job.prompt, sampling, job.namespace)))
        while len(open_requests) > 24:
            built.engine.step()
            if draw.random() < 0.6:
                built.engine.cancel(draw.choice(open_requests)[1])
            ended += [pair for pair in open_requests if pair[1].finish]
            open_requests = [pair for pair in open_requests if not pair[1].finish]
            _judge(ended)
        if number in (count // 2, count - 1):
            gc.collect()
            sizes.append(len(gc.get_objects()))
    for _, request in open_requests[::2]:
        assert built.engine.cancel(request)
        assert not built.engine.cancel(request)
    built.engine.finish([request for _, request in open_requests])
    _judge(open_requests)
    built.engine.check_integrity()
    assert built.engine.idle
    totals = built.engine.totals
    assert totals.finished[Finish.CANCELLED] > count / 5
    assert totals.finished[Finish.LENGTH] > count / 5
    assert sum(totals.finished.values()) == count
    assert sizes[1] - sizes[0] < 3000
    assert built.engine.cache.reset()


def _judge(pairs: list[Any]) -> None:
    """Check the answers, whole or as far as they came, and forget them."""
    for job, request in pairs:
        whole = ALONE.answer(job.prompt, job.answer)
        assert request.output == (whole if request.finish == Finish.LENGTH else whole[: len(request.output)])
        assert request.table is None
    pairs.clear()
