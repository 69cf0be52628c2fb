"""Draws follow the distribution they are from, and depend on seed and place alone."""

from __future__ import annotations

import math
from collections import Counter

import pytest
import torch
from support.engine_runs import engine, jobs

from prefixwise.core.errors import UserError
from prefixwise.engine.request import Draw, Sampling
from prefixwise.engine.sampling import next_tokens

LOGITS = [1.0, 3.0, 0.5, 2.0, -1.0, 2.0]


def frequencies(temperature: float, top_p: float = 1.0, top_k: int = 0, count: int = 4000) -> dict[int, float]:
    """Return the share of each token when the places are spread evenly: the distribution itself."""
    rows = torch.tensor([LOGITS] * count)
    draws = [Draw(temperature, top_p, top_k, (index + 0.5) / count) for index in range(count)]
    return {token: times / count for token, times in Counter(next_tokens(rows, draws)).items()}


def shares(temperature: float, kept: list[int]) -> dict[int, float]:
    """Return the distribution over the tokens `kept`, by hand."""
    weights = {token: math.exp(LOGITS[token] / temperature) for token in kept}
    return {token: weight / sum(weights.values()) for token, weight in weights.items()}


@pytest.mark.parametrize("temperature", [0.3, 1.0, 2.0])
def test_draws_follow_the_distribution(temperature: float) -> None:
    found = frequencies(temperature)
    for token, share in shares(temperature, list(range(6))).items():
        assert found.get(token, 0.0) == pytest.approx(share, abs=0.001)


def test_top_k_keeps_the_likeliest() -> None:
    found = frequencies(1.0, top_k=3)
    assert found == pytest.approx(shares(1.0, [1, 3, 5]), abs=0.001)
    assert set(frequencies(1.0, top_k=100)) == set(range(6))


def test_top_p_keeps_the_fewest_that_have_the_share() -> None:
    # The shares are 0.53, 0.20, 0.20, 0.07, 0.04, 0.01 …: one is enough for half, two are not for three quarters.
    assert frequencies(1.0, top_p=0.5) == {1: 1.0}
    assert frequencies(1.0, top_p=0.75) == pytest.approx(shares(1.0, [1, 3, 5]), abs=0.001)
    assert frequencies(1.0, top_p=1e-9) == {1: 1.0}


def test_no_draw_takes_the_likeliest_beside_those_that_draw() -> None:
    rows = torch.tensor([LOGITS, LOGITS, LOGITS])
    assert next_tokens(rows, [None, Draw(1.0, 1.0, 0, 0.9999), None]) == [1, 4, 1]


@pytest.mark.parametrize("wrong", [math.nan, math.inf])
def test_logits_that_are_no_numbers_are_an_error(wrong: float) -> None:
    with pytest.raises(FloatingPointError):
        next_tokens(torch.tensor([[1.0, wrong, 0.0]]), [None])


def test_an_answer_depends_on_its_seed_and_nothing_else() -> None:
    work = jobs(40, 12)
    sampling = [Sampling(max_tokens=12, temperature=1.5, top_p=0.95, seed=number % 3) for number in range(12)]
    answers = []
    for settings in ({"capacity": "240tokens", "token_budget": 40}, {"capacity": "4000tokens"}):
        built = engine(index="chain", block=8, **settings)
        requests = [built.engine.submit(job.prompt, s) for job, s in zip(work, sampling, strict=True)]
        built.engine.finish(requests)
        answers.append([request.output for request in requests])
    assert answers[0] == answers[1]
    built = engine()
    prompt = work[0].prompt
    same = [built.engine.submit(prompt, Sampling(max_tokens=12, temperature=1.5, seed=s)) for s in (1, 1, 2)]
    unseeded = [built.engine.submit(prompt, Sampling(max_tokens=12, temperature=1.5)) for _ in range(2)]
    built.engine.finish(same + unseeded)
    assert same[0].output == same[1].output != same[2].output
    assert unseeded[0].output != unseeded[1].output


@pytest.mark.parametrize(
    "wrong", [{"temperature": -1}, {"top_p": 0}, {"top_p": 1.5}, {"top_k": -1}, {"stop": ("",)}, {"max_tokens": 0}]
)
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(UserError, match=f"{next(iter(wrong))}="):
        Sampling(**wrong).check()  # type: ignore[arg-type]
