"""Measure what reading each format costs: `python -m benchmarks.formats --help`.

The same workload is written in every format of `tests/formats`, and read in one process in interleaved rounds; the
figure is CPU time a request over that of plain logs of bodies with the same prompts and times, in as many files,
medians compared.
Target: at most 1.5.

Exit codes: 0 all reached, 1 a target missed.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import json
import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from formats.catalogue import FORMATS, Format
from formats.test_same_workload import reference_record
from formats.workload import build
from formats.writers.plain import Files

from prefixwise.corpus.corpus import read_corpus
from prefixwise.corpus.reader import ReadOptions

MOST = 1.5
BODIES = " bodies"


def plain_bodies(form: Format, requests: int) -> Files:
    """Return the requests that a format holds as plain logs of bodies, in as many files as the format takes."""
    workload = build(form.model, requests)
    held = form.holds(workload)
    records = [json.dumps(reference_record(form, exchange), ensure_ascii=False) + "\n" for exchange in held]
    files = min(len(form.write(workload)), len(records))
    cuts = [len(records) * number // files for number in range(files + 1)]
    parts = ("".join(records[first:last]).encode() for first, last in itertools.pairwise(cuts))
    return [(f"bodies-{number}.jsonl", part) for number, part in enumerate(parts)]


def written(name: str, requests: int, folder: Path) -> tuple[list[str], ReadOptions]:
    """Write the workload in one format, or as its plain bodies, and return its files and how to read them."""
    form = FORMATS[name.removesuffix(BODIES)]
    paths = []
    if name.endswith(BODIES):
        form = replace(form, options=ReadOptions())
        files = plain_bodies(form, requests)
    else:
        files = form.write(build(form.model, requests))
    for file, data in files:
        path = folder / name / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        paths.append(str(path))
    return paths, form.options


def cost(paths: list[str], options: ReadOptions) -> float:
    """Return the CPU seconds a request that reading takes."""
    gc.collect()
    gc.disable()  # as the command does while it reads
    start = time.process_time()
    corpus = read_corpus(paths, options)
    taken = time.process_time() - start
    gc.enable()
    return taken / len(corpus.rows)


def main() -> int:
    """Measure every format and print a line for each."""
    parser = argparse.ArgumentParser(prog="benchmarks.formats", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", help="comma-separated names of formats")
    given = parser.parse_args()
    names = given.only.split(",") if given.only else list(FORMATS)
    with tempfile.TemporaryDirectory() as folder:
        pairs = [one for name in names for one in (name, name + BODIES)]
        inputs = {name: written(name, given.requests, Path(folder)) for name in pairs}
        costs: dict[str, list[float]] = {name: [] for name in pairs}
        for turn in range(given.rounds + 1):
            for name in pairs:
                found = cost(*inputs[name])
                if turn:  # the first round warms up
                    costs[name].append(found)
    missed = 0
    for name in names:
        ratios = sorted(mine / plain for mine, plain in zip(costs[name], costs[name + BODIES], strict=True))
        ratio = statistics.median(ratios)
        missed += ratio > MOST
        each = 1e6 * statistics.median(costs[name])
        print(f"{name:26} {each:7.1f} us  {ratio:5.2f} [{ratios[0]:.2f}, {ratios[-1]:.2f}] x bodies")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
