"""Caches as the engines' documents describe them, without a tree: sets of hash chains, sets of prefixes, loops."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Served:
    """One request as a cache sees it; `answer` is what has KV beyond the prompt."""

    model: str
    prompt: tuple[int, ...]
    answer: tuple[int, ...] = ()
    salt: str | None = None
    adapter: str | None = None
    extra: str | None = None
    start: float | None = None
    end: float | None = None


@dataclass(frozen=True)
class Naive:
    """By request, in file order."""

    hits: list[int]
    reasons: list[str]


def times(served: Sequence[Served]) -> list[float]:
    """Return when each request starts; one without a time starts with the one before it in the file."""
    now = -math.inf
    found = []
    for request in served:
        now = now if request.start is None else request.start
        found.append(now)
    return found


def events(served: Sequence[Served], outputs: bool) -> Iterator[tuple[int, list[tuple[int, tuple[int, ...]]]]]:
    """Yield (request, what has become readable since the last one: (whose, ids)), in order of start."""
    began = times(served)
    order = sorted(range(len(served)), key=lambda i: (began[i], i))
    waiting: list[tuple[float, int]] = []
    previous: list[tuple[int, tuple[int, ...]]] = []
    for i in order:
        ready = sorted(item for item in waiting if item[0] <= began[i])
        waiting = [item for item in waiting if item[0] > began[i]]
        yield i, previous + [(who, served[who].prompt + served[who].answer) for _, who in ready]
        previous = [(i, served[i].prompt)]
        if outputs and served[i].answer:
            end = served[i].end
            waiting.append((began[i] if end is None else end, i))


def common(a: Sequence[int], b: Sequence[int]) -> int:
    """Count equal leading elements, one by one."""
    count = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        count += 1
    return count


def vllm(served: Sequence[Served], block: int, *, outputs: bool = True) -> list[int]:
    """Return hits by request: full blocks in a chain of hashes, looked up in floor((n - 1) / B) steps."""
    known: set[bytes] = set()

    def chain(owner: Served, ids: tuple[int, ...]) -> Iterator[bytes]:
        parent = repr((owner.model, owner.salt, owner.adapter)).encode()
        for at in range(0, len(ids) // block * block, block):
            parent = hashlib.sha256(parent + repr(ids[at : at + block]).encode()).digest()
            yield parent

    hits = [0] * len(served)
    for i, readable in events(served, outputs):
        for owner, ids in readable:
            known.update(chain(served[owner], ids))
        hashes = list(chain(served[i], served[i].prompt))
        for number in range(max(0, len(served[i].prompt) - 1) // block):
            if hashes[number] not in known:
                break
            hits[i] += block
    return hits


def sglang(served: Sequence[Served], page: int, *, outputs: bool = True) -> list[int]:
    """Return hits by request: the longest page-aligned prefix of all but the last token that is in a set."""
    known: set[tuple[object, ...]] = set()
    hits = [0] * len(served)
    for i, readable in events(served, outputs):
        for owner, ids in readable:
            who = served[owner]
            for end in range(page, len(ids) + 1, page):
                known.add((who.model, who.salt, who.extra, who.adapter, ids[:end]))
        me = served[i]
        for end in range(page, len(me.prompt), page):
            if (me.model, me.salt, me.extra, me.adapter, me.prompt[:end]) in known:
                hits[i] = end
    return hits


def longest(
    served: Sequence[Served], fields: Sequence[str] = (), *, outputs: bool = True
) -> tuple[list[int], list[int]]:
    """Return by request (longest prefix any earlier one had, the first that had it or -1), by comparing all pairs."""
    shared, partners = [0] * len(served), [-1] * len(served)
    seen: list[tuple[int, tuple[int, ...]]] = []
    for i, readable in events(served, outputs):
        seen.extend(readable)
        me = served[i]
        for owner, ids in seen:
            other = served[owner]
            same = other.model == me.model and all(getattr(other, f) == getattr(me, f) for f in fields)
            length = common(ids, me.prompt) if same else 0
            if length > shared[i]:
                shared[i], partners[i] = length, owner
    return shared, partners


def reasons(served: Sequence[Served], hits: Sequence[int], own: Sequence[int], model_wide: Sequence[int]) -> list[str]:
    """Say for each request what most of its uncached tokens are, counted one by one; new text wins a tie."""
    found = []
    for request, hit, shared, wide in zip(served, hits, own, model_wide, strict=True):
        counts = {"FIRST_SEEN": 0, "GRANULARITY": 0, "ISOLATED": 0}
        for token in range(hit, len(request.prompt)):
            kind = "GRANULARITY" if token < shared else "ISOLATED" if token < wide else "FIRST_SEEN"
            counts[kind] += 1
        found.append(max(counts, key=counts.__getitem__))
    return found
