"""Random work for engines on the tiny model, and what each request gives alone and without a cache."""

from __future__ import annotations

import dataclasses
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from prefixwise.caches.events import Listener, ignore
from prefixwise.engine.build import Built, assemble, choose_device
from prefixwise.engine.byte_tokenizer import ByteTokenizer
from prefixwise.engine.loading import LoadedModel
from prefixwise.engine.request import Request, Sampling
from prefixwise.engine.settings import EngineSettings
from prefixwise.engine.shapes import SHAPES
from prefixwise.engine.weights import random_model

CPU = choose_device("cpu")
TINY = LoadedModel("random:tiny", random_model(SHAPES["tiny"], 0, CPU, torch.float32), ByteTokenizer(), lambda: "tiny")


@dataclass(frozen=True)
class Job:
    """A request: it comes once `after` steps have been computed since the last one."""

    prompt: tuple[int, ...]
    answer: int
    namespace: int = 0
    after: int = 0


def engine(listener: Listener = ignore, loaded: LoadedModel = TINY, **settings: Any) -> Built:
    """Return a deterministic engine on the tiny model."""
    chosen = {"model": "random:tiny", "deterministic": True, "capacity": "4000tokens", **settings}
    return assemble(EngineSettings(**chosen), loaded, listener=listener)


def jobs(seed: int, count: int, namespaces: int = 2, longest: int = 16) -> list[Job]:
    """Return requests that share beginnings, repeat each other, and go on from each other; answers to `longest`."""
    draw = random.Random(seed)
    tokens = lambda most: tuple(draw.randrange(256) for _ in range(draw.randint(1, most)))  # noqa: E731
    beginnings = [(), tokens(20), tokens(70), tokens(120)]
    found: list[Job] = []
    for _ in range(count):
        base: tuple[int, ...] = draw.choice(beginnings)
        if found and draw.random() < 0.3:
            base = draw.choice(found).prompt
            base = base[: draw.randint(1, len(base))] if draw.random() < 0.5 else base
        prompt = (base + (tokens(30) if draw.random() < 0.9 else ()))[:200] or tokens(5)
        after = draw.choice((0, 0, 1, 3))
        found.append(Job(prompt, draw.randint(1, longest), draw.randrange(namespaces), after))
    return found


@dataclass
class Alone:
    """Answers of single requests without a cache, each computed once."""

    loaded: LoadedModel = TINY
    known: dict[tuple[int, ...], list[int]] = field(default_factory=dict)

    def answer(self, prompt: tuple[int, ...], length: int) -> list[int]:
        """Return the first `length` tokens of the greedy answer."""
        found = self.known.get(prompt, [])
        if len(found) < length:
            alone = engine(loaded=self.loaded, index="none", capacity="1000tokens")
            request = alone.engine.submit(prompt, Sampling(max_tokens=length, ignore_end=True))
            alone.engine.finish([request])
            found = self.known[prompt] = request.output
        return found[:length]


ALONE = Alone()


def serve(built: Built, work: list[Job]) -> list[Request]:
    """Run jobs as they come; return their requests."""
    requests = []
    for job in work:
        for _ in range(job.after):
            built.engine.step()
        sampling = Sampling(max_tokens=job.answer, ignore_end=True)
        requests.append(built.engine.submit(job.prompt, sampling, job.namespace))
    built.engine.finish(requests)
    built.engine.check_integrity()
    return requests


class Noting:
    """A model that keeps the logits of its last step."""

    def __init__(self, model: Any) -> None:
        self.config, self.device, self.dtype = model.config, model.device, model.dtype
        self.logits = torch.empty(0)
        self._model = model

    def forward(self, *args: Any) -> torch.Tensor:
        self.logits = self._model.forward(*args)
        return self.logits


def logits_of(work: list[Job], loaded: LoadedModel = TINY, **settings: Any) -> list[torch.Tensor]:
    """Run jobs as they come; return the logits of all tokens of each answer."""
    model = Noting(loaded.model)
    built = engine(loaded=dataclasses.replace(loaded, model=model), **settings)
    rows: list[list[torch.Tensor]] = [[] for _ in work]

    def step() -> None:
        updates = [update for update in built.engine.step() if update.token is not None]
        for update, row in zip(updates, model.logits if updates else (), strict=True):
            rows[update.request.number - 1].append(row.clone())

    for job in work:
        for _ in range(job.after):
            step()
        built.engine.submit(job.prompt, Sampling(max_tokens=job.answer, ignore_end=True), job.namespace)
    while not built.engine.idle:
        step()
    return [torch.stack(row) for row in rows]


def wrong(work: list[Job], requests: list[Request], alone: Alone = ALONE) -> list[int]:
    """Return the numbers of the jobs whose answers are not those that they get alone."""
    return [
        number
        for number, (job, request) in enumerate(zip(work, requests, strict=True))
        if request.output != alone.answer(job.prompt, job.answer)
    ]


def some_settings(seed: int, folder: Path) -> dict[str, Any]:
    """Return random settings: index, block, room, batches, order and tiers."""
    draw = random.Random(seed)
    index = draw.choice(("chain", "radix", "partial"))
    block = draw.choice((1, 4, 8, 16) if index == "radix" else (4, 8, 16))
    # A request needs 215 tokens at most; the least room holds hardly more than one.
    tokens = draw.choice((240, 400, 800, 4000))
    settings: dict[str, Any] = {
        "index": index,
        "block": block,
        "capacity": str(-(-tokens // block) + 1),
        "token_budget": draw.choice((7, 16, 33, 64, 2048)),
        "most_running": draw.choice((1, 3, 8, 64)),
        "order": draw.choice(("fcfs", "longest-prefix-first")),
        "eviction": draw.choice(("lru", "lfu", "slru", "fifo")),
    }
    if draw.random() < 0.5:
        settings["host"] = f"{draw.choice((64, 300, 2000))}tokens"
    if index != "partial" and draw.random() < 0.4:
        settings |= {"disk": folder / "blocks", "disk_capacity": "1000tokens"}
    return settings | {"write": draw.choice(("through", "selective", "back"))}
