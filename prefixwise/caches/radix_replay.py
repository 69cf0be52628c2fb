"""SGLang's radix tree with bounded capacity, replayed at speed: the same tree as `radix_cache`, over runs of pages.

Pages that no request parts move together, so the tree holds one number for each run of them and weighs it. What is
counted is what `RadixCache` would hold: a request locks its path, takes pages for the rest (evicting whole leaves),
inserts its prompt at once and its answer when it ends, and gives back duplicates and the unfilled page.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from prefixwise.caches.events import LogicalClock
from prefixwise.caches.eviction_orders import EVICTION_ORDERS
from prefixwise.caches.radix_tree import Node, RadixTree


class _Running:
    """A request that holds pages: its namespace, its runs, its deepest node, and the pages that are its own."""

    __slots__ = ("answer", "namespace", "node", "pages", "private", "prompt")

    def __init__(self, namespace: int, prompt: list[int], answer: list[int], pages: int) -> None:
        self.namespace = namespace
        self.prompt = prompt
        self.answer = answer
        self.pages = pages
        self.private = 0
        self.node: Node


class RadixReplay:
    """A pool of `capacity` pages.

    Args:
        capacity: Pages.
        weights: Pages in each run.
        eviction: Name of the eviction order.
    """

    def __init__(self, capacity: int, weights: Sequence[int], eviction: str = "lru") -> None:
        self._weights = weights
        self._tree = RadixTree(1, EVICTION_ORDERS.get(eviction), LogicalClock(), self._weigh)
        self._free = capacity
        self._running: list[tuple[float, int, _Running]] = []
        self._number = 0

    def serve(
        self, namespace: int, prompt: list[int], usable: int, pages: int, start: float, end: float, answer: list[int],
        total: int,
    ) -> int:  # fmt: skip
        """Admit a request and return the pages that it is served.

        Args:
            namespace: Only what this namespace has is found.
            prompt: Runs of the prompt's whole pages.
            usable: How many of them it may use: without the last token.
            pages: That the prompt takes, the unfilled one too.
            start: When it comes, in seconds.
            end: When it is over; at once where this is not after `start`.
            answer: Runs of the whole pages of prompt and answer.
            total: Pages that prompt and answer take.
        """
        while self._running and self._running[0][0] <= start:
            self._end(heapq.heappop(self._running)[2])
        node, found = self._tree.match(namespace, prompt, usable)
        matched = self._weigh(tuple(prompt[:found]))
        if pages - matched > self._free + self._tree.evictable - self._tree.unlocked(node):
            return 0
        run = _Running(namespace, prompt, answer, total)
        run.node = node
        self._tree.lock(node)
        self._take(run, pages - matched)
        self._insert(run, prompt, 0, matched)
        if end > start:
            self._number += 1
            heapq.heappush(self._running, (end, self._number, run))
        else:
            self._end(run)
        return matched

    def _take(self, run: _Running, pages: int) -> None:
        for leaf in self._tree.evict(pages - self._free):
            self._free += self._weigh(leaf.tokens)
        self._free -= pages
        run.private += pages

    def _insert(self, run: _Running, runs: list[int], counted: int, known: int) -> None:
        """Insert a request's runs; `known` of their pages it shares already."""
        node, present = self._tree.insert(run.namespace, runs, runs, counted=counted)
        whole = self._weigh(tuple(runs))
        duplicates = max(0, self._weigh(tuple(runs[:present])) - known)
        run.private -= whole - known
        self._free += duplicates
        self._tree.lock(node)
        self._tree.unlock(run.node)
        run.node = node

    def _end(self, run: _Running) -> None:
        """Insert what the request computed, as far as there was room, and give back what is left."""
        known = self._weigh(tuple(run.prompt))
        taken = known + run.private
        more = run.pages - taken
        runs = run.answer
        if more > 0 and more <= self._free + self._tree.evictable:
            self._take(run, more)
        elif more > 0:
            runs = run.prompt
        self._insert(run, runs, len(run.prompt), known)
        if 0 < len(run.prompt) < len(runs):
            length = len(run.prompt)
            self._tree.insert(run.namespace, run.prompt, run.prompt, priority=1, counted=length)
        self._tree.unlock(run.node)
        self._free += run.private

    def _weigh(self, runs: tuple[int, ...]) -> int:
        weights = self._weights
        return sum([weights[run] for run in runs])
