"""`breakpoint-below-minimum`."""

from __future__ import annotations

from collections.abc import Iterator

from prefixwise.analyzers.lint.breakpoints import (
    FEWEST,
    SLACK,
    Group,
    groups,
    head_of,
    is_silent,
    is_used,
    missed,
    needed,
    stable_tokens,
    tokens_to,
    where_of,
)
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.lint.marker_places import UNMARKABLE
from prefixwise.analyzers.lint.short_heads import short_heads
from prefixwise.analyzers.rule import RULES, LogRule
from prefixwise.core.finding import Confidence, Severity, Where

_WORTH = 256
_MANY = 5
"""Calls without reported usage from which it is worth saying."""


class BreakpointBelowMinimum(LogRule):
    """# The prefix is shorter than the least that is cached

    Every provider has a least number of tokens below which nothing is cached, from 512 to some thousands, and it
    differs from model to model. A marker behind fewer tokens does nothing; no error is returned, and both counters stay
    at zero. What counts is the whole prefix up to the marker, tools included. Where caching is automatic, the same
    holds for the part that single questions share.

    Reported where calls carry markers, nothing is ever read or written, and what stands before the last marker is
    below the minimum. Counted tokens may be off by a fifth; within that band the finding is only `possible`. Where
    caching is automatic: where at least half of the minimum is shared by many single questions, all of them misses.

    Not reported: short prompts without a marker, and conversations that grow over the minimum later and are cached
    then.

    **Fix.** If more text would help anyway (examples, rules, tool descriptions), move it in front of the marker until
    the prefix is long enough. Else take the marker away, or use a model with a lower minimum.

    ```jsonl bad
    {"request": {"model": "claude-haiku-4-5", "max_tokens": 50, "system": [{"type": "text", "text": "You answer questions on ferries.", "cache_control": {"type": "ephemeral"}}], "messages": [{"role": "user", "content": "Is quay 2 open?"}]}, "response": {"usage": {"input_tokens": 1310, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 20}}}
    ```

    ```jsonl good
    {"request": {"model": "claude-haiku-4-5", "max_tokens": 50, "system": "You answer questions on ferries.", "messages": [{"role": "user", "content": "Is quay 2 open?"}]}, "response": {"usage": {"input_tokens": 1310, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 20}}}
    ```
    """  # noqa: E501

    name = "breakpoint-below-minimum"
    code = "PW505"
    summary = "What could be cached is shorter than the least that the model's cache takes"
    severity = Severity.MEDIUM
    fix = (
        "Move more static text in front of the marker until the prefix reaches the minimum, take the marker away, or "
        "use a model with a lower minimum."
    )
    where = (Where.SYSTEM, Where.TOOLS, Where.MESSAGES)
    rank = 14

    def detect(self, log: Log) -> Iterator[Claim]:
        for group in groups(log):
            yield from self._marked(log, group)
        yield from self._automatic(log)

    def _marked(self, log: Log, group: Group) -> Iterator[Claim]:
        least = needed(group.system, group.model)
        if least is None or any(is_used(log, row) for row in group.rows):
            return
        marked = [row for row in group.rows if any(place.on not in UNMARKABLE for place in log.of(row).markers)]
        for row in marked:
            if row in log.explained or (log.cached(row) is None and len(marked) < _MANY):
                continue
            place = log.of(row).markers[-1]
            tokens = tokens_to(log, row, place)
            confidence = _how_sure(log, row, tokens, least)
            if confidence is None:
                continue
            silent = ("both cache counters are 0",) if is_silent(log, row) else ("the log reports no usage",)
            yield Claim(
                rule=self.name,
                where=where_of(place),
                after=row,
                field=place.pointer,
                lost=missed(log, row, stable_tokens(log, row)),
                confidence=confidence,
                severity=self.severity,
                evidence=silent,
                message=f"The marker stands behind about {tokens:,} tokens, and {group.model} caches nothing below "
                f"{least[0]:,}: it does nothing.",
            )

    def _automatic(self, log: Log) -> Iterator[Claim]:
        """Claim single questions whose common head is too short for a cache that works by itself."""
        for head in short_heads(log):
            if len(head.rows) < FEWEST:
                continue
            for row in head.rows:
                where, field = head_of(log, row)
                yield Claim(
                    rule=self.name,
                    where=where,
                    after=row,
                    field=field,
                    lost=missed(log, row, head.tokens),
                    confidence=Confidence.LIKELY if log.cached(row) == 0 else Confidence.POSSIBLE,
                    severity=Severity.LOW,
                    cause="automatic",
                    evidence=(f"the calls share about {head.tokens:,} tokens, minimum {head.least:,}",),
                    message=f"All calls begin with the same {head.tokens:,} tokens or so, and the provider caches "
                    f"nothing below {head.least:,}.",
                    fix="Move more of what never changes to the front, if it helps the model anyway, until the common "
                    "part reaches the minimum.",
                )


def _how_sure(log: Log, row: int, tokens: int, least: tuple[int, int]) -> Confidence | None:
    """Return how sure it is that a prefix is below the minimum, None where it is not."""
    if not is_silent(log, row):
        unreported = log.cached(row) is None and _WORTH < tokens * (1 + SLACK) < least[0]
        return Confidence.POSSIBLE if unreported else None
    if log.prompt(row) < least[0]:
        return Confidence.CERTAIN
    if tokens * (1 + SLACK) < least[0]:
        return Confidence.LIKELY
    return Confidence.POSSIBLE if tokens < least[1] * (1 + SLACK) else None


RULES.add(BreakpointBelowMinimum.name, BreakpointBelowMinimum())
