"""`route-changed`."""

from __future__ import annotations

from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.compared import Compared, Served
from prefixwise.analyzers.lint.routes import RouteChange, fell_short, route_change, tally, was_there
from prefixwise.analyzers.lint.settings import bearing
from prefixwise.analyzers.lint.stakes import below_minimum, usage_says
from prefixwise.analyzers.lint.surroundings import last_name
from prefixwise.analyzers.rule import RULES, PairRule, Stage
from prefixwise.analyzers.values.hunks import common_prefix
from prefixwise.core.finding import Confidence, Severity, Where

_NOT_SHOWN = frozenset({"account", "account_id"})


class RouteChanged(PairRule):
    """# The next turn goes somewhere else

    Each replica, deployment, region, account and provider has a cache of its own. Where a balancer, a router or a pool of
    accounts sends the turns of a conversation to one and then to another, the text is the same and nothing of it is
    there: the whole history is computed again at each place that it comes to. Another service tier or speed is another
    pool, too.

    The log must show both: that the route changed and that the turn was not served. A place that has seen the
    conversation lately is no cause, nor is a change that is followed by hits as often as not, nor one where turns that
    stay miss just as often. Without usage, a change of replica of one's own engine is reported as possible.

    Not reported: a gateway's `cache_hit: False`, which speaks of its own store of answers.

    Pin a conversation to one place, for at least as long as the provider's cache lives, or route by prefix: the place
    that has most of the prompt takes the request unless it is overloaded.

    ```jsonl bad
    {"replica": "gpu-0", "request": {"model": "llama-3-8b", "messages": [{"role": "user", "content": "When is the last ferry?"}]}, "response": {"usage": {"prompt_tokens": 5120, "prompt_tokens_details": {"cached_tokens": 0}}}}
    {"replica": "gpu-1", "request": {"model": "llama-3-8b", "messages": [{"role": "user", "content": "When is the last ferry?"}, {"role": "assistant", "content": "At 21:30."}, {"role": "user", "content": "From where?"}]}, "response": {"usage": {"prompt_tokens": 5150, "prompt_tokens_details": {"cached_tokens": 0}}}}
    ```

    ```jsonl good
    {"replica": "gpu-0", "request": {"model": "llama-3-8b", "messages": [{"role": "user", "content": "When is the last ferry?"}]}, "response": {"usage": {"prompt_tokens": 5120, "prompt_tokens_details": {"cached_tokens": 0}}}}
    {"replica": "gpu-1", "request": {"model": "llama-3-8b", "messages": [{"role": "user", "content": "When is the last ferry?"}, {"role": "assistant", "content": "At 21:30."}, {"role": "user", "content": "From where?"}]}, "response": {"usage": {"prompt_tokens": 5150, "prompt_tokens_details": {"cached_tokens": 5104}}}}
    ```
    """  # noqa: E501

    name = "route-changed"
    code = "PW409"
    summary = "A conversation goes on at another replica, deployment, region, account or tier"
    severity = Severity.HIGH
    fix = (
        "Keep a conversation at one place for as long as the cache there lives: affinity by session id, or routing by "
        "prefix."
    )
    where = (Where.TRANSPORT,)
    stage = Stage.BEHIND
    rank = 30
    deployable = False

    def detect(self, pair: Compared) -> Claim | None:
        change = route_change(pair) if pair.turn else None
        if change is None or was_there(pair, change):
            return None
        if pair.served is Served.MISS:
            return None if tally(pair.log).speaks_against else self._claim(pair, change, Confidence.LIKELY, None)
        if fell_short(pair) and tally(pair.log).speaks_for:
            return self._claim(pair, change, Confidence.LIKELY, None)
        if pair.log.cached(pair.after) is None and _may_be_engines(pair, change):
            return self._claim(pair, change, Confidence.POSSIBLE, Severity.MEDIUM)
        if last_name(change.field) == "service_tier" and bearing(pair.log, pair.after, "service_tier").counts:
            return self._claim(pair, change, Confidence.LIKELY, Severity.MEDIUM)
        return None

    def _claim(self, pair: Compared, change: RouteChange, sure: Confidence, severity: Severity | None) -> Claim:
        before, after = change.before, change.after
        name = last_name(change.field)
        values = "" if name in _NOT_SHOWN else f" from `{(before or 'none')[:60]}` to `{(after or 'none')[:60]}`"
        return Claim(
            rule=self.name,
            where=Where.TRANSPORT,
            after=pair.after,
            before=pair.before,
            field=change.field,
            char_offset=None if before is None or after is None else common_prefix(before, after),
            from_text=before,
            to_text=after,
            confidence=sure,
            severity=Severity.INFO if below_minimum(pair) else severity,
            evidence=("the text goes on unchanged", *usage_says(pair.log, pair.after)),
            message=f"The conversation goes on at another place: `{name}` changes{values}, and each has its own cache.",
            cause=change.field,
        )


def _may_be_engines(pair: Compared, change: RouteChange) -> bool:
    """Say whether a change is one of the replicas of an engine that somebody runs."""
    log, rows = pair.log, pair.log.rows
    if rows.replica[pair.before] == rows.replica[pair.after] or change.field == "/model":
        return False
    return log.system(pair.after) is None or log.is_engine(pair.after)


RULES.add(RouteChanged.name, RouteChanged())
