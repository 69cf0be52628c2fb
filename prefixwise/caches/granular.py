"""Prefix caches that reuse whole units of a fixed size: what vLLM's block chain and SGLang's paged tree share.

Both look up at most all tokens but the last (its logits are wanted), and both store whole units only, so with
nothing evicted a request gets floor(min(shared, n - 1) / unit) units. Source: vLLM 0.32 and 0.33
(`kv_cache_manager.get_computed_blocks`) and SGLang 0.5.23 (`radix_cache.match_prefix`), read 2026-11-30.
"""

from __future__ import annotations

from array import array

from prefixwise.caches.policy import Policy, Reason, Replay, Settled
from prefixwise.caches.relaxation import Relaxation
from prefixwise.caches.sharing import sharing
from prefixwise.core.errors import UserError
from prefixwise.corpus.rows import Rows


class GranularPolicy(Settled):
    """A cache of units of `unit` tokens, unbounded.

    Args:
        name: Rule name.
        unit_name: What the rule calls its unit.
        unit: Tokens in one unit.
        namespace: Parts of the namespace that its keys hold.
        outputs: Whether answers are cached.
    """

    def __init__(self, name: str, unit_name: str, unit: int, namespace: tuple[str, ...], outputs: bool) -> None:
        self.label = f"{name}:{unit_name}={unit}" + ("" if outputs else ",outputs=no")
        self.unit: int | None = unit
        self._name = name
        self._unit_name = unit_name
        self._size = unit
        self._namespace = namespace
        self._outputs = outputs

    def without_outputs(self) -> GranularPolicy | None:
        """Return the same rule with a cache that answers do not enter, None for one of that kind."""
        if not self._outputs:
            return None
        return GranularPolicy(self._name, self._unit_name, self._size, self._namespace, outputs=False)

    def relaxed(self, off: Relaxation) -> Policy:
        """Return the same rule let off its units or its namespaces; it has nothing else."""
        namespace = () if off.one_namespace else self._namespace
        if off.no_granularity:
            return SharedPolicy(self.label, namespace, self._outputs)
        return GranularPolicy(self._name, self._unit_name, self._size, namespace, self._outputs)

    def check(self, rows: Rows) -> None:
        """Raise UserError where the rows are a trace of coarser blocks than this rule's unit."""
        check_grain(rows, self._size, self.label, self._unit_name)

    def replay(self, rows: Rows) -> Replay:
        """Replay all rows in start order."""
        self.check(rows)
        unit = self._size
        own = sharing(rows, self._namespace, outputs=self._outputs).shared
        model_wide = sharing(rows, outputs=self._outputs).shared
        matched = array(
            "i", (max(0, min(shared, n - 1)) // unit * unit for shared, n in zip(own, rows.prompt_tokens, strict=True))
        )
        reason = bytearray(len(rows))
        for row, (hit, shared, wide, n) in enumerate(zip(matched, own, model_wide, rows.prompt_tokens, strict=True)):
            if wide - hit > n - wide:
                reason[row] = main_reason(first_seen=n - wide, granularity=shared - hit, isolated=wide - shared)
        return Replay(matched, reason)


class SharedPolicy(Settled):
    """A cache without units, room or time: whatever an earlier request had, to the token.

    Args:
        label: Of the rule that it is what is left of.
        namespace: Parts of the namespace that separate requests.
        outputs: Whether answers are cached.
    """

    unit: int | None = None

    def __init__(self, label: str, namespace: tuple[str, ...], outputs: bool) -> None:
        self.label = label
        self._namespace = namespace
        self._outputs = outputs

    def without_outputs(self) -> SharedPolicy | None:
        """Return the same rule with a cache that answers do not enter, None for one of that kind."""
        return SharedPolicy(self.label, self._namespace, outputs=False) if self._outputs else None

    def relaxed(self, off: Relaxation) -> Policy:
        """Return the same rule let off its namespaces; it has nothing else."""
        return SharedPolicy(self.label, () if off.one_namespace else self._namespace, self._outputs)

    def check(self, rows: Rows) -> None:
        """Do nothing: any rows can be counted."""

    def replay(self, rows: Rows) -> Replay:
        """Replay all rows in start order."""
        own = sharing(rows, self._namespace, outputs=self._outputs).shared
        wide = sharing(rows, outputs=self._outputs).shared
        reason = bytearray(
            main_reason(first_seen=n - all_, granularity=0, isolated=all_ - mine)
            for mine, all_, n in zip(own, wide, rows.prompt_tokens, strict=True)
        )
        return Replay(own, reason)


def check_grain(rows: Rows, unit: int, label: str, unit_name: str) -> None:
    """Raise UserError where the rows are a trace of coarser blocks than the units of the rule `label`."""
    grain = rows.tree.grain
    if unit % grain:
        raise UserError(
            f"the trace holds hashes of {grain}-token blocks, which do not tell where inside a block two prompts "
            f"part, so {unit}-token units cannot be counted",
            f"--under {label}",
            f"use {unit_name}={grain} or a multiple of it",
        )


def main_reason(
    first_seen: int, granularity: int, isolated: int, lost: int = 0, how: Reason = Reason.EVICTED
) -> Reason:
    """Return the reason that accounts for most of the uncached tokens; the first named wins a tie.

    Args:
        first_seen: Tokens that no earlier request had.
        granularity: Tokens below the rule's unit.
        isolated: Tokens that another namespace had.
        lost: Tokens that the cache had and did not keep.
        how: Why it did not.
    """
    most = max(first_seen, granularity, isolated, lost)
    if most == first_seen:
        return Reason.FIRST_SEEN
    if most == granularity:
        return Reason.GRANULARITY
    return Reason.ISOLATED if most == isolated else how
