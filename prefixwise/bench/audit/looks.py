"""From rows to comparisons, and after each block: is it decided?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from prefixwise.bench.audit.plan import Comparison, LivePlan, LiveRow
from prefixwise.bench.audit.recording import Arm, Probe, Recording
from prefixwise.bench.audit.split import split
from prefixwise.bench.audit.timing import sequential
from prefixwise.bench.audit.usage import usage_evidence


class Looks:
    """Knows which comparisons of a plan are still open. The evidence may be looked at after every block.

    Args:
        plan: What is run.
        rows: Of an earlier run of the same file.
    """

    def __init__(self, plan: LivePlan, rows: Sequence[LiveRow]) -> None:
        self._plan = plan
        self._threshold = split(len(plan.comparisons)).threshold
        self._said: dict[Comparison, str] = {}
        self._done: set[Comparison] = set()
        self._next: dict[Comparison, int] = {}
        self._left: dict[Comparison, int] = {}
        self._hit: dict[Comparison, int] = {}
        for one in plan.comparisons:
            self.look(one, rows)

    def open(self) -> list[Comparison]:
        """Return the comparisons that are not decided and have blocks left."""
        return [one for one in self._plan.comparisons if one not in self._done]

    def next_block(self, one: Comparison) -> int:
        """Return the number of the next block of a comparison; one that was interrupted is not taken up again."""
        return self._next[one]

    def left(self, one: Comparison) -> int:
        """Return how many blocks of a comparison are left at most."""
        return self._left[one]

    def said(self, one: Comparison) -> str:
        """Return how far a comparison is."""
        return self._said[one]

    def look(self, one: Comparison, rows: Sequence[LiveRow]) -> None:
        """Look at a comparison after a block."""
        recording = recording_of(self._plan, one, rows)
        probes = Counter(probe.block for probe in recording.probes)
        blocks = sum(count == len(Arm) for count in probes.values())
        self._next[one] = 1 + max((number for number in probes if number is not None), default=-1)
        self._left[one] = self._plan.blocks - blocks
        usage = usage_evidence(recording)
        evidence, reached = sequential(recording, self._threshold)
        hits = usage.cross.hits if usage is not None and usage.leaks else 0
        self._said[one] = f"{blocks} blocks, {hits} foreign hits, evidence {evidence:.3g}"
        if hits:
            self._hit.setdefault(one, blocks)
        # A hit is looked for once more, to say whether it repeats; the verdict does not wait for it.
        repeated = one in self._hit and (hits > 1 or blocks > self._hit[one])
        isolated = usage is not None and usage.isolated
        if repeated or reached is not None or isolated or self._left[one] <= 0:
            self._done.add(one)


def recording_of(plan: LivePlan, one: Comparison, rows: Iterable[LiveRow], stopped: str = "") -> Recording:
    """Return the probes of a comparison.

    Args:
        plan: What was run.
        one: The comparison.
        rows: All rows of the run, in order.
        stopped: Why sending ended early, '' where it did not.
    """
    own = [row for row in rows if (row.victim, row.prober, row.condition) == (one.victim, one.prober, one.condition)]
    return Recording(
        name=one.name,
        level=one.level,
        clocks=("client",),
        probes=tuple(
            Probe(arm=row.arm, times=(row.ttft,), block=row.block, cached=row.cached, left_out=row.left_out)
            for row in own
        ),
        header=max((row.header for row in own), default=0),
        block=plan.block_tokens,
        matched=plan.sham,
        failed=sum(row.ttft is None and row.total is None for row in own),
        stopped=stopped,
    )
