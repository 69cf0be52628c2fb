"""vLLM's block pool with bounded capacity, replayed at speed over numbered blocks.

The same order as `chain`: the free list hands out unhashed blocks first, then the hashed one that was freed longest
ago; a request frees its table from the tail; the last token is always computed, so a prompt that is cached whole gets
a second copy of its last block; the first copy of a block serves (vLLM 0.32 `kv_cache_manager`, `block_pool`).
Requests that run at the same time hold their blocks from start to end; answers fill blocks when they end.
"""

from __future__ import annotations

import heapq
from collections import OrderedDict


class Table:
    """The blocks of one running request, in order."""

    __slots__ = ("blocks", "tokens")

    def __init__(self, blocks: list[int], tokens: int) -> None:
        self.blocks = blocks
        self.tokens = tokens


class ChainReplay:
    """A pool of `capacity` blocks of `size` tokens. Keys are block numbers (`Units`), by namespace."""

    def __init__(self, capacity: int, size: int) -> None:
        self.size = size
        self._plain = capacity
        """Free blocks without a key; they are handed out first."""
        self._next = 0
        self._key: dict[int, int] = {}
        self._copies: dict[int, list[int]] = {}
        self._idle: OrderedDict[int, None] = OrderedDict()
        self._held: dict[int, int] = {}
        self._running: list[tuple[float, int, Table, list[int], int]] = []
        self._number = 0

    def serve(self, keys: list[int], tokens: int, start: float, end: float, answer: list[int], total: int) -> int:
        """Admit a request and return the tokens that it is served.

        Args:
            keys: Numbers of its prompt's whole blocks, root first.
            tokens: Of its prompt.
            start: When it comes, in seconds.
            end: When it is over; at once where this is not after `start`.
            answer: Numbers of the whole blocks of prompt and answer behind those of the prompt.
            total: Tokens of prompt and answer.
        """
        self._finish(start)
        hits = self._hits(keys, (tokens - 1) // self.size)
        if not self._held and not (end > start) and total == tokens:
            return self._serve_alone(keys, hits, -(-tokens // self.size))
        table = self._admit(keys, hits, -(-tokens // self.size))
        if table is None:
            return 0
        run = Table(table, tokens)
        if end > start:
            self._number += 1
            heapq.heappush(self._running, (end, self._number, run, answer, total))
        else:
            self._end(run, answer, total)
        return hits * self.size

    def _serve_alone(self, keys: list[int], hits: int, need: int) -> int:
        """Admit and end a request while no other runs; the same as the two steps, without holding its blocks."""
        copies, idle = self._copies, self._idle
        use = idle.move_to_end
        if need > self._plain + len(idle):
            return 0
        table = [copies[key][0] for key in keys[:hits]]
        for block in table:  # out of the way of what is evicted now
            use(block)
        new = [self._take() for _ in range(need - hits)]
        whole = len(keys) - hits
        for block, key in zip(new, keys[hits:], strict=False):
            self._register(block, key)
        self._plain += len(new) - whole
        for block in reversed(new[:whole]):
            idle[block] = None
        for block in reversed(table):
            use(block)
        return hits * self.size

    def _hits(self, keys: list[int], most: int) -> int:
        copies = self._copies
        hits = 0
        for key in keys:
            if hits == most or key not in copies:
                break
            hits += 1
        return hits

    def _admit(self, keys: list[int], hits: int, need: int) -> list[int] | None:
        """Hold the hit blocks and take new ones; None where the pool has not enough."""
        copies, held, idle = self._copies, self._held, self._idle
        table = [copies[key][0] for key in keys[:hits]]
        unheld = sum(block not in held for block in table)
        if need - hits + unheld > self._plain + len(idle):
            return None
        for block in table:
            if block in held:
                held[block] += 1
            else:
                del idle[block]
                held[block] = 1
        for index in range(hits, need):
            block = self._take()
            held[block] = 1
            table.append(block)
            if index < len(keys):
                self._register(block, keys[index])
        return table

    def _take(self) -> int:
        """Take a free block: one without a key while there is one, else the one freed longest ago."""
        if self._plain:
            self._plain -= 1
        else:
            block, _ = self._idle.popitem(last=False)
            key = self._key.pop(block)
            same = self._copies[key]
            if len(same) == 1:
                del self._copies[key]
            else:
                same.remove(block)
        self._next += 1
        return self._next

    def _register(self, block: int, key: int) -> None:
        self._key[block] = key
        same = self._copies.get(key)
        if same is None:
            self._copies[key] = [block]
        else:
            same.append(block)

    def _finish(self, now: float) -> None:
        """End what is over at `now`."""
        while self._running and self._running[0][0] <= now:
            _, _, run, answer, total = heapq.heappop(self._running)
            self._end(run, answer, total)

    def _end(self, run: Table, answer: list[int], total: int) -> None:
        """Fill blocks with the answer as far as there is room, then free the table from its tail."""
        table = run.blocks
        whole = run.tokens // self.size
        for index in range(whole, -(-total // self.size)):
            if index >= len(table):
                if not self._plain and not self._idle:
                    break
                block = self._take()
                self._held[block] = 1
                table.append(block)
            if index - whole < len(answer):
                self._register(table[index], answer[index - whole])
        held, idle, keys = self._held, self._idle, self._key
        for block in reversed(table):
            if held[block] > 1:
                held[block] -= 1
                continue
            del held[block]
            if block in keys:
                idle[block] = None
            else:
                self._plain += 1
