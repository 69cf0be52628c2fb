"""`affinity-shared-between-tenants`."""

from __future__ import annotations

from collections.abc import Iterable

from prefixwise.analyzers.tenancy.audit import Audit
from prefixwise.analyzers.tenancy.threat import THREATS, Sighting, Threat
from prefixwise.analyzers.tenancy.wording import counted
from prefixwise.core.finding import Confidence, Severity, Where


class AffinityShared(Threat):
    """# Routing that brings tenants together

    Routers send requests with the same session id, or the same hash of the first message, to the same replica. Where two
    tenants have one such value, they share a replica's cache on purpose, and who chooses the value chooses the neighbour.

    Looked at are session ids, and what `--place affinity=POINTER` names.

    ```jsonl bad
    {"tenant": "ash", "ts": 1770000000, "session_id": "s-1", "request": {"model": "Qwen3-8B", "cache_salt": "9f2c4e7a1b8d3f6059c1e2a47b80d6f3", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    {"tenant": "birch", "ts": 1770000060, "session_id": "s-1", "request": {"model": "Qwen3-8B", "cache_salt": "3b7e91d04c6fa8e25d10f7c98ab46e21", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    ```

    ```jsonl good
    {"tenant": "ash", "ts": 1770000000, "session_id": "s-1", "request": {"model": "Qwen3-8B", "cache_salt": "9f2c4e7a1b8d3f6059c1e2a47b80d6f3", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    {"tenant": "birch", "ts": 1770000060, "session_id": "s-2", "request": {"model": "Qwen3-8B", "cache_salt": "3b7e91d04c6fa8e25d10f7c98ab46e21", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    ```
    """  # noqa: E501

    name = "affinity-shared-between-tenants"
    code = "PT013"
    id = "T13"
    summary = "Two tenants have one session or one key of routing"
    severity = Severity.MEDIUM
    fix = "Put the tenant into the hash that chooses a replica, and do not tell clients which it was."
    where = (Where.TRANSPORT,)

    def detect(self, audit: Audit) -> Iterable[Sighting]:
        """Yield the requests of sessions, and of affinity values, that several tenants have."""
        sessions = {row: audit.rows.sessions[audit.rows.session[row]] for row in audit.known}
        for what, values in (("session ids", sessions), ("affinity values", audit.place("affinity"))):
            owners: dict[str, list[int]] = {}
            for row in audit.known:
                if values.get(row):
                    owners.setdefault(values[row], []).append(row)
            shared = [rows for rows in owners.values() if len(audit.tenants_of(rows)) > 1]
            if shared:
                rows = [row for its in shared for row in its]
                yield Sighting(
                    message=f"{counted(len(audit.tenants_of(rows)), 'tenant')} share {what}, {len(shared):,} in all.",
                    rows=rows,
                    confidence=Confidence.CERTAIN,
                    change="the router: the tenant's id, with a key, in the hash that chooses a replica",
                    cause=what,
                )


THREATS.add(AffinityShared.name, AffinityShared())
