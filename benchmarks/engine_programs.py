"""Measure what reuse saves in programs of many calls: `python -m benchmarks.engine_programs --help`.

Four programs on SmolLM2-135M (fp32, one thread, deterministic), with the prefix cache on and off, in turn:

    chat       8 turns of one conversation, each with all turns before it
    agent      12 calls of an agent, each with the results of all tools before it
    few-shot   20 questions behind the same 5 examples, sent at once
    tree       3 thoughts on one problem and 3 on each of them: 1 + 3 + 9 calls, those of a level at once

Prompts are drawn token by token from a seed; answers are the model's, and go into the prompts that follow. The answers
with and without a cache must be the same. Figures are CPU seconds from the first call to the last answer; the speed-up
is of medians over the rounds.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from prefixwise.bench.program.programs import PROGRAMS, Draw, Program, levels

Ids = list[int]


def tokens(draw: random.Random, count: int) -> Ids:
    return [draw.randrange(100, 40_000) for _ in range(count)]


class Side:
    """An engine with a cache, or without one."""

    def __init__(self, loaded: Any, index: str) -> None:
        from prefixwise.engine.build import assemble
        from prefixwise.engine.settings import EngineSettings

        settings = EngineSettings(index=index, capacity="16000tokens", deterministic=True)  # type: ignore[arg-type]
        self.engine = assemble(settings, loaded).engine

    def run(self, program: Callable[[Draw[Ids]], Program[Ids]], seed: int) -> tuple[float, list[Ids], float]:
        """Return CPU seconds, answers, and the share of the prompts that was cached."""
        from prefixwise.engine.request import Sampling

        requests: list[Any] = []
        answers: list[Ids] = []

        def ask(prompts: list[Ids], length: int) -> list[Ids]:
            sent = [self.engine.submit(prompt, Sampling(max_tokens=length, ignore_end=True)) for prompt in prompts]
            self.engine.finish(sent)
            requests.extend(sent)
            answers.extend(request.output for request in sent)
            return [request.output for request in sent]

        self.engine.cache.reset()
        drawn = random.Random(seed)
        began = time.process_time()
        levels(program(lambda count: tokens(drawn, count)), ask)
        spent = time.process_time() - began
        cached = sum(sum(request.cached.values()) for request in requests)
        return spent, answers, cached / sum(request.prompt_tokens for request in requests)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="rounds of every program, on and off (default 3)")
    parser.add_argument("--files", type=Path, default=Path(".cache/engine"), help="folder for the converted model")
    given = parser.parse_args()
    from prefixwise.engine.build import load_for
    from prefixwise.engine.settings import EngineSettings

    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors, one thread")
    loaded = load_for(EngineSettings(threads=1, deterministic=True, files=given.files))
    on, off = Side(loaded, "chain"), Side(loaded, "none")
    for name, program in PROGRAMS.items():
        spent: dict[str, list[float]] = {"on": [], "off": []}
        share = 0.0
        for seed in range(given.rounds):
            warm, answers, share = on.run(program, seed)
            cold, same, _ = off.run(program, seed)
            if answers != same:
                print(f"{name}: the answers differ")
                return 1
            spent["on"].append(warm)
            spent["off"].append(cold)
        middle = {side: statistics.median(seconds) for side, seconds in spent.items()}
        times = middle["off"] / middle["on"]
        print(
            f"{name:9} off {middle['off']:6.1f} s  on {middle['on']:6.1f} s  {times:.1f} times as fast, {share:.0%} of "
            f"the prompt tokens cached, n = {given.rounds}, load {os.getloadavg()[0]:.1f}",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
