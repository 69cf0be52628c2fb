"""`breakpoint-missing`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prefixwise.analyzers.lint.breakpoints import (
    FEWEST,
    SLACK,
    Group,
    groups,
    head_of,
    is_silent,
    is_used,
    missed,
    planned,
    stable_tokens,
)
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.lint.mended_markers import with_markers
from prefixwise.analyzers.rule import RULES, LogRule
from prefixwise.caches.facts import Family
from prefixwise.core.finding import Confidence, Safety, Severity, Where
from prefixwise.core.request import Request


class BreakpointMissing(LogRule):
    """# Nothing is cached, because no request asks for it

    Some providers (Anthropic, Claude on Bedrock and Vertex, a few others) cache only what a request marks. Without a
    marker each call pays for its whole prompt, however stable it is, and both cache counters stay at zero. The classic
    case is a system prompt that is sent as a plain string: a marker needs a block to stand on.

    Reported where an application made at least three calls, none of which carries a marker, usage says that nothing
    was read or written, and the part that stays the same is long enough for the model. OpenAI's explicit mode without
    a breakpoint is the same mistake: it switches caching off for the request.

    Not reported: providers that cache by themselves, prompts below the model's minimum, requests that ask for
    automatic markers at their top level, texts that change at the front (that would be the first thing to mend), and
    logs that report no usage.

    **Fix.** Send `system` as a list of blocks with a marker on the last one, and put a second marker on the last block
    of the newest message, so that the history is cached too.

    ```jsonl bad
    {"request": {"model": "claude-sonnet-4-5", "max_tokens": 50, "system": "Answer from the ferry timetable; say which quay.", "messages": [{"role": "user", "content": "When does the ferry leave?"}]}, "response": {"usage": {"input_tokens": 2310, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 20}}}
    {"request": {"model": "claude-sonnet-4-5", "max_tokens": 50, "system": "Answer from the ferry timetable; say which quay.", "messages": [{"role": "user", "content": "Is there a later one?"}]}, "response": {"usage": {"input_tokens": 2309, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 20}}}
    {"request": {"model": "claude-sonnet-4-5", "max_tokens": 50, "system": "Answer from the ferry timetable; say which quay.", "messages": [{"role": "user", "content": "May I take a bicycle?"}]}, "response": {"usage": {"input_tokens": 2311, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 20}}}
    ```

    ```jsonl good
    {"request": {"model": "claude-sonnet-4-5", "max_tokens": 50, "system": [{"type": "text", "text": "Answer from the ferry timetable; say which quay.", "cache_control": {"type": "ephemeral"}}], "messages": [{"role": "user", "content": "When does the ferry leave?"}]}, "response": {"usage": {"input_tokens": 12, "cache_creation_input_tokens": 2298, "cache_read_input_tokens": 0, "output_tokens": 20}}}
    {"request": {"model": "claude-sonnet-4-5", "max_tokens": 50, "system": [{"type": "text", "text": "Answer from the ferry timetable; say which quay.", "cache_control": {"type": "ephemeral"}}], "messages": [{"role": "user", "content": "Is there a later one?"}]}, "response": {"usage": {"input_tokens": 11, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 2298, "output_tokens": 20}}}
    ```
    """  # noqa: E501

    name = "breakpoint-missing"
    code = "PW501"
    summary = "A cache that must be asked for is never asked: no request carries a marker"
    severity = Severity.HIGH
    fix = (
        "Send the system text as a list of blocks with a marker on the last one, and put a second marker on the last "
        "block of the newest message."
    )
    safety = Safety.SAFE
    where = (Where.SYSTEM, Where.TOOLS, Where.MESSAGES)
    rank = 10

    def detect(self, log: Log) -> Iterator[Claim]:
        for group in groups(log):
            if group.is_default and group.system.opt_in:
                yield from self._unmarked(log, group)
        for group in groups(log, Family.BREAKPOINT_BOUNDARY):
            yield from self._switched_off(log, group)

    def _unmarked(self, log: Log, group: Group) -> Iterator[Claim]:
        least = planned(group.system, group.model)
        seen = [log.of(row) for row in group.rows]
        if least is None or any(one.markers or one.lost_markers for one in seen):
            return
        if any(is_used(log, row) for row in group.rows):
            return
        silent = [row for row in group.rows if is_silent(log, row)]
        if len(silent) >= FEWEST:
            evidence = f"both cache counters are 0 in {len(silent):,} calls, and no marker stands anywhere"
            yield from self._claims(log, silent, least, evidence, Confidence.LIKELY)
        elif not silent and len(group.rows) >= FEWEST and log.holds_bodies(group.rows[0]):
            evidence = "no marker stands anywhere; the log reports no usage"
            least = round(least * (1 + SLACK))
            yield from self._claims(log, list(group.rows), least, evidence, Confidence.POSSIBLE)

    def _switched_off(self, log: Log, group: Group) -> Iterator[Claim]:
        """Claim calls that switch the implicit breakpoint off and set none of their own."""
        rows = [row for row in group.rows if log.of(row).mode == "explicit" and not log.of(row).markers]
        least = planned(group.system, group.model)
        if least is None or any(is_used(log, row) for row in rows):
            return
        for row in rows:
            tokens = stable_tokens(log, row)
            if tokens >= least and row not in log.explained:
                yield Claim(
                    rule=self.name,
                    where=Where.PARAMS,
                    after=row,
                    field="/prompt_cache_options/mode",
                    to_text="explicit",
                    lost=missed(log, row, tokens),
                    message="The request asks for explicit breakpoints and sets none, which switches its cache off.",
                    fix="Leave the mode at implicit, or set a breakpoint where the constant text ends.",
                )

    def _claims(self, log: Log, rows: list[int], least: int, evidence: str, confidence: Confidence) -> Iterator[Claim]:
        for row in rows:
            tokens = stable_tokens(log, row)
            if tokens < least or row in log.explained:
                continue
            where, field = head_of(log, row)
            yield Claim(
                rule=self.name,
                where=where,
                after=row,
                field=field,
                lost=missed(log, row, tokens),
                confidence=confidence,
                severity=Severity.MEDIUM if confidence is Confidence.POSSIBLE else None,
                cause="unmarked",
                evidence=(evidence,),
                message="No request marks where its cache may end, so nothing is cached: "
                f"about {tokens:,} tokens that stay the same are paid for in full on each call.",
            )

    def repair(self, request: Request, claims: Sequence[Claim]) -> Request | None:  # noqa: ARG002 - all alike
        return with_markers(request)


RULES.add(BreakpointMissing.name, BreakpointMissing())
