"""`ttl-mix`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prefixwise.analyzers.lint.breakpoints import where_of
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.lint.marker_places import MarkerPlace
from prefixwise.analyzers.rule import RULES, LogRule
from prefixwise.core.finding import Confidence, Safety, Severity, Where


class TtlMix(LogRule):
    """# A longer lifetime behind a shorter one

    Markers of one request may ask for different lifetimes, but the longer ones must come first in cache order: tools,
    system, messages. An entry for an hour that ends behind one for five minutes would outlive the text it stands on;
    the provider refuses such a request. A marker that names no lifetime asks for the provider's usual one.

    Reported for each such request of a provider whose rules say so.

    **Fix.** Give the parts in front (tools, system) the longer lifetime and the history behind them the shorter one,
    or use one lifetime everywhere.

    ```jsonl bad
    {"model": "claude-sonnet-4-5", "max_tokens": 50, "system": [{"type": "text", "text": "You answer questions on ferries.", "cache_control": {"type": "ephemeral"}}], "messages": [{"role": "user", "content": [{"type": "text", "text": "Is quay 2 open?", "cache_control": {"type": "ephemeral", "ttl": "1h"}}]}]}
    ```

    ```jsonl good
    {"model": "claude-sonnet-4-5", "max_tokens": 50, "system": [{"type": "text", "text": "You answer questions on ferries.", "cache_control": {"type": "ephemeral", "ttl": "1h"}}], "messages": [{"role": "user", "content": [{"type": "text", "text": "Is quay 2 open?", "cache_control": {"type": "ephemeral"}}]}]}
    ```
    """  # noqa: E501

    name = "ttl-mix"
    code = "PW507"
    summary = "A cache marker for a longer time stands behind one for a shorter time"
    severity = Severity.HIGH
    fix = "Let markers with longer lifetimes stand before those with shorter ones, or use one lifetime everywhere."
    safety = Safety.SAFE
    where = (Where.SYSTEM, Where.TOOLS, Where.MESSAGES)
    rank = 13

    def detect(self, log: Log) -> Iterator[Claim]:
        for row in log.conversations.order:
            markers = log.of(row).markers
            system = log.marker_system(row) if len(markers) > 1 else None
            if system is None or "ttl_ordering" not in system.more or system.ttl_s is None:
                continue
            found = _longer_behind(markers, float(system.ttl_s.stated or 0))
            if found is None:
                continue
            place, before, after = found
            yield Claim(
                rule=self.name,
                where=where_of(place),
                after=row,
                field=place.pointer,
                confidence=Confidence.CERTAIN,
                severity=self.severity,
                message=f"A marker for {_span(after)} stands behind one for {_span(before)}; the longer lifetime has "
                "to come first, and the provider refuses the call.",
            )


def _longer_behind(markers: Sequence[MarkerPlace], usual: float) -> tuple[MarkerPlace, float, float] | None:
    least = float("inf")
    for place in markers:
        ttl = usual if place.ttl is None else place.ttl
        if ttl > least:
            return place, least, ttl
        least = min(least, ttl)
    return None


def _span(seconds: float) -> str:
    return f"{seconds / 3600:g} h" if seconds >= 3600 else f"{seconds / 60:g} min"


RULES.add(TtlMix.name, TtlMix())
