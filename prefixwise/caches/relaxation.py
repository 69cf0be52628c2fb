"""What a rule is let off, one thing after the other, to see what each of them costs."""

from __future__ import annotations

import msgspec


class Relaxation(msgspec.Struct, frozen=True):
    """What a cache is let off; a policy ignores what it does not have.

    Attributes:
        one_replica: Requests to all replicas meet in one cache.
        no_eviction: Nothing is pushed out.
        no_ttl: Nothing expires.
        instant: What a request writes can be read by the next one, however soon that comes.
        no_granularity: No blocks, minimums or breakpoints: reuse goes to the token, the last one included.
        one_namespace: Requests of one model meet whatever tenant, key, salt or settings they have.
    """

    one_replica: bool = False
    no_eviction: bool = False
    no_ttl: bool = False
    instant: bool = False
    no_granularity: bool = False
    one_namespace: bool = False

    def and_then(self, name: str) -> Relaxation:
        """Return the same with one more thing let off."""
        return msgspec.structs.replace(self, **{name: True})


AS_IT_RAN = Relaxation()


def chain() -> tuple[tuple[str, Relaxation], ...]:
    """Return (account that the step uncovers, all that is let off by then), in the order of the accounts."""
    steps: list[tuple[str, Relaxation]] = []
    now = AS_IT_RAN
    for account, name in (
        ("misrouted", "one_replica"),
        ("evicted", "no_eviction"),
        ("expired", "no_ttl"),
        ("in_flight", "instant"),
        ("granularity", "no_granularity"),
        ("isolated", "one_namespace"),
    ):
        now = now.and_then(name)
        steps.append((account, now))
    return tuple(steps)
