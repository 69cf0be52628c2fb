"""SGLang's rule with bounded room: the rows, as runs of pages, go through its tree in order of start."""

from __future__ import annotations

from array import array

from prefixwise.caches.bounded import namespaces, reasons
from prefixwise.caches.granular import GranularPolicy, check_grain
from prefixwise.caches.policy import Policy, Reason, Replay, Settled
from prefixwise.caches.radix_replay import RadixReplay
from prefixwise.caches.relaxation import Relaxation
from prefixwise.caches.sharing import sharing
from prefixwise.caches.units import Runs
from prefixwise.corpus.rows import NONE, Rows


class BoundedRadixPolicy(Settled):
    """SGLang's rule with a pool of `capacity` pages a model.

    Args:
        label: As `--under` takes it.
        page: Tokens a page.
        capacity: Pages.
        eviction: Name of the eviction order.
        namespace: Parts of the namespace that its trees are separated by.
        outputs: Whether answers are cached.
    """

    def __init__(
        self, label: str, page: int, capacity: int, eviction: str, namespace: tuple[str, ...], outputs: bool
    ) -> None:
        self.label = label + ("" if outputs else ",outputs=no")
        self.unit: int | None = page
        self._name = label
        self._page = page
        self._capacity = capacity
        self._eviction = eviction
        self._namespace = namespace
        self._outputs = outputs

    def without_outputs(self) -> BoundedRadixPolicy | None:
        """Return the same rule with a cache that answers do not enter, None for one of that kind."""
        if not self._outputs:
            return None
        return BoundedRadixPolicy(
            self._name, self._page, self._capacity, self._eviction, self._namespace, outputs=False
        )

    def relaxed(self, off: Relaxation) -> Policy:
        """Return the same rule let off its capacity, its pages or its namespaces."""
        if not (off.no_eviction or off.no_granularity):
            namespace = () if off.one_namespace else self._namespace
            return BoundedRadixPolicy(self._name, self._page, self._capacity, self._eviction, namespace, self._outputs)
        return GranularPolicy("sglang", "page", self._page, self._namespace, self._outputs).relaxed(off)

    def check(self, rows: Rows) -> None:
        """Raise UserError where the rows are a trace of coarser blocks than this rule's pages."""
        check_grain(rows, self._page, self.label, "page")

    def replay(self, rows: Rows) -> Replay:
        """Replay all rows in start order; a request that the pool has no room for is served nothing."""
        self.check(rows)
        page = self._page
        runs = Runs(rows, page)
        times = rows.start_times()
        pools: dict[int, RadixReplay] = {}
        matched = array("i", bytes(4 * len(rows)))
        for row, namespace in namespaces(rows, self._namespace, 1):
            tokens = rows.prompt_tokens[row]
            if not tokens:
                continue
            prompt = runs.on_path(rows.node[row])
            answer, total = prompt, tokens
            if self._outputs and rows.response_node[row] != NONE:
                answer = runs.on_path(rows.response_node[row])
                total += rows.answer_tokens[row]
            pool = pools.get(rows.model[row])
            if pool is None:
                pool = pools[rows.model[row]] = RadixReplay(self._capacity, runs.weights, self._eviction)
            usable = runs.within(prompt, (tokens - 1) // page)
            pages, pages_in_all = -(-tokens // page), -(-total // page)
            served = pool.serve(namespace, prompt, usable, pages, times[row], rows.end[row], answer, pages_in_all)
            matched[row] = served * page
        shared = sharing(rows, self._namespace, outputs=self._outputs).shared
        wide = sharing(rows, outputs=self._outputs).shared
        return Replay(matched, reasons(rows, matched, shared, Reason.EVICTED, wide, page))
