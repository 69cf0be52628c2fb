"""`adapter-as-namespace`."""

from __future__ import annotations

from collections.abc import Iterable

from prefixwise.analyzers.tenancy.audit import Audit
from prefixwise.analyzers.tenancy.threat import THREATS, Sighting, Threat
from prefixwise.analyzers.tenancy.wording import GATEWAY_SALT, counted
from prefixwise.core.finding import Confidence, Severity

_SEVERAL = 2


class AdapterNamespace(Threat):
    """# An adapter is an accidental namespace

    Blocks computed with a LoRA adapter are not those of the base model, so tenants with adapters of their own do not meet. That
    is a side effect: two tenants with one adapter meet, all meet who use the base model, and an adapter that is loaded anew
    under the same name finds the entries of the old one.

    It is high where nothing else keeps the tenants apart.

    ```jsonl bad
    {"tenant": "ash", "ts": 1770000000, "request": {"model": "Qwen3-8B", "lora_path": "ash-v1", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    {"tenant": "birch", "ts": 1770000060, "request": {"model": "Qwen3-8B", "lora_path": "birch-v1", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    ```

    ```jsonl good
    {"tenant": "ash", "ts": 1770000000, "request": {"model": "Qwen3-8B", "cache_salt": "9f2c4e7a1b8d3f6059c1e2a47b80d6f3", "lora_path": "ash-v1", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    {"tenant": "birch", "ts": 1770000060, "request": {"model": "Qwen3-8B", "cache_salt": "3b7e91d04c6fa8e25d10f7c98ab46e21", "lora_path": "birch-v1", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    ```
    """  # noqa: E501

    name = "adapter-as-namespace"
    code = "PT011"
    id = "T11"
    summary = "Tenants are kept apart by their adapters only"
    severity = Severity.MEDIUM
    fix = "Send a salt as well, and put the version of an adapter into its name."
    moves = True

    def detect(self, audit: Audit) -> Iterable[Sighting]:
        """Yield, in one sighting, the requests of tenants that an adapter and no salt keeps apart."""
        rows = [row for row in audit.known if audit.space(row).adapter is not None and not audit.is_salted(row)]
        if len(audit.tenants_of(rows)) < _SEVERAL:
            return
        owners: dict[str | None, set[int]] = {}
        for row in rows:
            owners.setdefault(audit.space(row).adapter, set()).add(audit.rows.tenant[row])
        apart = len(owners) > 1 and all(len(its) == 1 for its in owners.values())
        yield Sighting(
            message=f"{counted(len(audit.tenants_of(rows)), 'tenant')} have adapters and no salt.",
            rows=rows,
            severity=Severity.HIGH if apart else None,
            confidence=Confidence.CERTAIN,
            evidence=(
                "each has an adapter of its own, and nothing else keeps them apart"
                if apart
                else "some tenants have an adapter in common",
            ),
            change=GATEWAY_SALT,
        )


THREATS.add(AdapterNamespace.name, AdapterNamespace())
