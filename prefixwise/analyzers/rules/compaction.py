"""`compaction`."""

from __future__ import annotations

from collections.abc import Sequence

from prefixwise.analyzers.lint.alignment import Alignment
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.compared import Compared
from prefixwise.analyzers.lint.history import HistoryRule, messages
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.rule import RULES
from prefixwise.core.finding import Severity, Verdict

_MANY = 3
"""Messages from which what one message replaces is a stretch of history."""
_LONG_HISTORY = 6
_LONG_SUMMARY = 400
_MOST_NEW = 3
_OFTEN = 10
"""Turns from compaction to compaction below which it is too frequent."""


class Compaction(HistoryRule):
    """# The history is replaced by a summary

    When a conversation gets too long, one message that sums it up takes the place of many. Everything behind the
    system prompt is new to the cache then, once. That is the price of a shorter history and usually worth it; it is
    reported for information, so that the miss has a name.

    It costs when it happens every few turns: each summary is computed anew, is followed by a short history that is
    hardly ever read from the cache, and is replaced again. More often than once in ten turns is a warning.

    Let the history grow further before it is summed up, cut it to well below the mark, and keep the summary as it is
    until the next time. Do other cleaning of the history (old tool results, images) in the same moment.

    ```jsonl bad
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the ferry timetable."}, {"role": "user", "content": "When does the first ferry leave?"}, {"role": "assistant", "content": "At 05:40."}, {"role": "user", "content": "And on Sundays?"}, {"role": "assistant", "content": "At 07:10."}, {"role": "user", "content": "Does it take bicycles?"}, {"role": "assistant", "content": "Yes, twelve of them."}, {"role": "user", "content": "And dogs?"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the ferry timetable."}, {"role": "user", "content": "Summary of the conversation so far: the traveller asked for the first ferry (05:40, on Sundays 07:10) and for bicycles (twelve)."}, {"role": "user", "content": "And dogs?"}]}
    ```

    ```jsonl good
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the ferry timetable."}, {"role": "user", "content": "When does the first ferry leave?"}, {"role": "assistant", "content": "At 05:40."}, {"role": "user", "content": "And on Sundays?"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the ferry timetable."}, {"role": "user", "content": "When does the first ferry leave?"}, {"role": "assistant", "content": "At 05:40."}, {"role": "user", "content": "And on Sundays?"}, {"role": "assistant", "content": "At 07:10."}, {"role": "user", "content": "Does it take bicycles?"}]}
    ```
    """  # noqa: E501

    name = "compaction"
    code = "PW305"
    summary = "Many messages are replaced by one that sums them up"
    severity = Severity.INFO
    fix = "Let the history grow further before it is summed up, and cut it to well below the mark."
    rank = 10

    def look(self, pair: Compared, alignment: Alignment) -> Claim | None:
        gone = _summed_up(pair, alignment)
        if not gone:
            return None
        summary = alignment.after(alignment.start)
        claim = self.claim(
            pair,
            summary.field,
            f"A summary takes the place of {messages(gone)}; the history behind the system prompt is computed anew.",
            alignment.before(alignment.start).entry.text,
            summary.entry.text,
        )
        claim.cause = "compaction"
        return claim

    def weigh(self, log: Log, claims: Sequence[Claim]) -> Severity | None:
        conversations = {log.conversations.conversation[claim.after] for claim in claims}
        turns = sum(len(log.threads[number]) - 1 for number in conversations)
        if len(claims) > len(conversations) and turns < _OFTEN * len(claims):
            return Severity.MEDIUM
        return Severity.INFO


def _summed_up(pair: Compared, alignment: Alignment) -> int:
    """Return how many messages one or two others stand for, 0 where this is no compaction."""
    first, second, start = alignment.contents_a, alignment.contents_b, alignment.start
    summaries = pair.log.outlines.summaries
    told = not summaries.isdisjoint(second[start : start + 2])
    if alignment.tail is not None:
        gone, new = alignment.tail[0] - start, alignment.tail[1] - start
        if not 1 <= new < _MOST_NEW or not set(first).isdisjoint(second[start : start + new]):
            return 0
        again = told and not summaries.isdisjoint(first[start : start + gone])  # a summary that is rolled on
        enough = gone >= (_MANY - 1 if told else _MANY) + new - 1 and not _is_alike(alignment)
        return gone if again or enough else 0
    gone, new = len(first) - start, len(second) - start
    kept = len(alignment.kept) - told  # a word of thanks for a summary is the same each time
    if kept > 0 or new > _MOST_NEW or gone < max(_MANY, 2 * new) or pair.verdict is Verdict.PREFIX:
        return 0
    if told:
        return gone
    long = gone >= _LONG_HISTORY and len(alignment.after(start).entry.text) >= _LONG_SUMMARY
    return gone if long and not _is_alike(alignment) and new < _MOST_NEW else 0


def _is_alike(alignment: Alignment) -> bool:
    """Say whether the message at the change is the earlier one in other words, and no summary."""
    return alignment.partner.get(alignment.start) == alignment.start


RULES.add(Compaction.name, Compaction())
