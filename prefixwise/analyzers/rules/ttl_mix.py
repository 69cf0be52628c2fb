"""`ttl-mix`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prefixwise.analyzers.lint.breakpoints import is_extension, missed, where_of
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.lifetimes import idle_seconds
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.lint.marker_places import MarkerPlace
from prefixwise.analyzers.rule import RULES, LogRule
from prefixwise.core.finding import Confidence, Safety, Severity, Where

_OFTEN = 2
"""Changes in one conversation that came with a miss: one may be chance."""


class TtlMix(LogRule):
    """# A longer lifetime behind a shorter one

    Markers of one request may ask for different lifetimes, but the longer ones must come first in cache order: tools,
    system, messages. An entry for an hour that ends behind one for five minutes would outlive the text it stands on;
    the provider refuses such a request. A marker that names no lifetime asks for the provider's usual one.

    Reported for each such request of a provider whose rules say so. Also reported is a conversation that asks for
    another lifetime from one call to the next, where the texts agree and usage shows that everything was written again
    at each such change: what was kept for one lifetime was then not found under the other.

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
        yield from self._changed(log)
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

    def _changed(self, log: Log) -> Iterator[Claim]:
        """Claim calls that wrote everything again where their conversation had asked for another lifetime."""
        by_thread: dict[int, list[Claim]] = {}
        for before, row in log.turns():
            place = _changed_place(log, before, row)
            if place is None or row in log.explained or not _missed_in_time(log, before, row):
                continue
            one, other = log.of(before).markers[0], place
            claim = Claim(
                rule=self.name,
                where=where_of(place),
                after=row,
                before=before,
                field=place.pointer,
                lost=missed(log, row, min(log.prompt(before), log.prompt(row))),
                severity=Severity.MEDIUM,
                cause="changed",
                evidence=(f"nothing read, {log.written(row) or 0:,} tokens written",),
                message=f"The conversation asked for {one.asked or 'the usual lifetime'} before and for "
                f"{other.asked or 'the usual lifetime'} now, and everything was written again.",
                fix="Ask for one lifetime in all calls of a conversation.",
            )
            by_thread.setdefault(log.conversations.conversation[row], []).append(claim)
        for claims in by_thread.values():
            if len(claims) >= _OFTEN:
                yield from claims


def _changed_place(log: Log, before: int, row: int) -> MarkerPlace | None:
    """Return the first marker of a row, where the same text asked for another lifetime in the earlier call."""
    one, other = log.of(before).markers, log.of(row).markers
    if not one or not other or one[0].block != other[0].block:
        return None
    system = log.marker_system(row)
    if system is None or system.ttl_s is None:
        return None
    asked = {system.ttl_s.stated if place.ttl is None else place.ttl for place in (one[0], other[0])}
    return other[0] if len(asked) > 1 and is_extension(log, before, row) else None


def _missed_in_time(log: Log, before: int, row: int) -> bool:
    """Say whether nothing was read though what the earlier call left was still there."""
    idle, system = idle_seconds(log, before, row), log.marker_system(row)
    shortest = None if system is None or system.ttl_s is None else system.ttl_s.stated
    return log.cached(row) == 0 and bool(log.written(row)) and not (idle and shortest and idle > shortest)


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
