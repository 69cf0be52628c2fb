"""No request ever reads keys or values of another namespace, nor of other tokens, whatever the cache did with them.

Every slot carries a mark in a layer of its own, which blocks take along wherever they are copied: who wrote it, and
what stood before it. A step looks at the marks of all that its requests read.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch
from support.engine_runs import CPU, TINY, engine, jobs, serve, some_settings

from prefixwise.engine import build as building
from prefixwise.engine.attention import SdpaAttention
from prefixwise.engine.batch import make_batch
from prefixwise.engine.engine import Engine
from prefixwise.engine.executor import Piece
from prefixwise.engine.kv_pool import KvPool
from prefixwise.engine.model_config import ModelConfig
from prefixwise.engine.torch_executor import TorchExecutor


class MarkedPool(KvPool):
    """A pool with a layer more, for the marks."""

    def __init__(self, model: ModelConfig, *args: Any) -> None:
        super().__init__(msgspec.structs.replace(model, layers=model.layers + 1), *args)
        self.marks = self.keys[-1]
        self.keys, self.values = self.keys[:-1], self.values[:-1]


def mark(namespace: int, tokens: Sequence[int], position: int) -> int:
    """Return the mark of a token: it stands for the namespace and all tokens up to it."""
    return zlib.crc32(repr((namespace, tuple(tokens[: position + 1]))).encode()) % 1_000_003 + 1


class Watching(TorchExecutor):
    """Marks what it computes, and checks the marks of what it reads."""

    engine: Engine
    checked = 0

    def run(self, pieces: Sequence[Piece]) -> list[int]:
        size = self.pool.block_size
        by_table = {id(r.table.blocks): r for r in self.engine.scheduler.running if r.table}
        slots = lambda piece, n: [piece.blocks[at // size] * size + at % size for at in range(n)]  # noqa: E731
        marks: Any = self.pool.marks  # type: ignore[attr-defined]
        wanted = {}
        for piece in pieces:
            request = by_table[id(piece.blocks)]
            end = piece.start + len(piece.tokens)
            wanted[id(piece)] = [mark(int(request.namespace), request.tokens, at) for at in range(end)]
            marks[slots(piece, end)[piece.start :]] = torch.tensor(wanted[id(piece)][piece.start :]).float()[
                :, None, None
            ]
        for piece in pieces:
            read = marks[slots(piece, piece.start)][:, 0, 0].tolist()
            assert read == wanted[id(piece)][: piece.start]
            Watching.checked += piece.start
        return super().run(pieces)


@pytest.fixture(autouse=True)
def _marked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "KvPool", MarkedPool)
    monkeypatch.setattr(building, "TorchExecutor", Watching)


@pytest.mark.parametrize("seed", range(200, 212))
def test_no_request_reads_what_is_not_its_own(seed: int, tmp_path: Path) -> None:
    built = engine(**some_settings(seed, tmp_path))
    executor: Any = built.engine._executor
    executor.engine = built.engine
    Watching.checked = 0
    requests = serve(built, jobs(seed, 30, namespaces=3))
    # What is read: at least everything that came from the cache.
    assert Watching.checked >= sum(sum(request.cached.values()) for request in requests) > 0


@pytest.mark.parametrize("index", ["chain", "radix", "partial"])
def test_keys_and_values_of_hits_are_those_of_a_cold_run(index: str) -> None:
    built = engine(index=index, block=8, capacity="600tokens", host="2000tokens")
    built.engine._executor.engine = built.engine  # type: ignore[attr-defined]
    hits = 0
    for job in jobs(31, 40, namespaces=3):
        table = None
        request = built.engine.submit(job.prompt, namespace=job.namespace)
        while request.finish is None and table is None:
            built.engine.step()
            table = request.table
        assert table is not None
        cached = table.cached_tokens
        if cached:
            hits += 1
            found = built.pool.rows(table.blocks, cached)[:, :-1]
            cold = KvPool(TINY.model.config, 40, 8, torch.float32, CPU)
            batch = make_batch([Piece(job.prompt, 0, range(1, 40))], 8, CPU, exact=True)
            TINY.model.forward(batch, cold, SdpaAttention())
            assert (found - cold.rows(range(1, 40), cached)).abs().max() < 1e-5
        built.engine.cancel(request)
    assert hits > 10
