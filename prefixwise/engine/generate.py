"""Runs prompts through an engine and accounts for them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence

import msgspec
import torch

from prefixwise.core.report import Report
from prefixwise.engine.build import Built, build
from prefixwise.engine.generate_report import Answer, EngineFacts, generate_report
from prefixwise.engine.request import Request, Sampling, account_of
from prefixwise.engine.settings import EngineSettings


class Asked(msgspec.Struct, frozen=True):
    """What is to be generated.

    Attributes:
        prompts: The users' messages, or bare prompts.
        system: System prompt of all of them; empty for the template's own.
        bare: Whether the prompts go to the model as they are, without its chat template.
        repeat: Times that every prompt is sent, in rounds.
        together: Whether the prompts of a round are sent at once.
        sampling: How answers are drawn.
    """

    prompts: tuple[str, ...]
    system: str = ""
    bare: bool = False
    repeat: int = 1
    together: bool = False
    sampling: Sampling = Sampling()


def generate(asked: Asked, settings: EngineSettings, warn: Callable[[str], None]) -> Report:
    """Return the report of `prefixwise generate`.

    Raises:
        UserError: A setting makes no sense, the model is not there, or a prompt does not fit.
        MissingExtraError: A package is not installed.
    """
    began = time.perf_counter()
    built = build(settings, warn)
    loaded = time.perf_counter() - began
    prompts = [_ids(built, asked, prompt) for prompt in asked.prompts]
    requests: list[Request] = []
    for _ in range(asked.repeat):
        requests += _round(built, prompts, asked)
    answers = [Answer(number, request.text, account_of(request)) for number, request in enumerate(requests, 1)]
    return generate_report(_facts(built, loaded), answers)


def _round(built: Built, prompts: Sequence[list[int]], asked: Asked) -> list[Request]:
    engine = built.engine
    if asked.together:
        requests = [engine.submit(prompt, asked.sampling) for prompt in prompts]
        engine.finish(requests)
        return requests
    requests = []
    for prompt in prompts:
        request = engine.submit(prompt, asked.sampling)
        engine.finish([request])
        requests.append(request)
    return requests


def _ids(built: Built, asked: Asked, prompt: str) -> list[int]:
    if asked.bare:
        return built.loaded.text_prompt(prompt)
    system = [{"role": "system", "content": asked.system}] if asked.system else []
    return built.loaded.chat_prompt([*system, {"role": "user", "content": prompt}])


def _facts(built: Built, load_seconds: float) -> EngineFacts:
    totals, size = built.engine.totals, built.settings.block_size
    spent = totals.schedule_seconds + totals.compute_seconds + totals.after_seconds
    return EngineFacts(
        model=built.settings.model,
        dtype=built.dtype,
        device=built.loaded.model.device.type,
        threads=torch.get_num_threads(),
        index=built.settings.index,
        block=size,
        capacity=built.engine.cache.capacity * size,
        tiers={tier.name: tier.capacity * size for tier in built.tiers},
        deterministic=built.settings.deterministic,
        load_seconds=load_seconds,
        schedule_share=totals.schedule_seconds / spent if spent else None,
        machine_load=os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
    )
