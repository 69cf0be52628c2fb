"""`ttl-expired`."""

from __future__ import annotations

from collections.abc import Iterator

from prefixwise.analyzers.lint.breakpoints import missed
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.compared import Compared, Served
from prefixwise.analyzers.lint.lifetimes import Lifetime, idle_seconds, lifetime
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.rule import RULES, PairRule, Stage
from prefixwise.core.finding import Confidence, Severity, Where

_LARGE = 40_000
"""Tokens from which one pause is expensive by itself."""
_SLACK = 1.3


class TtlExpired(PairRule):
    """# The pause was longer than the cache lives

    An entry that nobody uses goes after its lifetime: five minutes or an hour on Anthropic, half an hour on OpenAI's
    newer models. A person who reads, a slow build, or a job that runs every ten minutes is enough, and the whole context is
    computed and written again. The lifetime counts from the start of the last call that used the entry, and each use
    renews it.

    Reported where a request continues an earlier one, or repeats its head, to the byte; more time passed from start to
    start than the entry was asked to live; and usage says that nothing came from the cache, or no more than the head
    that other conversations keep alive. Without usage it is only `possible`, and said only where the lifetime is
    documented and one.

    Not reported: a pause after which the cache was hit all the same; calls that were given up, which do not count as
    uses; engines, whose entries go when room is needed and not after a time.

    **Fix.** Ask for the longer lifetime where people pause: it pays when an entry is used again about twice. Or send a
    small request before the entry goes (one that comes later only costs), or sum up long contexts before a break.

    ```jsonl bad
    {"ts": "2026-10-06T09:00:00Z", "request": {"model": "claude-sonnet-4-5", "max_tokens": 50, "system": [{"type": "text", "text": "You answer questions on ferries.", "cache_control": {"type": "ephemeral"}}], "messages": [{"role": "user", "content": "Is quay 2 open?"}]}, "response": {"usage": {"input_tokens": 11, "cache_creation_input_tokens": 2292, "cache_read_input_tokens": 0, "output_tokens": 20}}}
    {"ts": "2026-10-06T09:11:00Z", "request": {"model": "claude-sonnet-4-5", "max_tokens": 50, "system": [{"type": "text", "text": "You answer questions on ferries.", "cache_control": {"type": "ephemeral"}}], "messages": [{"role": "user", "content": "Is quay 2 open?"}, {"role": "assistant", "content": "Yes."}, {"role": "user", "content": "And quay 3?"}]}, "response": {"usage": {"input_tokens": 25, "cache_creation_input_tokens": 2292, "cache_read_input_tokens": 0, "output_tokens": 20}}}
    ```

    ```jsonl good
    {"ts": "2026-10-06T09:00:00Z", "request": {"model": "claude-sonnet-4-5", "max_tokens": 50, "system": [{"type": "text", "text": "You answer questions on ferries.", "cache_control": {"type": "ephemeral", "ttl": "1h"}}], "messages": [{"role": "user", "content": "Is quay 2 open?"}]}, "response": {"usage": {"input_tokens": 11, "cache_creation_input_tokens": 2292, "cache_read_input_tokens": 0, "output_tokens": 20}}}
    {"ts": "2026-10-06T09:11:00Z", "request": {"model": "claude-sonnet-4-5", "max_tokens": 50, "system": [{"type": "text", "text": "You answer questions on ferries.", "cache_control": {"type": "ephemeral", "ttl": "1h"}}], "messages": [{"role": "user", "content": "Is quay 2 open?"}, {"role": "assistant", "content": "Yes."}, {"role": "user", "content": "And quay 3?"}]}, "response": {"usage": {"input_tokens": 25, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 2292, "output_tokens": 20}}}
    ```
    """  # noqa: E501

    name = "ttl-expired"
    code = "PW602"
    summary = "More time passed than the cache lives, and everything was computed again"
    severity = Severity.MEDIUM
    fix = (
        "Ask for the longer lifetime where people pause, send a small request before the entry goes, or sum up long "
        "contexts before a break."
    )
    where = (Where.TRANSPORT,)
    stage = Stage.BEHIND
    rank = 60

    def detect(self, pair: Compared) -> Claim | None:
        log = pair.log
        if not pair.same_model or log.is_engine(pair.after) or log.vendor_names_change(pair.after):
            return None
        idle, life = idle_seconds(log, pair.before, pair.after), lifetime(log, pair.before)
        if idle is None or idle <= life.low:
            return None
        confidence = _how_sure(pair, idle, life)
        if confidence is None or not _only_head_is_left(pair):
            return None
        lost = missed(log, pair.after, _whole(pair))
        rewritten = log.written(pair.after) or lost
        return Claim(
            rule=self.name,
            where=Where.TRANSPORT,
            after=pair.after,
            before=pair.before,
            lost=lost,
            confidence=confidence,
            severity=Severity.HIGH if lost >= _LARGE else Severity.MEDIUM,
            cause="pause",
            evidence=(*_evidence(pair), *_longer(log, pair.before, idle, life)),
            message=f"{_span(idle)} passed since the cache was last used, and it lives {_lives(life)}: about "
            f"{rewritten:,} tokens were computed again.",
        )


def _how_sure(pair: Compared, idle: float, life: Lifetime) -> Confidence | None:
    if pair.served is Served.UNKNOWN:
        unreported = pair.log.cached(pair.after) is None
        return Confidence.POSSIBLE if pair.turn and unreported and life.is_fixed else None
    if idle <= life.high:
        return Confidence.POSSIBLE
    return Confidence.CERTAIN if life.is_fixed and pair.log.cached(pair.after) == 0 else Confidence.LIKELY


def _only_head_is_left(pair: Compared) -> bool:
    """Say whether no more was served than what other conversations keep alive."""
    log, cached = pair.log, pair.log.cached(pair.after)
    if not cached:
        return True
    head = log.scaled(pair.after, log.rows.system_end[pair.after])
    return log.incomplete(pair.after) or (pair.turn and cached <= _SLACK * head)


def _whole(pair: Compared) -> int:
    """Return the tokens that should have been served, in the provider's own."""
    log = pair.log
    reported = log.reported_in_common(pair.before, pair.after) if pair.turn else None
    return reported if reported is not None else log.scaled(pair.after, pair.at_stake)


def _evidence(pair: Compared) -> list[str]:
    cached, written = pair.log.cached(pair.after), pair.log.written(pair.after)
    if cached is None:
        return ["the log reports no usage"]
    said = f"{cached:,} tokens read" if cached else "nothing read"
    return [said if written is None else f"{said}, {written:,} written"]


def _longer(log: Log, row: int, idle: float, life: Lifetime) -> Iterator[str]:
    """Say whether a lifetime on offer would have lasted over the pause, and what it costs."""
    system = log.marker_system(row) if log.of(row).markers else None
    if system is None:
        return
    prices = dict(system.multipliers_of(log.model(row)).writes)
    for option in sorted(system.ttl_options, key=lambda option: option.idle_s.low or 0):
        lives = option.idle_s.low
        if lives is not None and lives > life.high and idle <= lives:
            cost = f", written at {prices[option.name]:g} times the price of input" if option.name in prices else ""
            yield f"a lifetime of {option.name} would have lasted{cost}"
            return
    if system.ttl_options:
        yield "no lifetime on offer would have lasted"


def _span(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _lives(life: Lifetime) -> str:
    if life.low == life.high:
        return _span(life.low)
    return f"{_span(life.low)} or more" if life.high == float("inf") else f"{_span(life.low)} to {_span(life.high)}"


RULES.add(TtlExpired.name, TtlExpired())
