"""`private-values-between-tenants`."""

from __future__ import annotations

from collections.abc import Iterable

from prefixwise.analyzers.lint.leaks import Leak
from prefixwise.analyzers.tenancy.audit import Audit
from prefixwise.analyzers.tenancy.threat import THREATS, Sighting, Threat
from prefixwise.analyzers.tenancy.wording import counted
from prefixwise.core.finding import Confidence, Severity, Where


def _rows(audit: Audit, leak: Leak) -> list[int]:
    """Return the requests with the same head where the value stands in it, else the one that it was found in."""
    records = audit.records
    if records is None or leak.where is Where.MESSAGES or records.head[leak.row] < 0:
        return [leak.row]
    return [row for row in audit.known if records.head[row] == records.head[leak.row]]


class PrivateValuesShared(Threat):
    """# Private values in a shared prefix

    A prefix that tenants share is one that each of them sends, or could find out by timing, piece by piece. A key, a
    connection string or a customer's record in it is everybody's. What is said is the kind, the place and a keyed hash, never
    the value.

    The values are found as `secret-in-shared-prefix` and `personal-data-in-shared-prefix` of `lint` find them. Keys that
    documentation shows, reserved domains, test cards and mailboxes of an office are information.

    ```jsonl bad
    {"tenant": "ash", "ts": 1770000000, "request": {"model": "Qwen3-8B", "cache_salt": "9f2c4e7a1b8d3f6059c1e2a47b80d6f3", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one. Use postgres://desk:qT7-vLw9xR2mZk4@db.quay.internal:5432/ferries for times."}, {"role": "user", "content": "When is the first ferry?"}]}}
    {"tenant": "birch", "ts": 1770000060, "request": {"model": "Qwen3-8B", "cache_salt": "3b7e91d04c6fa8e25d10f7c98ab46e21", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one. Use postgres://desk:qT7-vLw9xR2mZk4@db.quay.internal:5432/ferries for times."}, {"role": "user", "content": "When is the first ferry?"}]}}
    ```

    ```jsonl good
    {"tenant": "ash", "ts": 1770000000, "request": {"model": "Qwen3-8B", "cache_salt": "9f2c4e7a1b8d3f6059c1e2a47b80d6f3", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one. Keys look like AKIAIOSFODNN7EXAMPLE; write to a.person@example.com."}, {"role": "user", "content": "When is the first ferry?"}]}}
    {"tenant": "birch", "ts": 1770000060, "request": {"model": "Qwen3-8B", "cache_salt": "3b7e91d04c6fa8e25d10f7c98ab46e21", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one. Keys look like AKIAIOSFODNN7EXAMPLE; write to a.person@example.com."}, {"role": "user", "content": "When is the first ferry?"}]}}
    ```
    """  # noqa: E501

    name = "private-values-between-tenants"
    code = "PT022"
    id = "T22"
    summary = "A secret or a person's data stands in a prefix that tenants share"
    severity = Severity.CRITICAL
    fix = "Move it behind the shared part or out of the prompt, and change a secret."
    where = (Where.SYSTEM, Where.TOOLS, Where.MESSAGES)

    def detect(self, audit: Audit) -> Iterable[Sighting]:
        """Yield each private value in a text that tenants share."""
        for leak in audit.records.leaks if audit.records is not None else ():
            if not leak.of_tenants:
                continue
            value = leak.value
            what = f"{value.kind}, as published in examples or of an office," if value.is_example else value.kind
            yield Sighting(
                message=f"Text that {counted(leak.sharers, 'tenant')} share holds {what}.".replace(",.", "."),
                rows=_rows(audit, leak),
                tenants=leak.sharers,
                severity=Severity.INFO if value.is_example else None,
                confidence=Confidence.LIKELY,
                evidence=(f"value {leak.digest} (keyed hash), {value.end - value.start} characters",),
                change="the value out of the shared part of the prompt",
                where=leak.where,
                field=leak.field,
                char_offset=leak.char_offset,
                cause=f"{leak.field} {value.kind} {value.is_example}",
            )


THREATS.add(PrivateValuesShared.name, PrivateValuesShared())
