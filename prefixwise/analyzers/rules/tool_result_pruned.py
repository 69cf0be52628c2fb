"""`tool-result-pruned`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from prefixwise.analyzers.lint.alignment import Alignment, Message
from prefixwise.analyzers.lint.blocks import Block, BlockKind
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.compared import Compared
from prefixwise.analyzers.lint.history import HistoryRule, offset_in, replaced
from prefixwise.analyzers.lint.mended_replays import with_first_sent
from prefixwise.analyzers.rule import RULES
from prefixwise.analyzers.values.drift import json_equal
from prefixwise.core.finding import Confidence, Severity
from prefixwise.core.request import Request

_SHARE, _LEAST = 0.8, 40
"""Share of its length that a result must have lost at least, and characters."""
_PLACEHOLDER = re.compile(
    r"(?i)remov|clear|omit|truncat|elid|prun|trimm|compact|hidden|dropped|deleted|no longer|old (?:tool )?result"
    r"|\.\.\.|…"
)
_LONGEST_PLACEHOLDER = 300


class ToolResultPruned(HistoryRule):
    """# Old tool results are cut out of the history

    Long results of tools are replaced by a placeholder (`[old result removed]`), cut short, or dropped together with
    their calls, to save tokens. The save is paid at once: the history behind the first of them is no longer what the
    cache holds, and is computed again at the full price. A request that became smaller can cost several times what the
    larger one before it did.

    Not reported above info: cutting after a pause in which the cache has expired anyway.

    Cut when the prefix is lost in any case (a compaction, an expired cache), many results in one go, and leave the
    placeholders as they are. Or let the tool answer shorter.

    ```jsonl bad
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the ferry timetable."}, {"role": "user", "content": "When does the first ferry leave?"}, {"role": "assistant", "content": null, "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "departures", "arguments": "{}"}}]}, {"role": "tool", "tool_call_id": "call_1", "content": "quay 1: 05:40, 07:10, 08:40, 10:10, 11:40; quay 2: 06:00, 09:00, 12:00, 15:00"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the ferry timetable."}, {"role": "user", "content": "When does the first ferry leave?"}, {"role": "assistant", "content": null, "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "departures", "arguments": "{}"}}]}, {"role": "tool", "tool_call_id": "call_1", "content": "[result removed]"}, {"role": "assistant", "content": "At 05:40."}, {"role": "user", "content": "And the second?"}]}
    ```

    ```jsonl good
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the ferry timetable."}, {"role": "user", "content": "When does the first ferry leave?"}, {"role": "assistant", "content": null, "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "departures", "arguments": "{}"}}]}, {"role": "tool", "tool_call_id": "call_1", "content": "quay 1: 05:40, 07:10, 08:40, 10:10, 11:40; quay 2: 06:00, 09:00, 12:00, 15:00"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the ferry timetable."}, {"role": "user", "content": "When does the first ferry leave?"}, {"role": "assistant", "content": null, "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "departures", "arguments": "{}"}}]}, {"role": "tool", "tool_call_id": "call_1", "content": "quay 1: 05:40, 07:10, 08:40, 10:10, 11:40; quay 2: 06:00, 09:00, 12:00, 15:00"}, {"role": "assistant", "content": "At 05:40."}, {"role": "user", "content": "And the second?"}]}
    ```
    """  # noqa: E501

    name = "tool-result-pruned"
    code = "PW304"
    summary = "Results of earlier tool calls are replaced by something shorter"
    severity = Severity.HIGH
    fix = (
        "Cut old results only when the prefix is lost anyway (compaction, expired cache), many in one go, and leave "
        "the placeholders as they are."
    )
    rank = 36

    def look(self, pair: Compared, alignment: Alignment) -> Claim | None:
        found = _pruned(alignment)
        if found is None:
            return None
        claim = self.claim(pair, found.field, f"{found.words}; the history behind it is computed again.", *found.texts)
        claim.char_offset = offset_in(*found.texts)
        claim.confidence = Confidence.CERTAIN
        count = _count(alignment)
        if count > 1:
            claim.evidence = (f"{count} results were cut in this request",)
        if pair.expired:
            claim.severity = Severity.INFO
            claim.evidence = (*claim.evidence, "the pause before it outlived the cache")
        claim.cause = "pruned"
        return claim

    def repair(self, request: Request, claims: Sequence[Claim]) -> Request | None:
        return with_first_sent(request, claims)


class _Pruned(NamedTuple):
    field: str
    texts: tuple[str, str]
    words: str


def _pruned(alignment: Alignment) -> _Pruned | None:
    start = alignment.start
    if start in alignment.dropped:
        return _dropped(alignment)
    change = replaced(alignment) if alignment.partner.get(start) == start else None
    if change is None or not change.lefts or not _is_result(change.left, change.lefts[0]):
        return None
    left = change.lefts[0]
    if not change.rights:
        words = "The result of an earlier tool call is gone"
        return _Pruned(change.left.entry.pointer + left.place, (left.text, ""), words)
    right = change.rights[0]
    if not is_cut_short(left.text, right.text) or (left.id and left.id.text) != (right.id and right.id.text):
        return None
    lengths = f"{len(left.text):,} characters, is replaced by {len(right.text):,} characters"
    words = f"The result of an earlier tool call, {lengths}"
    return _Pruned(change.right.entry.pointer + right.place, (left.text, right.text), words)


def _dropped(alignment: Alignment) -> _Pruned | None:
    """Return the first of tool calls that are gone together with their results, where words around them are kept."""
    if not alignment.kept or not all(_is_tools(alignment.before(number)) for number in alignment.dropped):
        return None
    gone = alignment.before(alignment.start)
    return _Pruned(gone.field, (gone.entry.text, ""), "An earlier tool call is gone with its result")


def is_cut_short(before: str, after: str) -> bool:
    """Say whether a result has become shorter, or a placeholder, and is not only written in another way."""
    shorter = len(before) - len(after)
    if shorter <= 0 or json_equal(before, after) is not None:
        return False
    if not after.strip() or (len(after) <= _LONGEST_PLACEHOLDER and _PLACEHOLDER.search(after) is not None):
        return "".join(before.split()) != "".join(after.split())
    return len(after) <= _SHARE * len(before) and shorter >= _LEAST


def _count(alignment: Alignment) -> int:
    """Return how many results were cut in all, as far as they stand one by one."""
    count = 0
    for left, right in alignment.partner.items():
        if alignment.contents_a[left] != alignment.contents_b[right]:
            one, other = alignment.before(left), alignment.after(right)
            results = [_results(message) for message in (one, other)]
            count += sum(is_cut_short(a.text, b.text) for a, b in zip(*results, strict=False))
    return count


def _results(message: Message) -> list[Block]:
    return [block for block in message.blocks if _is_result(message, block)]


def _is_result(message: Message, block: Block) -> bool:
    return block.kind is BlockKind.RESULT or message.entry.role in ("tool", "function")


def _is_tools(message: Message) -> bool:
    return all(block.kind in (BlockKind.CALL, BlockKind.RESULT, BlockKind.THOUGHT) for block in message.blocks)


RULES.add(ToolResultPruned.name, ToolResultPruned())
