"""`implicit-breakpoint-only`."""

from __future__ import annotations

from collections.abc import Iterator

from prefixwise.analyzers.lint.breakpoints import FEWEST, Group, groups, head_of, missed, planned, stable_tokens
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.lifetimes import idle_seconds, lifetime
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.rule import RULES, LogRule
from prefixwise.caches.facts import Family
from prefixwise.core.finding import Confidence, Severity, Where

_ALL = 0.7


class ImplicitBreakpointOnly(LogRule):
    """# The constant text ends at no breakpoint

    From GPT-5.6 on, OpenAI's cache is written only where a breakpoint stands, and by itself it places one: at the end of
    the newest message. A conversation that grows is served by that. Single questions behind one constant text are not:
    each call writes an entry that ends behind its own question, where no other call will look, so nothing is ever read
    though the first thousands of tokens are the same, and each write costs a quarter more than no cache at all.

    Reported where at least three calls of an application begin with the same text, long enough to be cached, carry no
    breakpoint of their own, are not continued, and read nothing.

    Not reported: conversations that only grow, earlier models (they cache in fixed steps), calls that are cached all
    the same, and the first call.

    **Fix.** Put a `prompt_cache_breakpoint` on the last part of the constant text. It has to be content of a message:
    `instructions` cannot carry one, so move the text into a developer message. Or send one prewarming request that ends
    there.

    ```jsonl bad
    {"request": {"model": "gpt-5.6", "input": [{"role": "developer", "content": [{"type": "input_text", "text": "You answer questions on ferries."}]}, {"role": "user", "content": "Is quay 2 open?"}]}, "response": {"usage": {"input_tokens": 2310, "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 2310}, "output_tokens": 20}}}
    {"request": {"model": "gpt-5.6", "input": [{"role": "developer", "content": [{"type": "input_text", "text": "You answer questions on ferries."}]}, {"role": "user", "content": "May I take a bicycle?"}]}, "response": {"usage": {"input_tokens": 2311, "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 2311}, "output_tokens": 20}}}
    {"request": {"model": "gpt-5.6", "input": [{"role": "developer", "content": [{"type": "input_text", "text": "You answer questions on ferries."}]}, {"role": "user", "content": "Who sells tickets?"}]}, "response": {"usage": {"input_tokens": 2309, "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 2309}, "output_tokens": 20}}}
    ```

    ```jsonl good
    {"request": {"model": "gpt-5.6", "input": [{"role": "developer", "content": [{"type": "input_text", "text": "You answer questions on ferries.", "prompt_cache_breakpoint": {"mode": "explicit"}}]}, {"role": "user", "content": "Is quay 2 open?"}]}, "response": {"usage": {"input_tokens": 2310, "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 2310}, "output_tokens": 20}}}
    {"request": {"model": "gpt-5.6", "input": [{"role": "developer", "content": [{"type": "input_text", "text": "You answer questions on ferries.", "prompt_cache_breakpoint": {"mode": "explicit"}}]}, {"role": "user", "content": "May I take a bicycle?"}]}, "response": {"usage": {"input_tokens": 2311, "input_tokens_details": {"cached_tokens": 2298, "cache_write_tokens": 13}, "output_tokens": 20}}}
    ```
    """  # noqa: E501

    name = "implicit-breakpoint-only"
    code = "PW508"
    summary = "Single questions share a constant text that ends at no breakpoint, so each call writes and none reads"
    severity = Severity.HIGH
    fix = (
        "Put a prompt_cache_breakpoint on the last part of the constant text, in a developer message, or prewarm the "
        "cache with a request that ends there."
    )
    where = (Where.SYSTEM, Where.TOOLS, Where.MESSAGES)
    rank = 17

    def detect(self, log: Log) -> Iterator[Claim]:
        for group in groups(log, Family.BREAKPOINT_BOUNDARY):
            claims = [claim for row in group.rows if (claim := self._claim(log, group, row)) is not None]
            if len(claims) + 1 >= FEWEST:
                yield from claims

    def _claim(self, log: Log, group: Group, row: int) -> Claim | None:
        link, least = log.conversations.links[row], planned(group.system, group.model)
        alone = len(log.threads[log.conversations.conversation[row]]) == 1
        if least is None or link is None or not alone or row in log.explained:
            return None
        seen, cached = log.of(row), log.cached(row)
        if seen.markers or seen.mode == "explicit" or cached or not _writes(log, row):
            return None
        tokens = stable_tokens(log, row)
        if tokens < least or _is_late(log, link.before, row):
            return None
        where, field = head_of(log, row)
        return Claim(
            rule=self.name,
            where=where,
            after=row,
            before=link.before,
            field=field,
            lost=missed(log, row, tokens),
            confidence=Confidence.POSSIBLE if cached is None else Confidence.LIKELY,
            severity=Severity.MEDIUM if cached is None else None,
            cause="head",
            evidence=() if cached is None else ("nothing is read, and each call writes its whole prompt",),
            message=f"The first {tokens:,} tokens are the same in each call and end at no breakpoint: the only one "
            "stands behind the question, where no other call looks.",
        )


def _writes(log: Log, row: int) -> bool:
    """Say whether usage, as far as it tells, shows that nearly the whole prompt was written."""
    written = log.written(row)
    return written is None or written >= _ALL * log.prompt(row)


def _is_late(log: Log, before: int, row: int) -> bool:
    idle = idle_seconds(log, before, row)
    return idle is not None and idle > lifetime(log, before).low


RULES.add(ImplicitBreakpointOnly.name, ImplicitBreakpointOnly())
