"""`tenant-data-before-boundary`."""

from __future__ import annotations

from collections.abc import Iterable

from prefixwise.analyzers.tenancy.audit import Audit
from prefixwise.analyzers.tenancy.threat import THREATS, Sighting, Threat
from prefixwise.analyzers.tenancy.wording import counted
from prefixwise.core.finding import Confidence, Severity, Where

_MOSTLY = 0.8
_HALF = 0.5


class TenantDataBeforeBoundary(Threat):
    """# A tenant's data in the shared part

    Where a deployment shares the beginning of prompts and keeps the rest apart, everything in front of the boundary is shared:
    an organisation's name in the system text, a customer's settings among the tools. Who knows the template can then find out
    by timing who else uses it, and with what.

    Reported are boundaries (`--shared-prefix-tokens`, or `shared_prefix_tokens` in a configuration) in front of which there are
    about as many variants as tenants, prompts on the allow-list whose variables hold a value a tenant, and text that several
    tenants share and that names one of them.

    ```jsonl bad
    {"tenant": "ash", "ts": 1770000000, "request": {"model": "Qwen3-8B", "cache_salt": "9f2c4e7a1b8d3f6059c1e2a47b80d6f3", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one. You work for Birch."}, {"role": "user", "content": "When is the first ferry?"}]}}
    {"tenant": "birch", "ts": 1770000060, "request": {"model": "Qwen3-8B", "cache_salt": "3b7e91d04c6fa8e25d10f7c98ab46e21", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one. You work for Birch."}, {"role": "user", "content": "When is the first ferry?"}]}}
    ```

    ```jsonl good
    {"tenant": "ash", "ts": 1770000000, "request": {"model": "Qwen3-8B", "cache_salt": "9f2c4e7a1b8d3f6059c1e2a47b80d6f3", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    {"tenant": "birch", "ts": 1770000060, "request": {"model": "Qwen3-8B", "cache_salt": "3b7e91d04c6fa8e25d10f7c98ab46e21", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    ```

    ```jsonl bad shared=24
    {"tenant": "ash", "ts": 1770000000, "request": {"model": "Qwen3-8B", "cache_salt": "9f2c4e7a1b8d3f6059c1e2a47b80d6f3", "messages": [{"role": "system", "content": "Ash Travel. You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    {"tenant": "birch", "ts": 1770000060, "request": {"model": "Qwen3-8B", "cache_salt": "3b7e91d04c6fa8e25d10f7c98ab46e21", "messages": [{"role": "system", "content": "Birch Tours. You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    ```

    ```jsonl good shared=24
    {"tenant": "ash", "ts": 1770000000, "request": {"model": "Qwen3-8B", "cache_salt": "9f2c4e7a1b8d3f6059c1e2a47b80d6f3", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    {"tenant": "birch", "ts": 1770000060, "request": {"model": "Qwen3-8B", "cache_salt": "3b7e91d04c6fa8e25d10f7c98ab46e21", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    ```
    """  # noqa: E501

    name = "tenant-data-before-boundary"
    code = "PT007"
    id = "T7"
    summary = "What is shared between tenants holds data of one of them"
    severity = Severity.CRITICAL
    fix = "Move what differs by tenant behind the boundary, and allow shared text by hash only."
    where = (Where.SYSTEM, Where.TOOLS)

    def detect(self, audit: Audit) -> Iterable[Sighting]:
        """Yield boundaries with a variant a tenant in front of them, and shared heads that name a tenant."""
        if not audit.several:
            return
        yield from self._at_boundary(audit)
        yield from self._approved(audit)
        yield from self._named(audit)

    def _at_boundary(self, audit: Audit) -> Iterable[Sighting]:
        setting = next(iter(audit.asked.deployment.find("shared_prefix_tokens")), None)
        tokens = audit.asked.shared_tokens
        if tokens is None and setting is not None and setting.value.isdecimal():
            tokens = int(setting.value)
        if tokens:
            rows = [row for row in audit.known if audit.rows.prompt_tokens[row] >= tokens]
            variants = self._variants(audit, rows, tokens)
            if self._is_tenant_data(variants):
                yield Sighting(
                    message=f"Within the {tokens:,} tokens that all tenants share there are "
                    f"{counted(len(variants), 'variant')} for {counted(len(audit.tenants_of(rows)), 'tenant')}.",
                    rows=rows,
                    setting=setting,
                    evidence=("nearly every variant is one tenant's",),
                    change="a boundary in front of the first token that differs",
                    cause="boundary",
                )

    def _approved(self, audit: Audit) -> Iterable[Sighting]:
        by_head: dict[str, list[int]] = {}
        for row in audit.known:
            head = audit.head(row)
            if head is not None and audit.approved[row]:
                by_head.setdefault(head.digest, []).append(row)
        for digest, rows in sorted(by_head.items()):
            variants: dict[int, set[int]] = {}
            for row in rows:
                at = audit.at_depth(row, audit.rows.system_end[row])
                variants.setdefault(at, set()).add(audit.rows.tenant[row])
            if self._is_tenant_data(variants):
                yield Sighting(
                    message="The variables of an approved prompt hold a value a tenant: "
                    f"{counted(len(variants), 'variant')} are approved as one.",
                    rows=rows,
                    evidence=(f"approved prompt {digest[:12]}",),
                    change="the variables behind the end of the approved prompt",
                    cause=f"approved {digest[:16]}",
                )

    def _named(self, audit: Audit) -> Iterable[Sighting]:
        rows_of: dict[int, list[int]] = {}
        if audit.records is None:
            return
        for row in audit.known:
            number = audit.records.head[row]
            if number >= 0 and audit.records.heads[number].names:
                rows_of.setdefault(number, []).append(row)
        for number, rows in rows_of.items():
            head, tenants = audit.records.heads[number], audit.tenants_of(rows)
            owners = {audit.rows.tenants[tenant] for tenant in tenants} & head.names
            if len(tenants) > 1 and len(owners) == 1:
                yield Sighting(
                    message=f"The head of prompts of {counted(len(tenants), 'tenant')} names one of them.",
                    rows=rows,
                    severity=Severity.MEDIUM,
                    confidence=Confidence.POSSIBLE,
                    evidence=("the tenant's name stands in it as a word",),
                    change="the name behind the shared part of the prompt",
                    cause=f"named {head.digest[:16]}",
                )

    def _variants(self, audit: Audit, rows: Iterable[int], tokens: int) -> dict[int, set[int]]:
        found: dict[int, set[int]] = {}
        for row in rows:
            found.setdefault(audit.at_depth(row, tokens), set()).add(audit.rows.tenant[row])
        return found

    def _is_tenant_data(self, variants: dict[int, set[int]]) -> bool:
        """Say whether there is about a variant a tenant: few are had by several."""
        tenants = set[int]().union(*variants.values()) if variants else set()
        own = sum(len(its) == 1 for its in variants.values())
        return len(variants) > 1 and own >= _MOSTLY * len(variants) and len(variants) >= _HALF * len(tenants)


THREATS.add(TenantDataBeforeBoundary.name, TenantDataBeforeBoundary())
