"""Keys and salts of which each is used for one request only, though the requests are of one application."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from prefixwise.analyzers.lint.log import Log

_FEW = 3
_FEW_STRANGERS = 8
"""Requests without a known tenant from which their salts are no longer taken for as many tenants' own."""
_ONCE = 0.9


def fresh_every_time(log: Log, row: int, kind: Literal["salt", "cache_key"]) -> bool:
    """Say whether nearly each request of a row's application has a key of its own that never comes again.

    Conversations of several turns that keep their key are the right use of one, so there must be hardly any: the key of
    a conversation is then also used more than once. Requests that name tenants count by tenant.
    """
    rows = log.rows
    memo = (fresh_every_time, log.applications[row], rows.tenant[row], kind)
    if memo not in rows.memo:
        of_tenant = [
            other for other in log.families.get(log.applications[row], ()) if rows.tenant[other] == rows.tenant[row]
        ]
        values = [getattr(rows.namespaces[rows.namespace[other]], kind) for other in of_tenant]
        uses = Counter(value for value in values if value is not None)
        few = _FEW if rows.tenants[rows.tenant[row]] or kind == "cache_key" else _FEW_STRANGERS
        rows.memo[memo] = (
            len(of_tenant) >= few
            and sum(uses.values()) >= _ONCE * len(of_tenant)
            and sum(count == 1 for count in uses.values()) >= _ONCE * len(of_tenant)
        )
    return bool(rows.memo[memo])
