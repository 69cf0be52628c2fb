"""`salt-changes-within-tenant`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from prefixwise.analyzers.tenancy.audit import Audit
from prefixwise.analyzers.tenancy.threat import THREATS, Sighting, Threat
from prefixwise.analyzers.tenancy.wording import counted
from prefixwise.core.finding import Confidence, Severity

_WINDOW = 3600.0
"""Seconds in which salts are counted where entries live for ever."""
_SEVERAL = 3


class SaltUnstable(Threat):
    """# A salt that changes inside a tenant

    Entries of one salt are invisible under the next. A salt that is random for every request, or made of a bearer token that is
    renewed every hour, keeps tenants apart by keeping everybody from everything: the cache is paid for and serves nothing.

    Reported are tenants with several salts within the life of entries whose prompts begin alike. A rotation on a schedule, from
    one salt to the next, is none. What a steady salt would give is said with the finding.

    ```jsonl bad
    {"tenant": "ash", "ts": 1770000000, "request": {"model": "Qwen3-8B", "cache_salt": "9f2c4e7a1b8d3f6059c1e2a47b80d6f3", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    {"tenant": "ash", "ts": 1770000060, "request": {"model": "Qwen3-8B", "cache_salt": "41d09b73ee5c8f12a6b70c94d3f8e215", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "Do dogs pay?"}]}}
    {"tenant": "ash", "ts": 1770000120, "request": {"model": "Qwen3-8B", "cache_salt": "c83a5be7f10946d2b95e07a1cf684d30", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "Is there a cafe?"}]}}
    ```

    ```jsonl good
    {"tenant": "ash", "ts": 1770000000, "request": {"model": "Qwen3-8B", "cache_salt": "9f2c4e7a1b8d3f6059c1e2a47b80d6f3", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    {"tenant": "ash", "ts": 1770000060, "request": {"model": "Qwen3-8B", "cache_salt": "9f2c4e7a1b8d3f6059c1e2a47b80d6f3", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "Do dogs pay?"}]}}
    {"tenant": "birch", "ts": 1770000120, "request": {"model": "Qwen3-8B", "cache_salt": "3b7e91d04c6fa8e25d10f7c98ab46e21", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "Is there a cafe?"}]}}
    ```
    """  # noqa: E501

    name = "salt-changes-within-tenant"
    code = "PT005"
    id = "T5"
    summary = "A tenant's salt changes while its prompts go on"
    severity = Severity.MEDIUM
    fix = "Derive the salt from the tenant's id, not from tokens or requests, and rotate it on a schedule."
    moves = True

    def detect(self, audit: Audit) -> Iterable[Sighting]:
        """Yield, in one sighting, the tenants whose salts alternate or follow each other within the lifetime."""
        lost: dict[int, int] = {}
        names: dict[int, int] = {}
        for tenant, rows in self._by_tenant(audit).items():
            if not self._changes(audit, rows):
                continue
            missed = {row: tokens for row in rows if (tokens := self._lost(audit, row)) > 0}
            if missed:
                lost |= missed
                names[tenant] = len({audit.salt(row) for row in rows})
        if lost:
            tokens = sum(lost.values())
            yield Sighting(
                message=f"The salts of {counted(len(names), 'tenant')} change within the life of their entries: "
                f"{tokens:,} tokens were computed again.",
                rows=sorted(lost),
                mended=[row for tenant in names for row in audit.rows_by_tenant[tenant]],
                tokens=0,
                evidence=(f"up to {max(names.values())} salts a tenant",),
                confidence=Confidence.LIKELY,
                change='"cache_salt": one value a tenant, anchored on its id',
            )

    def _by_tenant(self, audit: Audit) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for row in audit.known:
            if audit.salt(row) is not None:
                found.setdefault(audit.rows.tenant[row], []).append(row)
        return {tenant: rows for tenant, rows in found.items() if len({audit.salt(row) for row in rows}) > 1}

    def _changes(self, audit: Audit, rows: Sequence[int]) -> bool:
        """Say whether a salt comes back after another, or three follow each other, within the lifetime of entries."""
        last: dict[str | None, int] = {}
        for at, row in enumerate(rows):
            salt = audit.salt(row)
            before = last.get(salt)
            if before is not None and at - before > 1 and self._near(audit, rows[before], row):
                return True
            last[salt] = at
            recent = [other for other in last.values() if self._near(audit, rows[other], row)]
            if len(recent) >= _SEVERAL:
                return True
        return False

    def _near(self, audit: Audit, earlier: int, later: int) -> bool:
        life = audit.lifetimes[later]
        gap = audit.times[later] - audit.times[earlier]
        return not gap > (life if math.isfinite(life) else _WINDOW)  # without times, everything is near

    def _lost(self, audit: Audit, row: int) -> int:
        """Return the tokens that a steady salt would have found."""
        prompt = audit.rows.prompt_tokens[row]
        served = audit.served.tokens
        return served(audit.by_tenant.shared[row], prompt) - served(audit.by_space.shared[row], prompt)


THREATS.add(SaltUnstable.name, SaltUnstable())
