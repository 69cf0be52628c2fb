"""`ttl-unearned`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import msgspec

from prefixwise.analyzers.lint.breakpoints import Group, groups, where_of
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.lint.marker_places import MarkerPlace
from prefixwise.analyzers.rule import RULES, LogRule
from prefixwise.caches.facts import Lifetime
from prefixwise.core.finding import Severity, Where
from prefixwise.corpus.rows import NONE

_FEWEST_USES = 5
_MANY_USES = 20
"""Uses from which it is more than chance that nobody paused."""
_SHORT_OF = 0.8
"""Share of the usual lifetime from which a pause may have outlived it."""
_LEAST_SHARE = 0.02
"""Share of all tokens that the higher price must amount to."""


class TtlUnearned(LogRule):
    """# A longer lifetime is paid for and never needed

    An entry that lives an hour costs more to write than one that lives five minutes: on Anthropic twice the price of
    input instead of one and a quarter. That pays as soon as one pause between two calls is longer than the short
    lifetime and shorter than the long one, since such a pause would cost a whole write. Where calls follow each other
    more quickly than that, each use renews a short entry just as well, and the higher price buys nothing.

    Reported where markers ask for more than the usual lifetime, usage shows that entries were written for it, and in all
    the conversations that have surely ended (the log goes on for longer than the long lifetime) no pause was long enough
    to need it. Few uses are information: somebody may have paused the day after.

    The reverse, pauses that a longer lifetime on offer would have lasted over, is said with `ttl-expired`.

    Not reported: logs without times or usage, and whatever one pause between the two lifetimes has paid for.

    **Fix.** Ask for the usual lifetime where calls follow each other quickly, and keep the longer one for what waits:
    people who read, slow tools, jobs that run every ten minutes.

    ```jsonl bad
    {"ts": "2026-10-06T09:00:00Z", "request": {"model": "claude-sonnet-4-5", "max_tokens": 50, "system": [{"type": "text", "text": "You answer questions on ferries.", "cache_control": {"type": "ephemeral", "ttl": "1h"}}], "messages": [{"role": "user", "content": "Is quay 2 open?"}]}, "response": {"usage": {"input_tokens": 11, "cache_creation_input_tokens": 2292, "cache_read_input_tokens": 0, "output_tokens": 20}}}
    {"ts": "2026-10-06T09:01:00Z", "request": {"model": "claude-sonnet-4-5", "max_tokens": 50, "system": [{"type": "text", "text": "You answer questions on ferries.", "cache_control": {"type": "ephemeral", "ttl": "1h"}}], "messages": [{"role": "user", "content": "May I take a bicycle?"}]}, "response": {"usage": {"input_tokens": 12, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 2292, "output_tokens": 20}}}
    {"ts": "2026-10-06T09:02:00Z", "request": {"model": "claude-sonnet-4-5", "max_tokens": 50, "system": [{"type": "text", "text": "You answer questions on ferries.", "cache_control": {"type": "ephemeral", "ttl": "1h"}}], "messages": [{"role": "user", "content": "Who sells tickets?"}]}, "response": {"usage": {"input_tokens": 11, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 2292, "output_tokens": 20}}}
    {"ts": "2026-10-06T09:03:00Z", "request": {"model": "claude-sonnet-4-5", "max_tokens": 50, "system": [{"type": "text", "text": "You answer questions on ferries.", "cache_control": {"type": "ephemeral", "ttl": "1h"}}], "messages": [{"role": "user", "content": "Do dogs pay?"}]}, "response": {"usage": {"input_tokens": 11, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 2292, "output_tokens": 20}}}
    {"ts": "2026-10-06T09:04:00Z", "request": {"model": "claude-sonnet-4-5", "max_tokens": 50, "system": [{"type": "text", "text": "You answer questions on ferries.", "cache_control": {"type": "ephemeral", "ttl": "1h"}}], "messages": [{"role": "user", "content": "Is there a cafe?"}]}, "response": {"usage": {"input_tokens": 11, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 2292, "output_tokens": 20}}}
    {"ts": "2026-10-06T09:05:00Z", "request": {"model": "claude-sonnet-4-5", "max_tokens": 50, "system": [{"type": "text", "text": "You answer questions on ferries.", "cache_control": {"type": "ephemeral", "ttl": "1h"}}], "messages": [{"role": "user", "content": "Where do I park?"}]}, "response": {"usage": {"input_tokens": 11, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 2292, "output_tokens": 20}}}
    {"ts": "2026-10-06T11:00:00Z", "request": {"model": "claude-sonnet-4-5", "max_tokens": 50, "system": [{"type": "text", "text": "You answer questions on ferries.", "cache_control": {"type": "ephemeral", "ttl": "1h"}}], "messages": [{"role": "user", "content": "Is the north line late?"}]}, "response": {"usage": {"input_tokens": 12, "cache_creation_input_tokens": 2292, "cache_read_input_tokens": 0, "output_tokens": 20}}}
    ```

    ```jsonl good
    {"ts": "2026-10-06T09:00:00Z", "request": {"model": "claude-sonnet-4-5", "max_tokens": 50, "system": [{"type": "text", "text": "You answer questions on ferries.", "cache_control": {"type": "ephemeral"}}], "messages": [{"role": "user", "content": "Is quay 2 open?"}]}, "response": {"usage": {"input_tokens": 11, "cache_creation_input_tokens": 2292, "cache_read_input_tokens": 0, "output_tokens": 20}}}
    {"ts": "2026-10-06T09:01:00Z", "request": {"model": "claude-sonnet-4-5", "max_tokens": 50, "system": [{"type": "text", "text": "You answer questions on ferries.", "cache_control": {"type": "ephemeral"}}], "messages": [{"role": "user", "content": "May I take a bicycle?"}]}, "response": {"usage": {"input_tokens": 12, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 2292, "output_tokens": 20}}}
    ```
    """  # noqa: E501

    name = "ttl-unearned"
    code = "PW510"
    summary = "A longer lifetime is paid for where no pause needs it"
    severity = Severity.LOW
    fix = "Ask for the usual lifetime where calls follow each other quickly."
    where = (Where.SYSTEM, Where.TOOLS, Where.MESSAGES)
    rank = 80

    def detect(self, log: Log) -> Iterator[Claim]:
        for group in groups(log):
            offer = _offer(group)
            if offer is not None:
                yield from self._of_group(log, group, offer)

    def _of_group(self, log: Log, group: Group, offer: _Offer) -> Iterator[Claim]:
        uses = _Uses(log, group, offer)
        written = {row: tokens for row in uses.rows if (tokens := _written_long(log, row, offer))}
        extra = sum(written.values()) * offer.dearer
        if len(uses.pauses) < _FEWEST_USES or not written or extra < _LEAST_SHARE * sum(map(log.prompt, uses.rows)):
            return
        if any(_SHORT_OF * offer.usual_s < pause <= offer.long_s for pause in uses.pauses):
            return
        for row in written:
            place = _long_place(log, row, offer)
            yield Claim(
                rule=self.name,
                where=where_of(place),
                after=row,
                field=place.pointer,
                severity=Severity.LOW if len(uses.pauses) >= _MANY_USES else Severity.INFO,
                cause=where_of(place),
                evidence=(f"the longest of {len(uses.pauses):,} pauses between uses is {max(uses.pauses):,.0f} s",),
                message=f"Entries are written for {place.asked}, at the price of {offer.dearer:g} more of each token, "
                f"and no pause was longer than {offer.usual}: about {extra:,.0f} tokens' worth of input in all.",
            )


class _Offer(msgspec.Struct, frozen=True):
    """What a provider offers: the usual lifetime, and the longest one for markers.

    Attributes:
        dearer: By how much of the price of input writing is dearer for the longer one.
    """

    usual: str
    usual_s: float
    long_s: float
    dearer: float


def _offer(group: Group) -> _Offer | None:
    """Return what can be chosen where it has a price each; None where nothing is known of one."""
    system, prices = group.system, dict(group.system.multipliers_of(group.model).writes)
    options: list[tuple[float, Lifetime]] = [
        (option.idle_s.low, option) for option in system.ttl_options if option.idle_s.low is not None
    ]
    options = sorted((pair for pair in options if pair[1].name in prices), key=lambda pair: pair[0])
    if len(options) < 2:
        return None
    (usual_s, usual), (long_s, long) = options[0], options[-1]
    dearer = prices[long.name] - prices[usual.name]
    return _Offer(usual.name, usual_s, long_s, dearer) if dearer > 0 else None


class _Uses:
    """When what the long markers of a group wrote was used.

    Attributes:
        rows: Calls with a marker for the longer time, of entries whose end the log shows.
        pauses: Seconds between two uses, from start to start.
    """

    def __init__(self, log: Log, group: Group, offer: _Offer) -> None:
        self.rows: list[int] = []
        self.pauses: list[float] = []
        end = max((log.times[row] for row in log.conversations.order), default=0.0)
        chains: dict[tuple[str, object], list[int]] = {}
        for row in group.rows:
            place = next((one for one in log.of(row).markers if _is_long(one, offer)), None)
            if place is None or not log.times[row] > 0:
                continue
            in_head = place.kind != "messages"
            key = log.outlines.head[row] if in_head else log.conversations.conversation[row]
            chains.setdefault(("head" if in_head else "conversation", key), []).append(row)
        for chain in chains.values():
            for life in _lives(chain, log, offer):
                if log.times[life[-1]] + offer.long_s <= end:
                    self.rows += life
                    self.pauses += [log.times[after] - log.times[before] for before, after in pairwise(life)]


def _lives(chain: list[int], log: Log, offer: _Offer) -> Iterator[list[int]]:
    """Yield the calls between which an entry lived, cut where not even the longer lifetime lasted."""
    life = chain[:1]
    for before, row in pairwise(chain):
        if log.times[row] - log.times[before] > offer.long_s:
            yield life
            life = []
        life.append(row)
    yield life


def _is_long(place: MarkerPlace, offer: _Offer) -> bool:
    return place.ttl is not None and place.ttl > offer.usual_s


def _long_place(log: Log, row: int, offer: _Offer) -> MarkerPlace:
    return next(place for place in log.of(row).markers if _is_long(place, offer))


def _written_long(log: Log, row: int, offer: _Offer) -> int:
    """Return how many tokens a call wrote for the longer time; where usage does not part the two, all or none."""
    told = log.rows.reported_written_long[row]
    if told != NONE:
        return told
    return (log.written(row) or 0) if all(_is_long(place, offer) for place in log.of(row).markers) else 0


RULES.add(TtlUnearned.name, TtlUnearned())
