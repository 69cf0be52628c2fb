"""Every answer of every recorded stream: vLLM's KVCacheManager and SGLang's RadixCache."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from prefixwise.caches.block_chain import BlockChainCache
from prefixwise.caches.events import Event, Evicted, Freed, Stored
from prefixwise.caches.prefix_cache import BlockTable
from prefixwise.caches.radix_cache import RadixCache
from prefixwise.caches.requests import admit, append, blocks_for, new_blocks

GOLDEN = Path(__file__).parents[2] / "fixtures" / "golden"
INPUTS = {"op", "id", "tokens", "token", "salt", "priority"}


def streams(pattern: str) -> list[Any]:
    return [
        pytest.param(recording, stream, id=f"{path.stem}-{number}")
        for path in sorted(GOLDEN.glob(pattern))
        for recording in [json.loads(path.read_text())]
        for number, stream in enumerate(recording["streams"])
    ]


def namespace(salt: str | None) -> bytes:
    return b"-" if salt is None else salt.encode()


@pytest.mark.parametrize(("recording", "stream"), streams("vllm_*.json"))
def test_vllm_streams(recording: dict[str, Any], stream: list[dict[str, Any]]) -> None:
    cache = BlockChainCache(recording["num_blocks"], recording["block_size"])
    running: dict[str, tuple[BlockTable, list[int]]] = {}
    for number, step in enumerate(stream):
        assert {**step, **vllm_step(cache, running, step)} == step, number
        cache.check_integrity()


def vllm_step(
    cache: BlockChainCache, running: dict[str, tuple[BlockTable, list[int]]], step: dict[str, Any]
) -> dict[str, Any]:
    """Do one operation; return every answer that a recording holds."""
    answer: dict[str, Any] = {}
    request = step["id"]
    if step["op"] == "admit":
        match, table = admit(cache, step["tokens"], namespace(step["salt"]))
        answer = {"cached_tokens": match.usable, "hit_blocks": list(match.blocks), "admitted": table is not None}
        if table:
            running[request] = table, list(step["tokens"])
            answer["table"] = list(table.blocks)
    elif step["op"] == "decode":
        table, tokens = running[request]
        tokens.append(step["token"])
        answer["admitted"] = append(cache, table, tokens)
        if answer["admitted"]:
            answer["table"] = list(table.blocks)
        else:
            cache.release(running.pop(request)[0])
            answer["freed"] = True
    else:
        cache.release(running.pop(request)[0])
    answer["free_queue"] = list(cache.free_queue)
    assert set(step) - INPUTS == set(answer)
    return answer


@pytest.mark.parametrize(("recording", "stream"), streams("sglang_*.json"))
def test_sglang_streams(recording: dict[str, Any], stream: list[dict[str, Any]]) -> None:
    page, slots = recording["page_size"], recording["slots"]
    events: list[Event] = []
    cache = RadixCache(slots // page, page, eviction=recording["eviction_policy"], listener=events.append)
    running: dict[str, tuple[BlockTable, list[int]]] = {}
    for number, step in enumerate(stream):
        events.clear()
        assert {**step, **sglang_step(cache, events, running, step)} == step, number
        cache.check_integrity()


def sglang_step(
    cache: RadixCache, events: list[Event], running: dict[str, tuple[BlockTable, list[int]]], step: dict[str, Any]
) -> dict[str, Any]:
    """Do one operation; return every answer that a recording holds."""
    answer: dict[str, Any]
    page = cache.block_size

    def slots(blocks: Any) -> list[int]:
        return [block * page + offset for block in blocks for offset in range(page)]

    if step["op"] == "admit":
        tokens = step["tokens"]
        match = cache.match(tokens, namespace(step["salt"]))
        needed = new_blocks(match, page)
        answer = {"cached_tokens": match.usable, "hit_slots": slots(match.blocks)}
        answer["admitted"] = needed <= cache.available(match)
        if answer["admitted"]:
            table = cache.lock(match, priority=step.get("priority"))
            short = (needed - cache.free_blocks) * page
            answer["new_slots"] = slots(cache.take(table, needed))
            assert len(table.blocks) == blocks_for(len(tokens), page)
            if short > 0:
                gone = [block for event in events if isinstance(event, Evicted) for block in event.blocks]
                answer |= {"evict_asked": short, "evicted_slots": sorted(slots(gone))}
            running[step["id"]] = table, tokens
    else:
        table, tokens = running.pop(step["id"])
        cache.release(table, tokens)
        stored = sum(event.tokens for event in events if isinstance(event, Stored))
        freed = [block for event in events if isinstance(event, Freed) for block in event.blocks]
        answer = {"already_in_tree": len(tokens) // page * page - stored, "freed_slots": sorted(slots(freed))}
    answer |= {"evictable_tokens": cache.evictable_tokens, "free_slots": cache.free_blocks * page}
    assert set(step) - INPUTS == set(answer)
    return answer
