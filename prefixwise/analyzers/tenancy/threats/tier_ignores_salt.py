"""`tier-ignores-salt`."""

from __future__ import annotations

from collections.abc import Iterable

from prefixwise.analyzers.tenancy.audit import Audit
from prefixwise.analyzers.tenancy.deployment import Setting
from prefixwise.analyzers.tenancy.observed_reuse import above_namespace
from prefixwise.analyzers.tenancy.threat import THREATS, Sighting, Threat
from prefixwise.analyzers.tenancy.wording import counted
from prefixwise.core.finding import Confidence, Severity, Where


class TierIgnoresSalt(Threat):
    """# A tier that does not know of salts

    A salt that the device's cache honours may be unknown to what lies behind it: host memory, disks, a store that several
    engines share. Entries of one tenant go out with their salt dropped, and come back for another. It shows only after
    eviction or a restart.

    Where usage says that more of a prompt was cached than any earlier request of the same namespace had, by more than a block,
    it came from elsewhere: from another namespace of the log that had it. Where no request of the log had it, the log may
    have begun with a warm cache: that is information, and makes a warning of what is said of later requests. Configurations are searched for stores that are known to have dropped salts.

    ```jsonl bad
    {"tenant": "ash", "ts": 1770000000, "request": {"model": "Qwen3-8B", "cache_salt": "9f2c4e7a1b8d3f6059c1e2a47b80d6f3", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one.You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one.You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}, "response": {"usage": {"prompt_tokens": 140, "completion_tokens": 5, "total_tokens": 145, "prompt_tokens_details": {"cached_tokens": 0}}}}
    {"tenant": "birch", "ts": 1770000060, "request": {"model": "Qwen3-8B", "cache_salt": "3b7e91d04c6fa8e25d10f7c98ab46e21", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one.You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one.You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "Do dogs pay?"}]}, "response": {"usage": {"prompt_tokens": 140, "completion_tokens": 5, "total_tokens": 145, "prompt_tokens_details": {"cached_tokens": 80}}}}
    ```

    ```jsonl good
    {"tenant": "ash", "ts": 1770000000, "request": {"model": "Qwen3-8B", "cache_salt": "9f2c4e7a1b8d3f6059c1e2a47b80d6f3", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one.You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one.You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}, "response": {"usage": {"prompt_tokens": 140, "completion_tokens": 5, "total_tokens": 145, "prompt_tokens_details": {"cached_tokens": 0}}}}
    {"tenant": "ash", "ts": 1770000060, "request": {"model": "Qwen3-8B", "cache_salt": "9f2c4e7a1b8d3f6059c1e2a47b80d6f3", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one.You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one.You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "Do dogs pay?"}]}, "response": {"usage": {"prompt_tokens": 140, "completion_tokens": 5, "total_tokens": 145, "prompt_tokens_details": {"cached_tokens": 80}}}}
    {"tenant": "birch", "ts": 1770000120, "request": {"model": "Qwen3-8B", "cache_salt": "3b7e91d04c6fa8e25d10f7c98ab46e21", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one.You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one.You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}, "response": {"usage": {"prompt_tokens": 140, "completion_tokens": 5, "total_tokens": 145, "prompt_tokens_details": {"cached_tokens": 0}}}}
    ```

    ```text bad
    python -m sglang.launch_server --model-path Qwen/Qwen3-8B --enable-lmcache
    ```

    ```text good
    python -m sglang.launch_server --model-path Qwen/Qwen3-8B
    ```
    """  # noqa: E501

    name = "tier-ignores-salt"
    code = "PT010"
    id = "T10"
    summary = "More was served than the namespace can hold: a tier of the cache ignores salts"
    severity = Severity.CRITICAL
    fix = "Upgrade or turn off the tier, and test again after a restart and after eviction."
    where = (Where.USAGE, Where.ENGINE)

    def detect(self, audit: Audit) -> Iterable[Sighting]:
        """Yield what usage proves, what it leaves open, and stores that are known to have dropped salts."""
        elsewhere: dict[int, int] = {}
        open_: dict[int, int] = {}
        for row, excess, was_elsewhere in above_namespace(audit):
            (elsewhere if was_elsewhere else open_)[row] = excess
        # Who had it first in the log may have found it cached already: then the log began with a warm cache, and what
        # the others found may have been their own, from before.
        warm = {row: excess for row, excess in elsewhere.items() if audit.by_model.partner[row] in open_}
        if proven := {row: excess for row, excess in elsewhere.items() if row not in warm}:
            yield self._from_elsewhere(audit, proven, "proven")
        if warm:
            yield self._from_elsewhere(audit, warm, "warm")
        if open_:
            yield Sighting(
                message=f"{counted(len(open_), 'request')} got cached tokens that no earlier request of the log had.",
                rows=sorted(open_),
                tokens=0,
                severity=Severity.INFO,
                confidence=Confidence.POSSIBLE,
                evidence=("the cache may have been warm when the log began",),
                cause="open",
            )
        yield from self._configured(audit)

    def _from_elsewhere(self, audit: Audit, found: dict[int, int], cause: str) -> Sighting:
        writers = audit.tenants_of(audit.by_model.partner[row] for row in found)
        spaces = len({audit.spaces[row] for row in found})
        sure = cause == "proven"
        why = "the first request with this prefix found it cached, too: the cache was warm when the log began"
        return Sighting(
            message=f"{counted(len(found), 'request')} got cached tokens that only another namespace had: "
            f"{sum(found.values()):,} more than their own could give.",
            rows=sorted(found),
            tokens=sum(found.values()),
            severity=None if sure else Severity.MEDIUM,
            confidence=Confidence.POSSIBLE if not sure else Confidence.CERTAIN if spaces > 1 else Confidence.LIKELY,
            evidence=(f"written by {counted(len(writers), 'tenant')}", *(() if sure else (why,))),
            change="the store behind the engine: a release that keys entries by salt, or none",
            cause=cause,
        )

    def _configured(self, audit: Audit) -> Iterable[Sighting]:
        deployment = audit.asked.deployment
        for setting in deployment.find("kv_connector"):
            if setting.value.startswith("LMCacheConnector"):
                yield self._store(setting, "the connector for LMCache in the engine's process dropped salts", sure=True)
        for setting in deployment.find("enable_lmcache", system="sglang"):
            if setting.on:
                yield self._store(setting, "SGLang's path to LMCache drops salts", sure=True)
        for setting in deployment.find("hicache_storage_backend", "enable_hierarchical_cache", system="sglang"):
            if setting.on:
                yield self._store(setting, "HiCache named pages by tokens alone before September 2026", sure=False)
        for setting in deployment.find("use_kv_cache_manager_v2", system="tensorrt-llm"):
            if setting.on:
                yield self._store(setting, "the second cache manager ignored salts before May 2026", sure=False)

    def _store(self, setting: Setting, why: str, *, sure: bool) -> Sighting:
        return Sighting(
            message="A store behind the engine is known to have ignored salts."
            if sure
            else "A store behind the engine ignored salts in earlier releases.",
            setting=setting,
            severity=None if sure else Severity.MEDIUM,
            confidence=Confidence.LIKELY if sure else Confidence.POSSIBLE,
            evidence=(why,),
            change="a release that keys entries by salt, or no store; audit live after eviction and after a restart",
            where=Where.ENGINE,
            cause=setting.last,
        )


THREATS.add(TierIgnoresSalt.name, TierIgnoresSalt())
