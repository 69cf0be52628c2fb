"""`ttl-unsupported`."""

from __future__ import annotations

from collections.abc import Iterator

from prefixwise.analyzers.lint.breakpoints import is_used, where_of
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.rule import RULES, LogRule
from prefixwise.caches.facts import System
from prefixwise.core.finding import Confidence, Severity, Where


class TtlUnsupported(LogRule):
    """# A lifetime that the provider does not offer

    How long a cache entry lives cannot be chosen freely: a provider offers a few lifetimes and gives each a name (`5m`
    and `1h` on Anthropic and Bedrock). A marker that asks for `2h`, for `300` or for `1hour` is refused, or, behind a
    gateway that knows only some names, taken for one without a lifetime. Such values come from settings that another
    provider had, or from code that turns a number of seconds into text.

    Reported for markers, and for the lifetime that a request to OpenAI asks for, where the provider's names are known
    and the one in the request is none of them.

    Not reported: requests for which usage shows that a cache gave or took something, since then somebody on the way has
    put the value right; providers whose names are not known.

    **Fix.** Ask for one of the lifetimes on offer, or leave it out for the usual one.

    ```jsonl bad
    {"model": "claude-sonnet-4-5", "max_tokens": 50, "system": [{"type": "text", "text": "You answer questions on ferries.", "cache_control": {"type": "ephemeral", "ttl": "2h"}}], "messages": [{"role": "user", "content": "Is quay 2 open?"}]}
    ```

    ```jsonl good
    {"model": "claude-sonnet-4-5", "max_tokens": 50, "system": [{"type": "text", "text": "You answer questions on ferries.", "cache_control": {"type": "ephemeral", "ttl": "1h"}}], "messages": [{"role": "user", "content": "Is quay 2 open?"}]}
    ```
    """  # noqa: E501

    name = "ttl-unsupported"
    code = "PW509"
    summary = "A request asks for a lifetime that the provider does not offer"
    severity = Severity.MEDIUM
    fix = "Ask for one of the lifetimes that the provider offers, or leave it out."
    where = (Where.SYSTEM, Where.TOOLS, Where.MESSAGES, Where.PARAMS)
    rank = 13

    def detect(self, log: Log) -> Iterator[Claim]:
        for row in log.conversations.order:
            seen = log.of(row)
            if not (seen.markers or seen.retention) or is_used(log, row):
                continue
            claim = self._of_marker(log, row) or self._of_request(log, row)
            if claim is not None:
                yield claim

    def _of_marker(self, log: Log, row: int) -> Claim | None:
        system = log.marker_system(row)
        offered = () if system is None else _names(system)
        place = next((one for one in log.of(row).markers if one.asked and one.asked not in offered), None)
        if system is None or not offered or place is None:
            return None
        return self._claim(row, where_of(place), place.pointer + "/ttl", place.asked, offered)

    def _of_request(self, log: Log, row: int) -> Claim | None:
        """Claim a lifetime for the whole request that no model of the provider offers."""
        system, seen = log.system(row), log.of(row)
        if not seen.retention or system is None:
            return None
        offered = tuple(name for one in log.book.systems() if one.provider == system.provider for name in _names(one))
        if not offered or _plain(seen.retention) in map(_plain, offered):
            return None
        return self._claim(row, Where.PARAMS, seen.retention_at, seen.retention, tuple(dict.fromkeys(offered)))

    def _claim(self, row: int, where: Where, field: str, asked: str, offered: tuple[str, ...]) -> Claim:
        return Claim(
            rule=self.name,
            where=where,
            after=row,
            field=field,
            to_text=asked,
            confidence=Confidence.CERTAIN,
            severity=self.severity,
            message=f"The request asks for a lifetime of `{asked}`; on offer are {', '.join(offered)}.",
        )


def _names(system: System) -> tuple[str, ...]:
    return tuple(option.name for option in system.ttl_options)


def _plain(name: str) -> str:
    return name.replace("-", "_").lower()


RULES.add(TtlUnsupported.name, TtlUnsupported())
