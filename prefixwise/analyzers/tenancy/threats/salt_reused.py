"""`salt-reused-between-tenants`."""

from __future__ import annotations

from collections.abc import Iterable

from prefixwise.analyzers.tenancy.audit import Audit
from prefixwise.analyzers.tenancy.threat import THREATS, Sighting, Threat
from prefixwise.analyzers.tenancy.threats.salt_constant import is_constant
from prefixwise.analyzers.tenancy.wording import GATEWAY_SALT, counted, is_default
from prefixwise.core.finding import Confidence, Severity


class SaltReused(Threat):
    """# Two tenants in one namespace

    Some tenants share a salt and others do not: the map from tenants to salts sends two of them to one value. Typical causes are
    an API key that several customers use, a reseller's account, a name that is cut or put into lower case first, and an
    organisation that is absent for some.

    ```jsonl bad
    {"tenant": "ash", "ts": 1770000000, "request": {"model": "Qwen3-8B", "cache_salt": "9f2c4e7a1b8d3f6059c1e2a47b80d6f3", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    {"tenant": "birch", "ts": 1770000060, "request": {"model": "Qwen3-8B", "cache_salt": "9f2c4e7a1b8d3f6059c1e2a47b80d6f3", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "Do dogs pay?"}]}}
    {"tenant": "cedar", "ts": 1770000120, "request": {"model": "Qwen3-8B", "cache_salt": "3b7e91d04c6fa8e25d10f7c98ab46e21", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "Is there a cafe?"}]}}
    ```

    ```jsonl good
    {"tenant": "ash", "ts": 1770000000, "request": {"model": "Qwen3-8B", "cache_salt": "9f2c4e7a1b8d3f6059c1e2a47b80d6f3", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    {"tenant": "ash", "ts": 1770000060, "request": {"model": "Qwen3-8B", "cache_salt": "9f2c4e7a1b8d3f6059c1e2a47b80d6f3", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "Do dogs pay?"}]}}
    {"tenant": "cedar", "ts": 1770000120, "request": {"model": "Qwen3-8B", "cache_salt": "3b7e91d04c6fa8e25d10f7c98ab46e21", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "Is there a cafe?"}]}}
    ```
    """  # noqa: E501

    name = "salt-reused-between-tenants"
    code = "PT004"
    id = "T4"
    summary = "Two tenants have the same salt"
    severity = Severity.CRITICAL
    fix = "Derive the salt from the authenticated identity, and from nothing that tenants may have in common."
    moves = True

    def detect(self, audit: Audit) -> Iterable[Sighting]:
        """Yield the salts of several tenants, but not those that are everybody or nobody."""
        shared = {
            salt: rows
            for salt, rows in audit.by_salt.items()
            if len(audit.tenants_of(rows)) > 1 and not is_constant(audit, salt) and not is_default(salt)
        }
        if not shared:
            return
        rows = [row for its in shared.values() for row in its]
        yield Sighting(
            message=f"{counted(len(shared), 'salt')} {'is' if len(shared) == 1 else 'are'} used by several tenants, "
            f"{counted(len(audit.tenants_of(rows)), 'tenant')} in all.",
            rows=rows,
            confidence=Confidence.CERTAIN,
            evidence=tuple(
                f"salt {audit.names.of('salt', salt)} (keyed hash): {counted(len(audit.tenants_of(its)), 'tenant')}"
                for salt, its in sorted(shared.items())[:3]
            ),
            change=GATEWAY_SALT,
        )


THREATS.add(SaltReused.name, SaltReused())
