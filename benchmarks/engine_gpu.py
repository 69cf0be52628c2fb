"""Check and measure the engine on a device: `python -m benchmarks.engine_gpu --help`; `benchmarks/gpu.sh` runs it.

Equality: requests that share beginnings are answered greedily, one by one without a cache, and together in little
room with each index. The logits of both ways are compared as far as the tokens are the same; an answer may differ only
where the two likeliest tokens are closer than twice the largest difference seen there. Answers that differ are counted;
one that may not makes the run fail.

Speed: time to the first token of a prompt whose first token is new (cold) and of one of which all but 64 tokens are
cached (warm, verified by the request's own account), beside the time that the multiplications alone take at the speed
of a large matrix product measured on the same device.
"""

from __future__ import annotations

import argparse
import dataclasses
import random
import statistics
import sys
import time
from typing import Any

NEW = 64


def engine(loaded: Any, **settings: Any) -> Any:
    from prefixwise.engine.build import assemble
    from prefixwise.engine.settings import EngineSettings

    return assemble(EngineSettings(**settings), loaded)


class Noting:
    """A model that notes the logits behind each request's tokens."""

    def __init__(self, model: Any) -> None:
        self.config, self.device, self.dtype = model.config, model.device, model.dtype
        self.noted: list[Any] = []
        self._model = model

    def forward(self, batch: Any, pool: Any, attention: Any) -> Any:
        found = self._model.forward(batch, pool, attention)
        self.noted.append(found.float().cpu())
        return found


def answered(loaded: Any, prompts: list[list[int]], together: bool, **settings: Any) -> tuple[list[Any], Any]:
    """Return (tokens, logits by token) of every prompt's answer, and the engine."""
    from prefixwise.engine.request import Sampling

    model = Noting(loaded.model)
    built = engine(dataclasses.replace(loaded, model=model), **settings)
    rows: dict[int, list[Any]] = {}
    sampling = Sampling(max_tokens=16, ignore_end=True)

    def drain() -> None:
        while not built.engine.idle:
            updates = [update for update in built.engine.step() if update.token is not None]
            for update, row in zip(updates, model.noted.pop() if updates else (), strict=True):
                rows.setdefault(update.request.number, []).append(row)
            model.noted.clear()

    requests = []
    for prompt in prompts:
        requests.append(built.engine.submit(prompt, sampling))
        if not together:
            drain()
    drain()
    built.engine.check_integrity()
    return [(request.output, rows[request.number]) for request in requests], built.engine


def equality(loaded: Any, count: int) -> bool:
    draw = random.Random(5)
    vocabulary = loaded.model.config.vocabulary
    tokens = lambda size: [draw.randrange(vocabulary) for _ in range(size)]  # noqa: E731
    shared = [tokens(size) for size in (0, 40, 150)]
    prompts = [draw.choice(shared) + tokens(draw.randint(1, 60)) for _ in range(count)]
    alone, _ = answered(loaded, prompts, False, index="none", capacity="4000tokens")
    fine = True
    for index in ("chain", "radix", "partial"):
        settings = {"index": index, "capacity": "900tokens", "host": "4000tokens", "token_budget": 128}
        found, used = answered(loaded, prompts, True, **settings)
        error, margins = 0.0, []
        for (wanted, cold), (got, warm) in zip(alone, found, strict=True):
            same = next((i for i, pair in enumerate(zip(wanted, got, strict=True)) if pair[0] != pair[1]), len(wanted))
            # Up to where they part, both have the same tokens before them.
            error = max([error, *(float((cold[at] - warm[at]).abs().max()) for at in range(same))])
            if same < len(wanted):
                first, second = cold[same].topk(2).values.tolist()
                margins.append(first - second)
        forbidden = sum(margin >= 2 * error for margin in margins)
        share = used.totals.cached_tokens / used.totals.prompt_tokens
        print(
            f"equality {index:8} {count} answers, {len(margins)} differ, {forbidden} of them may not; largest "
            f"difference of logits {error:.2g}; {share:.0%} cached, {used.scheduler.preemptions} preemptions",
            flush=True,
        )
        fine &= not forbidden
    return fine


def product_speed(loaded: Any) -> float:
    """Return operations a second of a large matrix product."""
    import torch

    device, dtype = loaded.model.device, loaded.model.dtype
    size = 8192 if device.type == "cuda" else 1024
    one, other = (torch.randn((size, size), device=device).to(dtype) for _ in range(2))

    def wait() -> None:
        if device.type == "cuda":
            torch.cuda.synchronize()

    spent = []
    for _ in range(6):
        wait()
        began = time.perf_counter()
        one @ other
        wait()
        spent.append(time.perf_counter() - began)
    return 2 * size**3 / min(spent)


def operations(config: Any, new: int, length: int) -> float:
    """Return the operations for the last `new` of `length` tokens: weights, and attention over what is before each."""
    weights = 2 * (config.parameters - config.vocabulary * config.hidden * (1 if config.tied else 2)) * new
    attention = 4 * config.layers * config.heads * config.head_size * new * (length - new / 2)
    return weights + attention


def speed(loaded: Any, lengths: list[int], rounds: int) -> None:
    from prefixwise.engine.request import Sampling, account_of

    config = loaded.model.config
    draw = random.Random(6)
    tokens = lambda size: [draw.randrange(config.vocabulary) for _ in range(size)]  # noqa: E731
    rate = product_speed(loaded)
    print(f"matrix product {rate / 1e12:.2f} Tflop/s, {loaded.model.dtype} on {loaded.model.device}")
    for length in lengths:
        built = engine(loaded, index="chain", capacity=f"{3 * length + 4096}tokens", token_budget=8192)
        found: dict[str, list[float]] = {"cold": [], "warm": []}

        def first_token(prompt: list[int], cached: int, built: Any = built) -> float:
            request = built.engine.submit(prompt, Sampling(max_tokens=1, ignore_end=True))
            built.engine.finish([request])
            account = account_of(request)
            if account.cached_tokens != cached:
                raise SystemExit(f"{account.cached_tokens} tokens were cached, not {cached}")
            return account.ttft or 0.0

        first_token(tokens(length), 0)  # what is slow only once
        for _ in range(rounds):
            prompt = tokens(length)
            found["cold"].append(first_token(prompt, 0))
            kept = (length - NEW) // 16 * 16
            found["warm"].append(first_token(prompt[:kept] + tokens(length - kept), kept))
        for kind, new in (("cold", length), ("warm", NEW)):
            floor = operations(config, new, length) / rate
            middle = statistics.median(found[kind])
            spread = f"{min(found[kind]) * 1000:.1f} to {max(found[kind]) * 1000:.1f}, n = {rounds}"
            print(
                f"{loaded.name} {length:,} tokens, {kind}: {middle * 1000:.1f} ms ({spread}), "
                f"floor {floor * 1000:.1f} ms",
                flush=True,
            )
        del built


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda")
    parser.add_argument("--equal", default="random:tiny", help="model whose answers are compared")
    parser.add_argument("--answers", type=int, default=100, help="how many of them")
    parser.add_argument("--model", default="random:llama-3-8b", help="model whose speed is measured; empty for none")
    parser.add_argument("--dtype", default="auto", help="of both models")
    parser.add_argument("--lengths", type=int, nargs="+", default=[8192, 32768], help="prompt lengths")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    from prefixwise.engine.build import load_for
    from prefixwise.engine.settings import EngineSettings

    settings = {"device": given.device, "dtype": given.dtype}
    fine = equality(load_for(EngineSettings(model=given.equal, **settings)), given.answers)
    if given.model:
        speed(load_for(EngineSettings(model=given.model, **settings)), given.lengths, given.rounds)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
