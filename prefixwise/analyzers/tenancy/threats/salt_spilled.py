"""`salt-leaves-trust-zone`."""

from __future__ import annotations

from collections.abc import Iterable

from prefixwise.analyzers.tenancy.audit import Audit
from prefixwise.analyzers.tenancy.published import published_events
from prefixwise.analyzers.tenancy.threat import THREATS, Sighting, Threat
from prefixwise.analyzers.tenancy.wording import counted
from prefixwise.core.finding import Confidence, Severity, Where


class SaltSpilled(Threat):
    """# A salt that leaves the trust zone

    Whoever reads a salt is in its namespace. Salts get into access logs with URLs and headers, into names of cache files, into
    labels of metrics, and into the events in which an engine tells routers of its blocks: their first block carries the salt as
    it is.

    Reported are records in which the salt stands inside another text, and engines that publish events beyond their own
    machine.

    ```jsonl bad
    {"tenant": "ash", "ts": 1770000000, "url": "/v1/chat?ns=9f2c4e7a1b8d3f6059c1e2a47b80d6f3", "request": {"model": "Qwen3-8B", "cache_salt": "9f2c4e7a1b8d3f6059c1e2a47b80d6f3", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    {"tenant": "birch", "ts": 1770000060, "request": {"model": "Qwen3-8B", "cache_salt": "3b7e91d04c6fa8e25d10f7c98ab46e21", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    ```

    ```jsonl good
    {"tenant": "ash", "ts": 1770000000, "url": "/v1/chat", "request": {"model": "Qwen3-8B", "cache_salt": "9f2c4e7a1b8d3f6059c1e2a47b80d6f3", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    {"tenant": "birch", "ts": 1770000060, "request": {"model": "Qwen3-8B", "cache_salt": "3b7e91d04c6fa8e25d10f7c98ab46e21", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    ```
    """  # noqa: E501

    name = "salt-leaves-trust-zone"
    code = "PT016"
    id = "T16"
    summary = "Salts stand where others can read them"
    severity = Severity.MEDIUM
    fix = "Log digests of salts, and protect the bus of cache events."
    where = (Where.TRANSPORT, Where.ENGINE)

    def detect(self, audit: Audit) -> Iterable[Sighting]:
        """Yield records that repeat their salt, and engines that publish theirs."""
        spilled = audit.records.spilled if audit.records is not None else {}
        if spilled:
            rows = sorted(spilled)
            yield Sighting(
                message=f"The salt of {counted(len(rows), 'request')} stands inside another text of the record.",
                rows=rows,
                confidence=Confidence.LIKELY,
                change="logs: a keyed digest in the place of the salt",
                cause="records",
            )
        if audit.salted:
            for setting in published_events(audit.asked.deployment):
                yield Sighting(
                    message="Cache events leave the machine, and their first block carries the salt.",
                    rows=[row for rows in audit.by_salt.values() for row in rows],
                    tokens=0,
                    setting=setting,
                    confidence=Confidence.LIKELY,
                    change="events on a protected network only",
                    where=Where.ENGINE,
                    cause=setting.last,
                )


THREATS.add(SaltSpilled.name, SaltSpilled())
