"""`breakpoint-lost-by-gateway`."""

from __future__ import annotations

from collections.abc import Iterator

from prefixwise.analyzers.lint.breakpoints import (
    FEWEST,
    SLACK,
    Group,
    groups,
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
from prefixwise.analyzers.lint.observed import Observed
from prefixwise.analyzers.rule import RULES, LogRule
from prefixwise.caches.facts import System
from prefixwise.core.finding import Confidence, Severity, Where

_HIDDEN = "arn:"
"""In names of Bedrock that may not say which model they stand for."""


class BreakpointLostByGateway(LogRule):
    """# Cache markers are lost between the client and the provider

    The client sends its markers, and something on the way drops them: a gateway that translates one API into another,
    an SDK that expects them under another name, a content list that is flattened into a string, an unknown model name
    for which markers are not passed on. Nothing fails and nothing is said; every call is paid for in full.

    Reported where a record holds the client's body with markers and the body that was sent on without, and where calls
    carry markers behind far more tokens than the model's minimum and yet both cache counters stay at zero. The
    provider would have written at least; so the markers did not arrive, or the counters did not come back.

    Not reported: prefixes below or near the model's minimum, applications some of whose calls are cached, and logs
    without usage.

    **Fix.** Look at the body that leaves the gateway. Update it, name the model as it knows it, or put the markers
    where its documentation asks for them; some gateways can set them by themselves.

    ```jsonl bad
    {"client_request": {"model": "claude-sonnet-4-5", "max_tokens": 50, "system": [{"type": "text", "text": "You answer questions on ferries.", "cache_control": {"type": "ephemeral"}}], "messages": [{"role": "user", "content": "Is quay 2 open?"}]}, "upstream_request": {"model": "claude-sonnet-4-5", "max_tokens": 50, "system": "You answer questions on ferries.", "messages": [{"role": "user", "content": "Is quay 2 open?"}]}, "response": {"usage": {"input_tokens": 2310, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 20}}}
    ```

    ```jsonl good
    {"client_request": {"model": "claude-sonnet-4-5", "max_tokens": 50, "system": [{"type": "text", "text": "You answer questions on ferries.", "cache_control": {"type": "ephemeral"}}], "messages": [{"role": "user", "content": "Is quay 2 open?"}]}, "upstream_request": {"model": "claude-sonnet-4-5", "max_tokens": 50, "system": [{"type": "text", "text": "You answer questions on ferries.", "cache_control": {"type": "ephemeral"}}], "messages": [{"role": "user", "content": "Is quay 2 open?"}]}, "response": {"usage": {"input_tokens": 12, "cache_creation_input_tokens": 2298, "cache_read_input_tokens": 0, "output_tokens": 20}}}
    ```
    """  # noqa: E501

    name = "breakpoint-lost-by-gateway"
    code = "PW502"
    summary = "Markers that the client sends do not reach the provider"
    severity = Severity.CRITICAL
    fix = "Look at the body that leaves the gateway: update it, or put the markers where it passes them on."
    where = (Where.SYSTEM, Where.TOOLS, Where.MESSAGES)
    rank = 11

    def detect(self, log: Log) -> Iterator[Claim]:
        shown = {row for row, seen in log.observed.items() if seen.lost_markers is not None}
        for row in sorted(shown, key=lambda row: (log.times[row], row)):
            yield self._shown(log, row, log.of(row))
        for group in groups(log):
            yield from self._unanswered(log, group, shown)

    def _shown(self, log: Log, row: int, seen: Observed) -> Claim:
        lost = seen.lost_markers
        assert lost is not None  # noqa: S101 - the caller has looked
        count = f"{lost.sent} marker{'s' if lost.sent > 1 else ''}"
        return Claim(
            rule=self.name,
            where=where_of(seen.markers[0]) if seen.markers else Where.SYSTEM,
            after=row,
            field=seen.markers[0].pointer if seen.markers else "record:" + lost.client,
            lost=missed(log, row, stable_tokens(log, row)),
            confidence=Confidence.CERTAIN,
            severity=self.severity,
            cause="shown",
            evidence=(f"{count} at {lost.client or 'the client'} and none at {lost.upstream}",),
            message="The client's body carries cache markers, and the body that was sent on does not.",
        )

    def _unanswered(self, log: Log, group: Group, shown: set[int]) -> Iterator[Claim]:
        """Claim calls with markers that must have been written, had they arrived."""
        least = needed(group.system, group.model)
        is_known = least is not None
        if not is_known and _HIDDEN in group.model:
            least = _most_needed(group.system)
        if least is None or any(is_used(log, row) for row in group.rows):
            return
        marked = [row for row in group.rows if _may_write(log, row) and row not in shown]
        enough = round(least[1] * (1 + SLACK))
        rows = [row for row in marked if is_silent(log, row) and self._tokens(log, row) >= enough]
        if len(rows) < FEWEST:
            return
        for row in rows:
            tokens = stable_tokens(log, row)
            if log.written(row) is None and tokens < enough:
                continue
            place = next(place for place in log.of(row).markers if place.on not in UNMARKABLE)
            yield Claim(
                rule=self.name,
                where=where_of(place),
                after=row,
                field=place.pointer,
                lost=missed(log, row, tokens),
                confidence=Confidence.LIKELY if is_known else Confidence.POSSIBLE,
                severity=self.severity if is_known else Severity.MEDIUM,
                cause="unanswered",
                evidence=(
                    f"both cache counters are 0 in {len(rows):,} calls with markers, though "
                    f"{'the model caches' if is_known else 'any known model of the provider caches'} from "
                    f"{least[1]:,} tokens on",
                ),
                message=f"The calls carry cache markers behind about {self._tokens(log, row):,} tokens, and nothing is "
                "ever written: the markers are lost on the way to the provider.",
            )

    def _tokens(self, log: Log, row: int) -> int:
        return tokens_to(log, row, log.of(row).markers[-1])


def _most_needed(system: System) -> tuple[int, int] | None:
    """Return the most that any model of a provider needs, as (fewest, most): for names that hide the model."""
    known = [end for _, band in system.min_tokens_by_model for end in band.ends]
    return (max(known), max(known)) if known else None


def _may_write(log: Log, row: int) -> bool:
    """Say whether any of a row's markers stands on something that can carry one."""
    return any(place.on not in UNMARKABLE for place in log.of(row).markers)


RULES.add(BreakpointLostByGateway.name, BreakpointLostByGateway())
