"""`breakpoint-over-limit`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from prefixwise.analyzers.lint.breakpoints import where_of
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.lint.marker_places import MarkerPlace
from prefixwise.analyzers.lint.mended_markers import with_fewer_markers
from prefixwise.analyzers.rule import RULES, LogRule
from prefixwise.core.finding import Confidence, Safety, Severity, Where
from prefixwise.core.request import Request


class BreakpointOverLimit(LogRule):
    """# More cache markers than a request may carry

    A request may carry only a few markers (four on Anthropic and Bedrock), counted over tools, system and messages
    together; an automatic marker at the top level takes one of them. One more, and the call is refused. Code that marks
    each of several parallel tool results, or marks every new message and never takes an old marker away, works until a
    conversation is long enough, and then fails for good, since every retry sends the same history.

    Reported for each request over the limit, whatever became of it.

    **Fix.** Keep one marker on the last tool or system block and one or two that move along with the newest messages;
    strip older ones when a new one is set. One marker a message is enough: it covers all blocks before it.

    ```jsonl bad
    {"model": "claude-sonnet-4-5", "max_tokens": 50, "system": [{"type": "text", "text": "You answer questions on ferries.", "cache_control": {"type": "ephemeral"}}], "messages": [{"role": "user", "content": [{"type": "text", "text": "Quay 1?", "cache_control": {"type": "ephemeral"}}, {"type": "text", "text": "Quay 2?", "cache_control": {"type": "ephemeral"}}, {"type": "text", "text": "Quay 3?", "cache_control": {"type": "ephemeral"}}, {"type": "text", "text": "Quay 4?", "cache_control": {"type": "ephemeral"}}]}]}
    ```

    ```jsonl good
    {"model": "claude-sonnet-4-5", "max_tokens": 50, "system": [{"type": "text", "text": "You answer questions on ferries.", "cache_control": {"type": "ephemeral"}}], "messages": [{"role": "user", "content": [{"type": "text", "text": "Quay 1?"}, {"type": "text", "text": "Quay 2?"}, {"type": "text", "text": "Quay 3?"}, {"type": "text", "text": "Quay 4?", "cache_control": {"type": "ephemeral"}}]}]}
    ```
    """  # noqa: E501

    name = "breakpoint-over-limit"
    code = "PW504"
    summary = "A request carries more cache markers than the provider allows, and is refused"
    severity = Severity.CRITICAL
    fix = (
        "Keep one marker on the tools or the system text and one or two on the newest messages; strip older ones when "
        "a new one is set, and mark one block of a message."
    )
    safety = Safety.SAFE
    where = (Where.MESSAGES, Where.SYSTEM, Where.TOOLS)
    rank = 12

    def detect(self, log: Log) -> Iterator[Claim]:
        for row in log.conversations.order:
            markers = log.of(row).markers
            system = log.marker_system(row) if len(markers) > 1 else None
            if system is None or system.max_breakpoints is None or len(markers) <= system.max_breakpoints:
                continue
            first = _first_to_go(markers)
            counts = Counter(place.kind for place in markers)
            stand = ", ".join(f"{count} in {kind}" for kind, count in counts.items())
            yield Claim(
                rule=self.name,
                where=where_of(first),
                after=row,
                field=first.pointer,
                confidence=Confidence.CERTAIN,
                severity=self.severity,
                cause=where_of(first),
                evidence=(f"{len(markers)} markers, {system.max_breakpoints} allowed: {stand}",),
                message=f"The request carries {len(markers)} cache markers and {system.max_breakpoints} are allowed: "
                "the provider refuses the call.",
            )

    def repair(self, request: Request, claims: Sequence[Claim]) -> Request | None:  # noqa: ARG002 - all alike
        return with_fewer_markers(request)


def _first_to_go(markers: Sequence[MarkerPlace]) -> MarkerPlace:
    """Return the first marker of the message that has several, else the oldest in the messages, else the first."""
    messages = [place for place in markers if place.kind == "messages" and place.on != "automatic"]
    by_message = Counter("/".join(place.pointer.split("/")[:3]) for place in messages)
    crowded = next((name for name, count in by_message.most_common(1) if count > 1), None)
    if crowded is not None:
        return next(place for place in messages if place.pointer.startswith(crowded + "/"))
    return messages[0] if messages else markers[0]


RULES.add(BreakpointOverLimit.name, BreakpointOverLimit())
