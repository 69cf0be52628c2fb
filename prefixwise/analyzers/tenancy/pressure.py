"""Eviction pressure: a tenant's cached prompts vanish when another tenant has filled the cache in between."""

from __future__ import annotations

from collections import Counter
from statistics import median
from typing import TYPE_CHECKING

import msgspec

from prefixwise.corpus.rows import NONE

if TYPE_CHECKING:
    from prefixwise.analyzers.tenancy.audit import Audit

_LEAST_MISSES = 5
_LEAST_SHARE = 0.2
_MOSTLY = 0.8
_HALF = 0.5
_MISS, _HIT = 0.2, 0.8
"""Shares of what the namespace had that were served, below and above which a request is a miss or a hit."""
_UNITS = 4
_LARGEST = 20


class Victim(msgspec.Struct, frozen=True):
    """A tenant that another one pushes out: its requests that found nothing, and who had filled the cache before.

    Attributes:
        share: Of what came in between, how much was the other's, in the median.
        hits: Requests of the tenant that were served, with less in between.
    """

    tenant: int
    other: int
    rows: tuple[int, ...]
    share: float
    hits: int


class _Chance(msgspec.Struct, frozen=True):
    """A request that could have been served: whether it was, and who put how much into the cache since its prefix."""

    row: int
    hit: bool
    other: int
    share: float
    inserted: int


def victims(audit: Audit) -> list[Victim]:
    """Return the tenants that one other pushes out; nothing where the log reports no cached tokens."""
    chances = _chances(audit)
    found = []
    for tenant, its in chances.items():
        misses, hits = [one for one in its if not one.hit], [one for one in its if one.hit]
        if len(misses) < _LEAST_MISSES or len(misses) < _LEAST_SHARE * len(its):
            continue
        others = [one.other for one in misses]
        other = max(sorted(set(others)), key=others.count)
        share = median(one.share for one in misses)
        calmer = not hits or median(h.inserted for h in hits) < _HALF * median(m.inserted for m in misses)
        if other != NONE and others.count(other) >= _MOSTLY * len(misses) and share >= _HALF and calmer:
            found.append(Victim(tenant, other, tuple(one.row for one in misses), share, len(hits)))
    return found


def _chances(audit: Audit) -> dict[int, list[_Chance]]:
    """Return, by tenant, the requests whose namespace had most of the prompt, and what happened to them."""
    rows = audit.rows
    large = _largest(audit)
    inserted: dict[int, int] = {}
    everything = 0
    before: dict[int, dict[int, int]] = {}
    in_all: dict[int, int] = {}
    last: dict[tuple[int, int], int] = {}
    found: dict[int, list[_Chance]] = {}
    for row in audit.known:
        tenant, cached, prompt = rows.tenant[row], rows.reported_cached[row], rows.prompt_tokens[row]
        best = audit.by_space.shared[row]
        key = (audit.spaces[row], tenant)
        if cached != NONE and best >= _UNITS * audit.served.unit and key in last:
            since = before[last[key]]
            gained = {other: total - since.get(other, 0) for other, total in inserted.items() if other != tenant}
            share = cached / best
            came = everything - in_all[last[key]]
            if gained and (share <= _MISS or share >= _HIT):
                other = max(sorted(gained), key=gained.__getitem__)
                part = gained[other] / came if came else 0.0
                one = _Chance(row, share >= _HIT, other, part, came)
                found.setdefault(tenant, []).append(one)
        new = prompt - max(cached, 0)
        everything += new
        if tenant in large:
            inserted[tenant] = inserted.get(tenant, 0) + new
        before.pop(last.get(key, NONE), None)
        in_all.pop(last.get(key, NONE), None)
        before[row], in_all[row] = dict(inserted), everything
        last[key] = row
    return found


def _largest(audit: Audit) -> set[int]:
    """Return the tenants that put most into the cache: nobody else can have pushed anybody out."""
    rows, sums = audit.rows, Counter[int]()
    for row in audit.known:
        sums[rows.tenant[row]] += rows.prompt_tokens[row] - max(rows.reported_cached[row], 0)
    return {tenant for tenant, _ in sums.most_common(_LARGEST)}
