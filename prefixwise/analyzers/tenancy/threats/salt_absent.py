"""`salt-absent`."""

from __future__ import annotations

from collections.abc import Iterable

from prefixwise.analyzers.tenancy.audit import Audit
from prefixwise.analyzers.tenancy.threat import THREATS, Sighting, Threat
from prefixwise.analyzers.tenancy.wording import GATEWAY_SALT, agreeing, counted
from prefixwise.core.finding import Confidence, Severity


class SaltAbsent(Threat):
    """# No salt at all

    An engine shares its prefix cache among all who send requests, unless a request says whose it is: vLLM, SGLang and
    TensorRT-LLM take a `cache_salt` for that. Without one, a tenant who sends a guess at another's prompt gets it faster, or
    sees cached tokens in the usage, where the guess is right; a guess can be refined token by token.

    That the engine offers salts protects nobody: since vLLM 0.9.0 (CVE-2025-46570) it is the caller who must send them. It is
    critical where tenants share more than a template.

    ```jsonl bad
    {"tenant": "ash", "ts": 1770000000, "request": {"model": "Qwen3-8B", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    {"tenant": "birch", "ts": 1770000060, "request": {"model": "Qwen3-8B", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "Do dogs pay?"}]}}
    ```

    ```jsonl good
    {"tenant": "ash", "ts": 1770000000, "request": {"model": "Qwen3-8B", "cache_salt": "9f2c4e7a1b8d3f6059c1e2a47b80d6f3", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    {"tenant": "birch", "ts": 1770000060, "request": {"model": "Qwen3-8B", "cache_salt": "3b7e91d04c6fa8e25d10f7c98ab46e21", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "Do dogs pay?"}]}}
    ```
    """  # noqa: E501

    name = "salt-absent"
    code = "PT001"
    id = "T1"
    summary = "Requests of several tenants carry no cache salt"
    severity = Severity.HIGH
    fix = "Set a salt for each tenant at the gateway and refuse requests without one."
    moves = True

    def detect(self, audit: Audit) -> Iterable[Sighting]:
        """Yield the requests of tenants that never send a salt to an engine that takes them."""
        if not audit.several or audit.caching_is_off:
            return
        engines = [row for row in audit.known if not audit.is_hosted(row)]
        salted = audit.tenants_of(row for row in engines if audit.is_salted(row))
        bare = [row for row in engines if audit.rows.tenant[row] not in salted]
        if not bare:
            return
        private = sum(audit.private.get(row, 0) for row in bare)
        share = 100 * len(bare) / len(audit.known)
        yield Sighting(
            message=f"{counted(len(bare), 'request')} of {counted(len(audit.tenants_of(bare)), 'tenant')} "
            f"{agreeing(len(bare), 'carry')} no salt: all of them share one cache.",
            rows=bare,
            severity=Severity.CRITICAL if private else None,
            confidence=Confidence.CERTAIN,
            evidence=(
                f"{share:.0f} % of the requests",
                *((f"{private:,} of the exposed tokens are private to few tenants",) if private else ()),
            ),
            change=GATEWAY_SALT,
        )


THREATS.add(SaltAbsent.name, SaltAbsent())
