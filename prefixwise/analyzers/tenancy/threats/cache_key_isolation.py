"""`cache-key-as-isolation`."""

from __future__ import annotations

from collections.abc import Iterable

from prefixwise.analyzers.tenancy.audit import Audit
from prefixwise.analyzers.tenancy.deployment import Setting
from prefixwise.analyzers.tenancy.threat import THREATS, Sighting, Threat
from prefixwise.analyzers.tenancy.wording import counted
from prefixwise.core.finding import Confidence, Severity, Where
from prefixwise.core.private_data import exposed

_SEVERAL = 2


class CacheKeyIsolation(Threat):
    """# A routing key is no boundary

    `prompt_cache_key` says which machine a request should go to; it is not documented to keep tenants apart, and a provider's
    caches end at the organisation, for some at the workspace or the project. Customers behind one credential are one customer
    to the provider.

    Reported are keys that several tenants share, keys that hold personal data (providers ask for none), one credential or
    workspace for several tenants (`--place credential=POINTER`), and, with less certainty, several tenants at a hosted provider
    in a log that shows no accounts.

    ```jsonl bad
    {"tenant": "ash", "ts": 1770000000, "credential": "key-1", "request": {"model": "gpt-4o", "prompt_cache_key": "desk", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    {"tenant": "birch", "ts": 1770000060, "credential": "key-1", "request": {"model": "gpt-4o", "prompt_cache_key": "desk", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    ```

    ```jsonl good
    {"tenant": "ash", "ts": 1770000000, "credential": "key-1", "request": {"model": "gpt-4o", "prompt_cache_key": "k-5d1e", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    {"tenant": "birch", "ts": 1770000060, "credential": "key-2", "request": {"model": "gpt-4o", "prompt_cache_key": "k-90ab", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    ```
    """  # noqa: E501

    name = "cache-key-as-isolation"
    code = "PT012"
    id = "T12"
    summary = "A cache key or one account stands where a boundary between tenants is needed"
    severity = Severity.HIGH
    fix = "Use keys of one tenant for routing, and an account, workspace or project of its own for isolation."
    moves = True
    where = (Where.PARAMS, Where.TRANSPORT)

    def detect(self, audit: Audit) -> Iterable[Sighting]:
        """Yield keys of several tenants, keys with personal data, and accounts of several tenants."""
        if not audit.several:
            return
        by_key: dict[str, list[int]] = {}
        for row in audit.known:
            key = audit.space(row).cache_key
            if key is not None and not audit.is_salted(row):
                by_key.setdefault(key, []).append(row)
        shared = [row for rows in by_key.values() if len(audit.tenants_of(rows)) > 1 for row in rows]
        if shared:
            yield Sighting(
                message=f"{counted(len(audit.tenants_of(shared)), 'tenant')} share cache keys.",
                rows=shared,
                confidence=Confidence.CERTAIN,
                change='"prompt_cache_key": a keyed hash of the tenant, and an account a tenant',
                cause="keys",
            )
        personal = [
            row for key, rows in by_key.items() if any(not one.is_example for one in exposed(key)) for row in rows
        ]
        if personal:
            yield Sighting(
                message=f"Cache keys hold personal data or secrets, in {counted(len(personal), 'request')}.",
                rows=personal,
                tokens=0,
                change='"prompt_cache_key": a keyed hash',
                cause="personal",
            )
        yield from self._accounts(audit)

    def _accounts(self, audit: Audit) -> Iterable[Sighting]:
        """Look for tenants behind one account of a provider."""
        hosted = [row for row in audit.known if audit.is_hosted(row) and not audit.is_salted(row)]
        tenants = audit.tenants_of(hosted)
        if len(tenants) < _SEVERAL:
            return
        accounts: dict[tuple[str | None, ...], list[int]] = {}
        places = [audit.place(name) for name in ("credential", "workspace")]
        for row in hosted:
            accounts.setdefault(tuple(place.get(row) for place in places), []).append(row)
        pooled = [row for rows in accounts.values() if len(audit.tenants_of(rows)) > 1 for row in rows]
        if not pooled:
            return
        setting = self._one_key(audit)
        seen = any(places) or setting is not None
        private = any(row in audit.private for row in pooled)
        yield Sighting(
            message=f"{counted(len(audit.tenants_of(pooled)), 'tenant')} are behind "
            f"{counted(len(accounts), 'account')} of the provider."
            if seen
            else f"{counted(len(tenants), 'tenant')} use a hosted provider, and the log shows no account of their own.",
            rows=pooled,
            severity=None if seen or private else Severity.MEDIUM,
            confidence=Confidence.CERTAIN if seen else Confidence.POSSIBLE,
            setting=setting,
            evidence=() if seen else ("--place credential=POINTER names where a record says whose account it used",),
            change="a workspace, project or organisation a tenant; at DeepSeek user_id, at Fireworks an isolation key",
            where=Where.TRANSPORT,
            cause="accounts",
        )

    def _one_key(self, audit: Audit) -> Setting | None:
        """Return the setting of a gateway that sends everything with one credential, None where there are several."""
        keys = audit.asked.deployment.find("api_key", system="litellm")
        return keys[0] if len({setting.value for setting in keys}) == 1 else None


THREATS.add(CacheKeyIsolation.name, CacheKeyIsolation())
