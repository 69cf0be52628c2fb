"""`tool-args-reserialised`."""

from __future__ import annotations

from collections.abc import Sequence

from prefixwise.analyzers.lint.alignment import Alignment
from prefixwise.analyzers.lint.blocks import Block, BlockKind
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.compared import Compared
from prefixwise.analyzers.lint.history import HistoryRule, offset_in, replaced
from prefixwise.analyzers.lint.mended_history import with_canonical_json
from prefixwise.analyzers.rule import RULES
from prefixwise.analyzers.values.drift import json_equal
from prefixwise.core.finding import Confidence, Safety, Severity
from prefixwise.core.request import Part, Request


class ToolArgsReserialised(HistoryRule):
    r"""# Arguments of tool calls are written anew

    The arguments of a tool call are a text that the model wrote: its key order, its spaces, its `2.0`. Code that parses
    them, keeps the object (in a JSON column, say, which sorts keys) and dumps it again for the next request sends the
    same value in other characters. From there on nothing is served from the cache. Results of tools that are JSON
    suffer in the same way and are reported here too.

    Not reported: arguments of another value, and calls that differ only in their ids.

    Keep the text as it came. Where an object must be stored, dump it in one and the same way every time, the first
    time included.

    ```jsonl bad
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the ferry timetable."}, {"role": "user", "content": "When does the first ferry leave?"}, {"role": "assistant", "content": null, "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "departures", "arguments": "{\"quay\": 2, \"day\": 1}"}}]}, {"role": "tool", "tool_call_id": "call_1", "content": "05:40, 07:10"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the ferry timetable."}, {"role": "user", "content": "When does the first ferry leave?"}, {"role": "assistant", "content": null, "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "departures", "arguments": "{\"day\":1,\"quay\":2}"}}]}, {"role": "tool", "tool_call_id": "call_1", "content": "05:40, 07:10"}, {"role": "assistant", "content": "At 05:40."}, {"role": "user", "content": "And the second?"}]}
    ```

    ```jsonl good
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the ferry timetable."}, {"role": "user", "content": "When does the first ferry leave?"}, {"role": "assistant", "content": null, "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "departures", "arguments": "{\"quay\": 2, \"day\": 1}"}}]}, {"role": "tool", "tool_call_id": "call_1", "content": "05:40, 07:10"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the ferry timetable."}, {"role": "user", "content": "When does the first ferry leave?"}, {"role": "assistant", "content": null, "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "departures", "arguments": "{\"quay\": 2, \"day\": 1}"}}]}, {"role": "tool", "tool_call_id": "call_1", "content": "05:40, 07:10"}, {"role": "assistant", "content": "At 05:40."}, {"role": "user", "content": "And the second?"}]}
    ```
    """  # noqa: E501

    name = "tool-args-reserialised"
    code = "PW308"
    summary = "Arguments of earlier tool calls come again as the same JSON in other characters"
    severity = Severity.HIGH
    fix = "Store the text of the arguments as the model wrote it and send it again; do not parse and dump it."
    safety = Safety.SAFE
    rank = 26

    def look(self, pair: Compared, alignment: Alignment) -> Claim | None:
        found = replaced(alignment)
        if found is None or not found.lefts or not found.rights:
            return None
        left, right = found.lefts[0], found.rights[0]
        one, other = _json_of(left), _json_of(right)
        if (left.kind, left.name) != (right.kind, right.name) or one is None or other is None:
            return None
        if (left.id and left.id.text) != (right.id and right.id.text):
            return None
        how = json_equal(one.text, other.text)
        if how is None:
            return None
        what = f"The arguments of `{right.name}`" if right.kind is BlockKind.CALL else "The result of a tool call"
        verb = "come" if right.kind is BlockKind.CALL else "comes"
        claim = self.claim(
            pair, found.right.entry.pointer + other.pointer, f"{what} {verb} again as {how}.", one.text, other.text
        )
        claim.char_offset = None if one.is_json or other.is_json else offset_in(one.text, other.text)
        claim.confidence = Confidence.CERTAIN
        return claim

    def repair(self, request: Request, claims: Sequence[Claim]) -> Request | None:  # noqa: ARG002 - all alike
        return with_canonical_json(request)


def _json_of(block: Block) -> Part | None:
    """Return the part of a call or result that may be JSON."""
    if block.kind is BlockKind.CALL:
        return block.arguments
    return block.texts[0] if block.kind is BlockKind.RESULT and len(block.texts) == 1 else None


RULES.add(ToolArgsReserialised.name, ToolArgsReserialised())
