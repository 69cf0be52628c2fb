"""`server-side`."""

from __future__ import annotations

from collections.abc import Iterator

from prefixwise.analyzers.lint.breakpoints import missed
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.compared import Compared, Served, compare
from prefixwise.analyzers.lint.lifetimes import idle_seconds, lifetime
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.rule import RULES, LogRule
from prefixwise.caches.facts import Family, System
from prefixwise.core.finding import Confidence, Severity, Verdict, Where

_MOST = 0.75
"""Share of a prompt from which a read is no miss."""


class ServerSide(LogRule):
    """# Not your text: the cache missed for a reason that the log does not show

    The request repeats the earlier one to the byte, model and parameters are the same, the pause was short, and yet the
    usage says that nothing, or little, came from the cache. Then no text is to blame, and changing the prompt would not
    help. What is left: the call met another machine, the entry had to make room for others, the provider switched
    something, or its cache makes no promise to begin with (Gemini's implicit one does not).

    Reported as worth knowing only, and only where no other rule explains the miss.

    Not reported: misses of which the text, a parameter, the route, a marker or a pause is the cause, calls of which the
    vendor itself says what changed, and prefixes below the provider's minimum.

    **What helps.** Look at how often it happens. A few misses in a hundred are usual. If most calls miss, send the calls
    of a conversation to one place (a cache key, a session id, sticky routing), and on engines look at the room for the
    cache and whether it is switched on.

    ```jsonl bad
    {"ts": "2026-10-06T09:00:00Z", "request": {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferries."}, {"role": "user", "content": "Is quay 2 open?"}]}, "response": {"usage": {"prompt_tokens": 2600, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 0}}}}
    {"ts": "2026-10-06T09:00:20Z", "request": {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferries."}, {"role": "user", "content": "Is quay 2 open?"}, {"role": "assistant", "content": "Yes."}, {"role": "user", "content": "And quay 3?"}]}, "response": {"usage": {"prompt_tokens": 2620, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 0}}}}
    ```

    ```jsonl good
    {"ts": "2026-10-06T09:00:00Z", "request": {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferries."}, {"role": "user", "content": "Is quay 2 open?"}]}, "response": {"usage": {"prompt_tokens": 2600, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 0}}}}
    {"ts": "2026-10-06T09:00:20Z", "request": {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferries."}, {"role": "user", "content": "Is quay 2 open?"}, {"role": "assistant", "content": "Yes."}, {"role": "user", "content": "And quay 3?"}]}, "response": {"usage": {"prompt_tokens": 2620, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 2560}}}}
    ```
    """  # noqa: E501

    name = "server-side"
    code = "PW604"
    summary = "The texts agree and the cache missed all the same: not the text's fault"
    severity = Severity.INFO
    fix = (
        "Nothing in the prompt. If it is frequent, keep the calls of a conversation together (cache key, session id, "
        "sticky routing), and on engines look at the room for the cache."
    )
    where = (Where.TRANSPORT,)
    rank = 99

    def detect(self, log: Log) -> Iterator[Claim]:
        links = log.conversations.links
        for row in log.conversations.order:
            link = links[row]
            cached = log.cached(row)
            if link is None or cached is None or cached >= _MOST * log.prompt(row) or row in log.explained:
                continue
            if log.vendor_names_change(row):
                continue
            pair = compare(log, link.before, row, turn=link.turn)
            if pair.served is Served.MISS and pair.verdict is not Verdict.BREAKS and pair.same_model:
                yield self._claim(log, pair)

    def _claim(self, log: Log, pair: Compared) -> Claim:
        system = log.system(pair.after)
        whole = log.prompt(pair.before) if pair.turn else log.scaled(pair.after, pair.at_stake)
        cached = log.cached(pair.after) or 0
        return Claim(
            rule=self.name,
            where=Where.TRANSPORT,
            after=pair.after,
            before=pair.before,
            lost=missed(log, pair.after, min(whole, log.prompt(pair.after))),
            confidence=Confidence.POSSIBLE,
            severity=Severity.INFO,
            cause="miss",
            evidence=(f"{cached:,} of {whole:,} tokens that had been sent before were read", *_pause(log, pair)),
            message=f"Not your text: the prompt repeats what was sent before and was computed again. {_why(system)}",
        )


def _pause(log: Log, pair: Compared) -> tuple[str, ...]:
    idle = idle_seconds(log, pair.before, pair.after)
    if idle is None:
        return ("the log has no times, so a pause may be the cause",)
    is_late = idle > lifetime(log, pair.before).low
    return (f"{idle:,.0f} s after the last use" + (", which may have been too long" if is_late else ""),)


def _why(system: System | None) -> str:
    if system is None:
        return "It may have met another machine, or caching is off or not reported."
    if system.family is Family.RADIX_TREE and system.ttl_s is None and not system.opt_in and system.provider:
        return "This provider's automatic cache promises no hits; another machine or a full cache are likely."
    return "It met another machine, or the entry had to make room, or the provider did something."


RULES.add(ServerSide.name, ServerSide())
