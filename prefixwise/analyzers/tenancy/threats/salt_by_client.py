"""`salt-set-by-client`."""

from __future__ import annotations

from collections.abc import Iterable

from prefixwise.analyzers.tenancy.audit import Audit
from prefixwise.analyzers.tenancy.threat import THREATS, Sighting, Threat
from prefixwise.analyzers.tenancy.wording import counted
from prefixwise.core.finding import Confidence, Severity


class SaltByClient(Threat):
    """# A salt that the client chooses

    However random salts are, they protect nobody if the caller sets them: who sends another tenant's salt is in that tenant's
    cache. A salt must come from what authenticates the caller, at a place that the caller cannot pass by.

    Reported are requests in which a client sent another salt than the one in force: name the two places with `--salt-field` and
    `--place client-salt=POINTER`. Where both are the same, the gateway passes on what it gets.

    ```jsonl bad
    {"tenant": "ash", "ts": 1770000000, "client_salt": "3b7e91d04c6fa8e25d10f7c98ab46e21", "request": {"model": "Qwen3-8B", "cache_salt": "9f2c4e7a1b8d3f6059c1e2a47b80d6f3", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    {"tenant": "birch", "ts": 1770000060, "request": {"model": "Qwen3-8B", "cache_salt": "3b7e91d04c6fa8e25d10f7c98ab46e21", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    ```

    ```jsonl good
    {"tenant": "ash", "ts": 1770000000, "request": {"model": "Qwen3-8B", "cache_salt": "9f2c4e7a1b8d3f6059c1e2a47b80d6f3", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    {"tenant": "birch", "ts": 1770000060, "request": {"model": "Qwen3-8B", "cache_salt": "3b7e91d04c6fa8e25d10f7c98ab46e21", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    ```
    """  # noqa: E501

    name = "salt-set-by-client"
    code = "PT009"
    id = "T9"
    summary = "Clients choose the salt themselves"
    severity = Severity.CRITICAL
    fix = "Strip what clients send, set the salt from the authenticated identity, let it win, and log both."
    moves = True

    def detect(self, audit: Audit) -> Iterable[Sighting]:
        """Yield, in one sighting, the requests whose client named a salt."""
        sent = audit.place("client-salt")
        rows = [row for row in audit.known if sent.get(row)]
        if not rows:
            return
        own = {salt: audit.tenants_of(its) for salt, its in audit.by_salt.items()}
        others = [row for row in rows if own.get(sent[row], set()) - {audit.rows.tenant[row]}]
        differ = sum(sent[row] != audit.space(row).salt for row in rows)
        yield Sighting(
            message=f"The clients of {counted(len(audit.tenants_of(rows)), 'tenant')} name a salt of their own "
            f"in {counted(len(rows), 'request')}.",
            rows=rows,
            confidence=Confidence.CERTAIN if others else Confidence.LIKELY,
            evidence=(
                f"{differ:,} of them name another than the one in force",
                *((f"{len(others):,} name the salt of another tenant",) if others else ()),
            ),
            change="the gateway: drop cache_salt and x-cache-salt of clients, then set its own",
        )


THREATS.add(SaltByClient.name, SaltByClient())
