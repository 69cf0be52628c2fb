"""`cache-usage-visible`."""

from __future__ import annotations

from collections.abc import Iterable

from prefixwise.analyzers.tenancy.audit import Audit
from prefixwise.analyzers.tenancy.threat import THREATS, Sighting, Threat
from prefixwise.analyzers.tenancy.wording import counted
from prefixwise.core.finding import Confidence, Severity, Where
from prefixwise.corpus.rows import NONE

_FLAGS = ("enable_prompt_tokens_details", "enable_cache_report", "return_cached_tokens_details")


class UsageVisible(Threat):
    """# Usage that tells

    Timing needs many tries; a usage field that says how many tokens were cached needs one. The same goes for a discount on an
    invoice, headers such as `x-cache`, and a metrics port that tenants can reach.

    It is high where tenants share a namespace, and low where each has its own: then one sees only one's own cache.

    ```jsonl bad
    {"tenant": "ash", "ts": 1770000000, "request": {"model": "Qwen3-8B", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one.You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one.You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}, "response": {"usage": {"prompt_tokens": 140, "completion_tokens": 5, "total_tokens": 145, "prompt_tokens_details": {"cached_tokens": 0}}}}
    {"tenant": "birch", "ts": 1770000060, "request": {"model": "Qwen3-8B", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one.You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one.You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "Do dogs pay?"}]}, "response": {"usage": {"prompt_tokens": 140, "completion_tokens": 5, "total_tokens": 145, "prompt_tokens_details": {"cached_tokens": 80}}}}
    ```

    ```jsonl good
    {"tenant": "ash", "ts": 1770000000, "request": {"model": "Qwen3-8B", "cache_salt": "9f2c4e7a1b8d3f6059c1e2a47b80d6f3", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    {"tenant": "birch", "ts": 1770000060, "request": {"model": "Qwen3-8B", "cache_salt": "3b7e91d04c6fa8e25d10f7c98ab46e21", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    ```
    """  # noqa: E501

    name = "cache-usage-visible"
    code = "PT015"
    id = "T15"
    summary = "Tenants can see how much of a prompt was cached"
    severity = Severity.HIGH
    fix = "Hide or round cached tokens where tenants share a namespace, and put authentication before metrics."
    where = (Where.USAGE, Where.ENGINE)

    def detect(self, audit: Audit) -> Iterable[Sighting]:
        """Yield the usage of the log, and settings that turn it on."""
        if not audit.several:
            return
        shared = len(audit.found) > 0
        severity = None if shared else Severity.LOW
        why = "tenants share a namespace" if shared else "no tenant meets what another one wrote"
        rows = [row for row in audit.known if audit.rows.reported_cached[row] != NONE]
        setting = next((one for one in audit.asked.deployment.find(*_FLAGS) if one.on), None)
        if rows or setting is not None:
            yield Sighting(
                message=f"Answers say how much was cached, in {counted(len(rows), 'request')} of the log."
                if rows
                else "The engine is set to say how much was cached.",
                rows=rows,
                severity=severity,
                confidence=Confidence.POSSIBLE,
                evidence=(why, "whether tenants get to see it, the log does not say"),
                setting=setting,
                change="the gateway: no prompt_tokens_details in answers to tenants",
                cause="usage",
            )


THREATS.add(UsageVisible.name, UsageVisible())
