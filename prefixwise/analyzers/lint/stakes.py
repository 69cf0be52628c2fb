"""What a change of the cache key can cost a request, and what the log says that it did cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from prefixwise.analyzers.lint.compared import Compared, Served
from prefixwise.analyzers.lint.log import Log
from prefixwise.corpus.outlines import common_tokens

LEAST_SEEN = 256
"""Tokens below which reported counts cannot tell a hit from a miss."""
_SEEN_SHARE = 0.05
_FARTHEST = 64
"""Requests of a conversation that are looked back upon."""
_NEARLY = 0.9
_MOST = 0.75
_COUNTED_ROUGHLY = 0.8
"""Share of the least cached length from which a prompt may reach it: counts of hosted models are not exact."""


def earlier(log: Log, row: int) -> Iterator[int]:
    """Yield the requests that a row continues, the latest first."""
    for _ in range(_FARTHEST):
        link = log.conversations.links[row]
        if link is None or not link.turn:
            return
        row = link.before
        yield row


def lifetime(log: Log, row: int) -> float | None:
    """Return how long, in seconds, what a row left in the cache lives at most; None where nothing says so."""
    asked = [ttl for _, ttl in log.rows.markers.get(row, ())]
    system = log.system(row)
    band = None if system is None else system.ttl_s
    usual = None if band is None else band.high if band.high is not None else band.stated
    if usual is None:
        return max(asked, default=None)
    return max(*asked, float(usual)) if asked else float(usual)


def warm(log: Log, after: int, same: Callable[[int], bool]) -> int:
    """Return how much of a prompt an earlier request of its conversation left where this one looks for it.

    Args:
        log: All requests.
        after: Row of the request.
        same: Says of an earlier row whether it used the cache that this one uses (model, settings, replica).

    Returns:
        Tokens as counted; 0 where no such request is known, or where its entry must have gone.
    """
    best = 0
    for row in earlier(log, after):
        if not same(row):
            continue
        lives = lifetime(log, row)
        if lives is None or not log.times[after] - log.times[row] > lives:
            best = max(best, common_tokens(log.rows.tree, log.rows.node[row], log.rows.node[after]))
    return best


def too_little(log: Log, row: int, tokens: int) -> bool:
    """Say whether so many counted tokens of a row are lost in the noise of what is reported."""
    return log.scaled(row, tokens) <= max(LEAST_SEEN, _SEEN_SHARE * log.prompt(row))


def only_goes_back(pair: Compared, left: int, lost: int) -> bool:
    """Say whether a conversation only goes back to a cache that has most of it, which costs little.

    Args:
        pair: The two turns.
        left: What the later one finds there, as `warm` says.
        lost: What it does not find.
    """
    if not left or too_little(pair.log, pair.after, lost):
        return bool(left)
    return pair.served is not Served.MISS and 2 * lost < pair.at_stake


def below_minimum(pair: Compared) -> bool:
    """Say whether so little is at stake that the provider would not have cached it."""
    least = pair.log.minimum(pair.after)
    if least is None or least.low is None:
        return False
    return pair.log.scaled(pair.after, pair.at_stake) < _COUNTED_ROUGHLY * least.low


def common_served(pair: Compared) -> Served:
    """Say what usage says of the tokens that both prompts have: of two conversations, no more can be served."""
    log = pair.log
    cached = log.cached(pair.after)
    common = log.scaled(pair.after, pair.kept)
    if cached is None or common < LEAST_SEEN or log.may_be_too_short(pair.after, common, 0):
        return Served.UNKNOWN
    if common - cached <= max(LEAST_SEEN, _SEEN_SHARE * log.prompt(pair.after)):
        return Served.HIT
    return Served.MISS if cached < _MOST * common else Served.UNKNOWN


def messages_at_stake(pair: Compared) -> int:
    """Return the counted tokens of the earlier prompt behind tools and system text."""
    return max(0, pair.at_stake - pair.log.rows.system_end[pair.before])


def messages_served(pair: Compared) -> Served:
    """Say what usage says of the messages that both prompts have, tools and system text left out of account.

    Where the earlier request reports what it read and wrote, that is what the later one could have read.
    """
    log = pair.log
    cached = log.cached(pair.after)
    stake = log.scaled(pair.after, messages_at_stake(pair))
    if cached is None or stake < LEAST_SEEN:
        return Served.UNKNOWN
    head = log.scaled(pair.after, log.rows.system_end[pair.before])
    read, written = log.cached(pair.before), log.written(pair.before)
    if read is not None and written is not None and read + written > 0:
        if read + written < head + stake / 4:
            return Served.HIT  # the messages were not in the cache before: a change costs nothing
        return Served.HIT if cached >= _NEARLY * (read + written) else Served.MISS
    return Served.HIT if cached >= head + stake / 2 else Served.MISS


def usage_says(log: Log, row: int) -> tuple[str, ...]:
    """Return a clause on what the log reports of a row; () where it reports nothing."""
    cached = log.cached(row)
    if cached is None:
        return ()
    return (f"{cached:,} of {log.prompt(row):,} prompt tokens were read from the cache",)


def is_new_start(pair: Compared) -> bool:
    """Say whether hardly anything of a conversation is said again, as after a compaction: then little is lost."""
    before, after = pair.log.outlines.messages[pair.before], pair.log.outlines.messages[pair.after]
    if not pair.turn or len(before) < 4:
        return False
    said = set(after)
    return sum(content in said for content in before) * 4 <= len(before)
