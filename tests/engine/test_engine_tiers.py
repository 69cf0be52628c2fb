"""Blocks on disk outlive the engine; damaged ones, or those of another model, are not there."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
import torch
from support.engine_runs import CPU, TINY, Job, engine, jobs, serve, wrong

from prefixwise.caches.file_store import FileStore
from prefixwise.caches.stores import MissingBlockError
from prefixwise.engine.build import Built
from prefixwise.engine.shapes import SHAPES
from prefixwise.engine.tier_stores import DiskStore, HostStore
from prefixwise.engine.weights import random_model

PROMPT = jobs(1, 10)[3].prompt * 9
ONE = [Job(PROMPT[:160], 4)]


def with_disk(folder: Path, **more: Any) -> Built:
    return engine(**{"index": "chain", "block": 8, "disk": folder, "disk_capacity": "4000tokens", **more})


@pytest.fixture
def left(tmp_path: Path) -> Path:
    """A folder in which an engine left the blocks of one request."""
    serve(with_disk(tmp_path), ONE)
    return tmp_path


@pytest.mark.parametrize("index", ["chain", "radix"])
def test_blocks_are_found_at_the_next_start(index: str, tmp_path: Path) -> None:
    serve(with_disk(tmp_path, index=index), ONE)
    requests = serve(with_disk(tmp_path, index=index), ONE)
    # 160 tokens are 20 blocks, the last of which is always computed.
    assert requests[0].cached == {"disk": 152}
    assert wrong(ONE, requests) == []


DAMAGES = {
    "a bit": lambda data: data[:500] + bytes((data[500] ^ 1,)) + data[501:],
    "cut short": lambda data: data[:-100],
    "empty": lambda data: b"",
    "another file": lambda data: b"nothing of ours",
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("while_running", [True, False])
def test_a_damaged_block_is_a_miss(damage: str, while_running: bool, left: Path) -> None:
    built = with_disk(left) if while_running else None
    files = sorted(left.rglob("*.block"))
    assert len(files) >= 20
    for path in files[::3]:
        path.write_bytes(DAMAGES[damage](path.read_bytes()))
    requests = serve(built or with_disk(left), ONE)
    assert wrong(ONE, requests) == []
    assert sum(requests[0].cached.values()) < 152


def test_a_missing_block_ends_the_hit(left: Path) -> None:
    built = with_disk(left)
    for path in left.rglob("*.block"):
        path.unlink()
    requests = serve(built, ONE)
    assert requests[0].cached == {}
    assert wrong(ONE, requests) == []


def test_blocks_of_another_kind_are_not_found(left: Path) -> None:
    other_weights = dataclasses.replace(TINY, weights=lambda: "others")
    other_model = dataclasses.replace(TINY, model=random_model(SHAPES["tiny"], 1, CPU, torch.float32))
    half = dataclasses.replace(TINY, model=random_model(SHAPES["tiny"], 0, CPU, torch.bfloat16))
    assert serve(with_disk(left, loaded=other_weights), ONE)[0].cached == {}
    assert serve(with_disk(left, block=16), ONE)[0].cached == {}
    assert serve(with_disk(left, loaded=half, deterministic=False, dtype="bf16"), ONE)[0].cached == {}
    # The hash of the weights is what tells models of one shape apart.
    assert serve(with_disk(left, loaded=other_model), ONE)[0].cached == {"disk": 152}


def test_more_blocks_than_fit_are_deleted_at_start(left: Path) -> None:
    built = with_disk(left, disk_capacity="5blocks")
    assert len(built.tiers[0].entries) == 5
    assert len(list(left.rglob("*.block"))) == 5


def test_a_full_disk_is_said_and_loses_only_hits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from prefixwise.engine.build import assemble
    from prefixwise.engine.settings import EngineSettings

    def full(self: FileStore, block: object, contents: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(FileStore, "put", full)
    said: list[str] = []
    settings = EngineSettings(index="chain", block=8, capacity="170tokens", disk=tmp_path, deterministic=True)
    built = assemble(settings, TINY, said.append)
    work = [*ONE, Job(PROMPT[1:140], 4), *ONE]
    requests = serve(built, work)
    assert wrong(work, requests) == []
    assert "No space left on device" in said
    assert "disk" not in requests[2].cached


def test_the_host_store_hands_out_its_rows_again() -> None:
    like = torch.arange(6.0).view(2, 3)
    store = HostStore(2, like, pinned=False)
    store.put("a", like)
    store.put("b", like + 1)
    store.put("a", like + 2)
    assert torch.equal(store.get("a"), like + 2)
    store.drop("a")
    store.drop("a")
    with pytest.raises(MissingBlockError):
        store.get("a")
    store.put("c", like + 3)
    assert torch.equal(store.get("b"), like + 1)
    assert torch.equal(store.get("c"), like + 3)
    for wrong_contents in (None, b"bytes"):
        with pytest.raises(TypeError, match="a block is a tensor"):
            store.put("c", wrong_contents)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_the_disk_store_gives_back_every_bit(dtype: torch.dtype, tmp_path: Path) -> None:
    block = torch.randn((2, 2, 4, 2, 8)).to(dtype)
    store = DiskStore(FileStore(tmp_path, "x"), block, pytest.fail)
    key = (b"tenant", b"hash")
    store.put(key, block.transpose(0, 1).contiguous().transpose(0, 1))
    assert torch.equal(store.get(key), block)
    other = DiskStore(FileStore(tmp_path, "x"), block[:1], pytest.fail)
    with pytest.raises(MissingBlockError):
        other.get(key)
