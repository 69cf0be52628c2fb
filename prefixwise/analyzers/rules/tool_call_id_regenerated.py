"""`tool-call-id-regenerated`."""

from __future__ import annotations

from collections.abc import Sequence

from prefixwise.analyzers.lint.alignment import Alignment
from prefixwise.analyzers.lint.blocks import Block, BlockKind
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.compared import Compared
from prefixwise.analyzers.lint.history import HistoryRule, Replaced, offset_in, replaced
from prefixwise.analyzers.lint.mended_history import with_numbered_ids
from prefixwise.analyzers.rule import RULES
from prefixwise.analyzers.values.drift import json_equal
from prefixwise.core.finding import Confidence, Severity
from prefixwise.core.request import Request


class ToolCallIdRegenerated(HistoryRule):
    r"""# Tool calls get new ids when they are sent again

    The id of a tool call is part of the prompt. An adapter that rebuilds the history from its own records and makes up
    an id each time sends the same call under another name: everything from the first call on is computed again. The
    ids of the results that follow differ for the same reason and are not reported by themselves.

    Store the id that the model gave and send it again. Where there is none, derive one from what does not change
    (name, arguments, place in the conversation) instead of drawing one.

    ```jsonl bad
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the ferry timetable."}, {"role": "user", "content": "When does the first ferry leave?"}, {"role": "assistant", "content": null, "tool_calls": [{"id": "call_Hq27Fd", "type": "function", "function": {"name": "departures", "arguments": "{\"day\":1}"}}]}, {"role": "tool", "tool_call_id": "call_Hq27Fd", "content": "05:40, 07:10"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the ferry timetable."}, {"role": "user", "content": "When does the first ferry leave?"}, {"role": "assistant", "content": null, "tool_calls": [{"id": "call_9sMx0a", "type": "function", "function": {"name": "departures", "arguments": "{\"day\":1}"}}]}, {"role": "tool", "tool_call_id": "call_9sMx0a", "content": "05:40, 07:10"}, {"role": "assistant", "content": "At 05:40."}, {"role": "user", "content": "And the second?"}]}
    ```

    ```jsonl good
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the ferry timetable."}, {"role": "user", "content": "When does the first ferry leave?"}, {"role": "assistant", "content": null, "tool_calls": [{"id": "call_Hq27Fd", "type": "function", "function": {"name": "departures", "arguments": "{\"day\":1}"}}]}, {"role": "tool", "tool_call_id": "call_Hq27Fd", "content": "05:40, 07:10"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the ferry timetable."}, {"role": "user", "content": "When does the first ferry leave?"}, {"role": "assistant", "content": null, "tool_calls": [{"id": "call_Hq27Fd", "type": "function", "function": {"name": "departures", "arguments": "{\"day\":1}"}}]}, {"role": "tool", "tool_call_id": "call_Hq27Fd", "content": "05:40, 07:10"}, {"role": "assistant", "content": "At 05:40."}, {"role": "user", "content": "And the second?"}]}
    ```
    """  # noqa: E501

    name = "tool-call-id-regenerated"
    code = "PW307"
    summary = "Tool calls of earlier turns come again with other ids"
    severity = Severity.HIGH
    fix = (
        "Send the ids that were first sent; derive made-up ones from name, arguments and place instead of drawing them."
    )
    rank = 24

    def look(self, pair: Compared, alignment: Alignment) -> Claim | None:
        found = replaced(alignment)
        if found is None or not found.lefts or not found.rights:
            return None
        left, right = found.lefts[0], found.rights[0]
        one, other = left.id, right.id
        if one is None or other is None or one.text == other.text or not _same_but_id(left, right):
            return None
        if other.text in _ids(found.left.blocks):  # the calls of one turn in another order
            return None
        what = f"call of `{right.name}`" if right.name else "result of a tool call"
        claim = self.claim(
            pair,
            found.right.entry.pointer + other.pointer,
            f"The {what} comes again under another id, everything else about it being equal.",
            one.text,
            other.text,
        )
        claim.char_offset = offset_in(one.text, other.text)
        claim.confidence = Confidence.CERTAIN
        claim.evidence = _more(found)
        claim.also = ("tool-args-reserialised",) if _arguments(left) != _arguments(right) else ()
        return claim

    def repair(self, request: Request, claims: Sequence[Claim]) -> Request | None:  # noqa: ARG002 - all alike
        return with_numbered_ids(request)


def _same_but_id(left: Block, right: Block) -> bool:
    if (left.kind, left.name) != (right.kind, right.name):
        return False
    if left.kind is BlockKind.RESULT:
        return left.text == right.text
    one, other = _arguments(left), _arguments(right)
    return left.kind is BlockKind.CALL and (one == other or json_equal(one, other) is not None)


def _arguments(block: Block) -> str:
    return block.arguments.text if block.arguments is not None else ""


def _ids(blocks: tuple[Block, ...]) -> set[str]:
    return {block.id.text for block in blocks if block.id is not None}


def _more(found: Replaced) -> tuple[str, ...]:
    """Return what else of the message says that ids are drawn anew."""
    pairs = zip(found.left.blocks, found.right.blocks, strict=False)
    others = sum(
        one.id is not None and other.id is not None and one.id.text != other.id.text and _same_but_id(one, other)
        for one, other in pairs
    )
    return (f"{others} calls of the message have new ids",) if others > 1 else ()


RULES.add(ToolCallIdRegenerated.name, ToolCallIdRegenerated())
