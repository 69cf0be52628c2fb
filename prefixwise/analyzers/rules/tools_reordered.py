"""`tools-reordered`."""

from __future__ import annotations

from collections.abc import Sequence

from prefixwise.analyzers.lint.changed_tools import ChangedTools, called, name_place
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.compared import Compared
from prefixwise.analyzers.lint.mended_tools import with_sorted_tools
from prefixwise.analyzers.lint.toolset import Difference, ToolChange
from prefixwise.analyzers.rule import RULES
from prefixwise.analyzers.values.hunks import common_prefix
from prefixwise.core.finding import Safety, Severity
from prefixwise.core.request import Request


class ToolsReordered(ChangedTools):
    """# The same tools in another order

    Providers and templates print tools in front of everything else, in the order in which they are sent. Where that
    order comes from a set, a hash map, a database query without an order, or servers that answer in turn, each request
    may have another one, and from the first tool that moved on the whole prompt is computed again: system text,
    history and all.

    Compared are the names; a list that gained or lost a tool is `tools-set-changed`.

    Not reported: an order that changes once, for all conversations and for good, which is a deployment; a change where
    hardly anything of the conversation is sent again, as after a compaction.

    Sort the tools by name, or keep them in a list in the order of registration, before the request is built. Nothing of
    what the model is told changes by that, so a tool may do it without a look.

    ```jsonl bad
    {"model": "gpt-4o", "tools": [{"type": "function", "function": {"name": "find_quay"}}, {"type": "function", "function": {"name": "next_ferry"}}], "messages": [{"role": "user", "content": "When is the last ferry?"}], "usage": {"prompt_tokens": 5120, "prompt_tokens_details": {"cached_tokens": 0}}}
    {"model": "gpt-4o", "tools": [{"type": "function", "function": {"name": "next_ferry"}}, {"type": "function", "function": {"name": "find_quay"}}], "messages": [{"role": "user", "content": "When is the last ferry?"}, {"role": "assistant", "content": "At 21:30."}, {"role": "user", "content": "From where?"}], "usage": {"prompt_tokens": 5150, "prompt_tokens_details": {"cached_tokens": 0}}}
    ```

    ```jsonl good
    {"model": "gpt-4o", "tools": [{"type": "function", "function": {"name": "find_quay"}}, {"type": "function", "function": {"name": "next_ferry"}}], "messages": [{"role": "user", "content": "When is the last ferry?"}], "usage": {"prompt_tokens": 5120, "prompt_tokens_details": {"cached_tokens": 0}}}
    {"model": "gpt-4o", "tools": [{"type": "function", "function": {"name": "find_quay"}}, {"type": "function", "function": {"name": "next_ferry"}}], "messages": [{"role": "user", "content": "When is the last ferry?"}, {"role": "assistant", "content": "At 21:30."}, {"role": "user", "content": "From where?"}], "usage": {"prompt_tokens": 5150, "prompt_tokens_details": {"cached_tokens": 5120}}}
    ```
    """  # noqa: E501

    name = "tools-reordered"
    code = "PW201"
    summary = "The same tools come in another order"
    severity = Severity.CRITICAL
    fix = "Sort the tools by name, or keep the order of registration, before the request is built."
    safety = Safety.SAFE
    difference = Difference.ORDER
    variants_are_meant = False

    def describe(self, pair: Compared, change: ToolChange) -> Claim | None:
        left, right = change.left, change.right
        if left is None or right is None:
            return None
        return self.claim(
            pair,
            name_place(change),
            f"The same tools come in another order: where {called(left.name)} stood (place {change.place + 1}) "
            f"there is now {called(right.name)}. The whole prompt from there on is computed again.",
            char_offset=common_prefix(left.name, right.name),
            from_text=left.name,
            to_text=right.name,
            cause="order",
        )

    def repair(self, request: Request, claims: Sequence[Claim]) -> Request | None:  # noqa: ARG002 - all alike
        return with_sorted_tools(request)


RULES.add(ToolsReordered.name, ToolsReordered())
