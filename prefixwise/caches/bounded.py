"""Rules with bounded room or time: the rows, as numbered blocks, go through a cache in order of start."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterator

from prefixwise.caches.block_caches import BlockCache, TimeToLive
from prefixwise.caches.chain_replay import ChainReplay
from prefixwise.caches.granular import GranularPolicy, SharedPolicy, check_grain, main_reason
from prefixwise.caches.policy import Policy, Reason, Replay, Settled
from prefixwise.caches.relaxation import Relaxation
from prefixwise.caches.sharing import partition, sharing
from prefixwise.caches.units import Units
from prefixwise.corpus.rows import NONE, Rows


def namespaces(rows: Rows, fields: tuple[str, ...], size: int) -> Iterator[tuple[int, int]]:
    """Yield (row, what to add to its block numbers) in order of start: blocks of two namespaces have two numbers.

    Args:
        rows: The corpus.
        fields: Parts of the namespace that separate requests.
        size: Of the range of numbers that a namespace needs.
    """
    parts = partition(rows, fields)
    for row in rows.by_start():
        yield row, parts[row] * size


class BlockCachePolicy(Settled):
    """A cache of single blocks, one a model; the last, unfilled block of a prompt is a block too.

    Args:
        label: As `--under` takes it.
        unit: Tokens a block.
        make: Makes an empty cache.
        reason: What took the blocks that an unbounded cache would have.
    """

    def __init__(self, label: str, unit: int, make: Callable[[], BlockCache], reason: Reason) -> None:
        self.label = label
        self.unit: int | None = unit
        self._size = unit
        self._make = make
        self._reason = reason

    def without_outputs(self) -> None:
        """Return None: answers do not enter these caches."""
        return

    def relaxed(self, off: Relaxation) -> Policy:
        """Return the same rule let off what takes its blocks, or its blocks altogether."""
        if off.no_granularity:
            return SharedPolicy(self.label, (), outputs=False)
        if off.no_ttl if self._reason is Reason.EXPIRED else off.no_eviction:
            return BlockCachePolicy(self.label, self._size, lambda: TimeToLive(math.inf, refresh=True), self._reason)
        return self

    def check(self, rows: Rows) -> None:
        """Raise UserError where the rows are a trace of coarser blocks than this rule's."""
        check_grain(rows, self._size, self.label, "block")

    def replay(self, rows: Rows) -> Replay:
        """Replay all rows in start order."""
        self.check(rows)
        units = Units(rows, self._size)
        times = rows.start_times()
        caches: dict[int, BlockCache] = {}
        matched = array("i", bytes(4 * len(rows)))
        for row, offset in namespaces(rows, (), units.total + len(rows.tree)):
            tokens, node = rows.prompt_tokens[row], rows.node[row]
            blocks = units.on_path(node)
            if tokens % self._size:
                blocks.append(units.total + node)
            if offset:
                blocks = [block + offset for block in blocks]
            cache = caches.get(rows.model[row])
            if cache is None:
                cache = caches[rows.model[row]] = self._make()
            hits = cache.serve(blocks, times[row])
            matched[row] = min(hits * self._size, tokens)
        return Replay(matched, reasons(rows, matched, sharing(rows).shared, self._reason))


class BoundedChainPolicy(Settled):
    """vLLM's rule with a pool of `capacity` blocks a model.

    Args:
        label: As `--under` takes it.
        block: Tokens a block.
        capacity: Blocks.
        namespace: Parts of the namespace that its keys hold.
        outputs: Whether answers are cached.
    """

    def __init__(self, label: str, block: int, capacity: int, namespace: tuple[str, ...], outputs: bool) -> None:
        self.label = label + ("" if outputs else ",outputs=no")
        self.unit: int | None = block
        self._name = label
        self._size = block
        self._capacity = capacity
        self._namespace = namespace
        self._outputs = outputs

    def without_outputs(self) -> BoundedChainPolicy | None:
        """Return the same rule with a cache that answers do not enter, None for one of that kind."""
        if not self._outputs:
            return None
        return BoundedChainPolicy(self._name, self._size, self._capacity, self._namespace, outputs=False)

    def relaxed(self, off: Relaxation) -> Policy:
        """Return the same rule let off its capacity, its blocks or its namespaces."""
        if not (off.no_eviction or off.no_granularity):
            namespace = () if off.one_namespace else self._namespace
            return BoundedChainPolicy(self._name, self._size, self._capacity, namespace, self._outputs)
        return GranularPolicy("vllm", "block", self._size, self._namespace, self._outputs).relaxed(off)

    def check(self, rows: Rows) -> None:
        """Raise UserError where the rows are a trace of coarser blocks than this rule's."""
        check_grain(rows, self._size, self.label, "block")

    def replay(self, rows: Rows) -> Replay:
        """Replay all rows in start order; a request that the pool has no room for is served nothing."""
        self.check(rows)
        units = Units(rows, self._size)
        times = rows.start_times()
        pools: dict[int, ChainReplay] = {}
        matched = array("i", bytes(4 * len(rows)))
        for row, offset in namespaces(rows, self._namespace, units.total):
            keys = units.on_path(rows.node[row])
            tokens = total = rows.prompt_tokens[row]
            answer: list[int] = []
            if self._outputs and rows.response_node[row] != NONE:
                answer = units.on_path(rows.response_node[row])[len(keys) :]
                total += rows.answer_tokens[row]
            if offset:
                keys = [key + offset for key in keys]
                answer = [key + offset for key in answer]
            pool = pools.get(rows.model[row])
            if pool is None:
                pool = pools[rows.model[row]] = ChainReplay(self._capacity, self._size)
            if tokens:
                matched[row] = pool.serve(keys, tokens, times[row], rows.end[row], answer, total)
        shared = sharing(rows, self._namespace, outputs=self._outputs).shared
        wide = sharing(rows, outputs=self._outputs).shared
        return Replay(matched, reasons(rows, matched, shared, Reason.EVICTED, wide, self._size))


def reasons(
    rows: Rows,
    matched: array[int],
    shared: array[int],
    lost: Reason,
    wide: array[int] | None = None,
    unit: int = 1,
) -> bytearray:
    """Return by row what accounts for most of the tokens that were not served.

    Args:
        rows: The corpus.
        matched: Tokens served.
        shared: Tokens that an earlier request of the namespace had.
        lost: What took those that an unbounded cache of units would serve.
        wide: Tokens that an earlier request of the model had; as `shared` where it is not given.
        unit: Tokens a unit, of which only whole ones are served, and not the last token.
    """
    found = bytearray(len(rows))
    for row, (hit, own, n) in enumerate(zip(matched, shared, rows.prompt_tokens, strict=True)):
        most = max(hit, own if unit == 1 else max(0, min(own, n - 1)) // unit * unit)
        every = own if wide is None else wide[row]
        found[row] = main_reason(n - every, own - most, every - own, most - hit, lost)
    return found
