"""`kv-kept-too-long`."""

from __future__ import annotations

from collections.abc import Iterable

from prefixwise.analyzers.tenancy.audit import Audit
from prefixwise.analyzers.tenancy.observed_reuse import kept_longer
from prefixwise.analyzers.tenancy.threat import THREATS, Sighting, Threat
from prefixwise.analyzers.tenancy.wording import counted
from prefixwise.core.finding import Confidence, Severity, Where

_TIERS = ("local_disk", "remote_url", "hicache_storage_backend", "host_cache_size", "kv_connector")
_LEAST = 10


class KeptTooLong(Threat):
    """# Entries that outlive the contract

    A cache forgets when it needs room, which may be never. Where a contract says for how long prompts may be kept, that bound
    must hold in every tier; `--retention SECONDS` says it. A salt that is new for every request is no way to opt out: what it
    names is stored all the same, and lies there until it is pushed out.

    Reported are hits on prefixes that nobody of the namespace had used for longer than that, tiers without a lifetime, and
    tenants whose every request has a salt of its own.

    ```jsonl bad retention=600
    {"tenant": "ash", "ts": 1770000000, "request": {"model": "Qwen3-8B", "cache_salt": "9f2c4e7a1b8d3f6059c1e2a47b80d6f3", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one.You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one.You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}, "response": {"usage": {"prompt_tokens": 140, "completion_tokens": 5, "total_tokens": 145, "prompt_tokens_details": {"cached_tokens": 0}}}}
    {"tenant": "ash", "ts": 1770003600, "request": {"model": "Qwen3-8B", "cache_salt": "9f2c4e7a1b8d3f6059c1e2a47b80d6f3", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one.You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one.You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "Do dogs pay?"}]}, "response": {"usage": {"prompt_tokens": 140, "completion_tokens": 5, "total_tokens": 145, "prompt_tokens_details": {"cached_tokens": 80}}}}
    {"tenant": "birch", "ts": 1770003700, "request": {"model": "Qwen3-8B", "cache_salt": "3b7e91d04c6fa8e25d10f7c98ab46e21", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one.You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one.You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}, "response": {"usage": {"prompt_tokens": 140, "completion_tokens": 5, "total_tokens": 145, "prompt_tokens_details": {"cached_tokens": 0}}}}
    ```

    ```jsonl good retention=7200
    {"tenant": "ash", "ts": 1770000000, "request": {"model": "Qwen3-8B", "cache_salt": "9f2c4e7a1b8d3f6059c1e2a47b80d6f3", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one.You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one.You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}, "response": {"usage": {"prompt_tokens": 140, "completion_tokens": 5, "total_tokens": 145, "prompt_tokens_details": {"cached_tokens": 0}}}}
    {"tenant": "ash", "ts": 1770003600, "request": {"model": "Qwen3-8B", "cache_salt": "9f2c4e7a1b8d3f6059c1e2a47b80d6f3", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one.You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one.You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "Do dogs pay?"}]}, "response": {"usage": {"prompt_tokens": 140, "completion_tokens": 5, "total_tokens": 145, "prompt_tokens_details": {"cached_tokens": 80}}}}
    {"tenant": "birch", "ts": 1770003700, "request": {"model": "Qwen3-8B", "cache_salt": "3b7e91d04c6fa8e25d10f7c98ab46e21", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one.You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one.You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}, "response": {"usage": {"prompt_tokens": 140, "completion_tokens": 5, "total_tokens": 145, "prompt_tokens_details": {"cached_tokens": 0}}}}
    ```
    """  # noqa: E501

    name = "kv-kept-too-long"
    code = "PT020"
    id = "T20"
    summary = "Entries of a tenant outlive what was agreed"
    severity = Severity.MEDIUM
    fix = "Give entries a lifetime a tenant, and let those who opt out not be stored."
    where = (Where.ENGINE, Where.USAGE)

    def detect(self, audit: Audit) -> Iterable[Sighting]:
        """Yield hits on what should be gone, tiers that keep for ever, and salts of one request."""
        limit = audit.asked.retention
        if limit is not None:
            old = list(kept_longer(audit, limit))
            if old:
                yield Sighting(
                    message=f"{counted(len(old), 'request')} got cached tokens that had lain unused for longer than "
                    f"{limit:,.0f} s.",
                    rows=[row for row, _ in old],
                    tokens=sum(tokens for _, tokens in old),
                    confidence=Confidence.LIKELY,
                    change="a lifetime in every tier",
                    where=Where.USAGE,
                    cause="hits",
                )
            for setting in audit.asked.deployment.find(*_TIERS):
                if setting.on:
                    yield Sighting(
                        message="A tier keeps entries until it needs the room, and the contract sets a time.",
                        setting=setting,
                        tokens=0,
                        confidence=Confidence.POSSIBLE,
                        change="a lifetime for this tier",
                        cause=setting.last,
                    )
        alone = [
            row
            for tenant, rows in audit.rows_by_tenant.items()
            if len(rows) >= _LEAST and len({audit.salt(row) for row in rows} - {None}) == len(rows)
            for row in audit.rows_by_tenant[tenant]
        ]
        if alone:
            yield Sighting(
                message=f"Every request of {counted(len(audit.tenants_of(alone)), 'tenant')} has a salt of its own: "
                "its entries are stored and never used.",
                rows=alone,
                tokens=0,
                confidence=Confidence.LIKELY,
                change="a way not to store, where that is what is meant",
                where=Where.ENGINE,
                cause="alone",
            )


THREATS.add(KeptTooLong.name, KeptTooLong())
