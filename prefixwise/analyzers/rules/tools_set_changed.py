"""`tools-set-changed`."""

from __future__ import annotations

from collections.abc import Sequence

from prefixwise.analyzers.lint.changed_tools import ChangedTools, called, name_place
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.compared import Compared
from prefixwise.analyzers.lint.mended_tools import with_all_tools
from prefixwise.analyzers.lint.toolset import Difference, ToolChange
from prefixwise.analyzers.rule import RULES
from prefixwise.analyzers.static.volatile import VolatileKind
from prefixwise.analyzers.values.hunks import common_prefix
from prefixwise.core.finding import Mode, Severity
from prefixwise.core.request import Request


class ToolsSetChanged(ChangedTools):
    """# Tools come and go

    Tools stand in front of system text and history. A server of tools that drops out for one request, a mode that
    brings tools of its own, or tools that are loaded when they are first needed change the start of the prompt, and
    everything behind the first tool that differs is computed again. A tool that goes and comes back costs that twice. It
    does not help to append new tools at the end of the list: system text and history stand behind it.

    Not reported: another list of tools in another conversation, unless nearly each has its own; a list that changes once
    for all conversations and for good, which is a deployment; a change where hardly anything of the conversation is sent
    again, as after a compaction; tools that a search loads (`defer_loading`).

    Send the same list throughout a conversation. Answer calls to a server that has gone with an error, forbid what a mode
    does not allow in the newest message or by the provider's list of allowed tools, and let the provider's tool search
    load what is rarely needed.

    ```jsonl bad
    {"model": "gpt-4o", "tools": [{"type": "function", "function": {"name": "find_quay"}}], "messages": [{"role": "user", "content": "When is the last ferry?"}], "usage": {"prompt_tokens": 5120, "prompt_tokens_details": {"cached_tokens": 0}}}
    {"model": "gpt-4o", "tools": [{"type": "function", "function": {"name": "find_quay"}}, {"type": "function", "function": {"name": "next_ferry"}}], "messages": [{"role": "user", "content": "When is the last ferry?"}, {"role": "assistant", "content": "At 21:30."}, {"role": "user", "content": "From where?"}], "usage": {"prompt_tokens": 5250, "prompt_tokens_details": {"cached_tokens": 0}}}
    ```

    ```jsonl good
    {"model": "gpt-4o", "tools": [{"type": "function", "function": {"name": "find_quay"}}], "messages": [{"role": "user", "content": "When is the last ferry?"}], "usage": {"prompt_tokens": 5120, "prompt_tokens_details": {"cached_tokens": 0}}}
    {"model": "gpt-4o", "tools": [{"type": "function", "function": {"name": "find_quay"}}], "messages": [{"role": "user", "content": "When is the last ferry?"}, {"role": "assistant", "content": "At 21:30."}, {"role": "user", "content": "From where?"}], "usage": {"prompt_tokens": 5150, "prompt_tokens_details": {"cached_tokens": 5120}}}
    ```

    In code:

    ```python bad
    from anthropic import Anthropic

    FIND = {"name": "find_quay", "description": "Find a quay.", "input_schema": {"type": "object", "properties": {}}}
    BOOK = {"name": "book_seat", "description": "Book a seat.", "input_schema": {"type": "object", "properties": {}}}
    RULES = (
        "You answer questions on ferry timetables. Name the quay, the time and the fare in every answer, and "
        "say which office to call when a ferry is late, and never promise a seat. Answer in the language of the "
        "question, in at most three sentences. Quays have numbers and children under six travel for nothing. "
    )


    def ask(question, plan_mode):
        tools = [FIND]
        if not plan_mode:
            tools.append(BOOK)
        return Anthropic().messages.create(
            model="claude-sonnet-4-5",
            max_tokens=400,
            tools=tools,
            system=RULES,
            messages=[{"role": "user", "content": question}],
        )
    ```

    ```python good
    from anthropic import Anthropic

    FIND = {"name": "find_quay", "description": "Find a quay.", "input_schema": {"type": "object", "properties": {}}}
    BOOK = {"name": "book_seat", "description": "Book a seat.", "input_schema": {"type": "object", "properties": {}}}
    RULES = (
        "You answer questions on ferry timetables. Name the quay, the time and the fare in every answer, and "
        "say which office to call when a ferry is late, and never promise a seat. Answer in the language of the "
        "question, in at most three sentences. Quays have numbers and children under six travel for nothing. "
    )


    def ask(question):
        return Anthropic().messages.create(
            model="claude-sonnet-4-5",
            max_tokens=400,
            tools=[FIND, BOOK],
            system=RULES,
            messages=[{"role": "user", "content": question}],
        )
    ```
    """  # noqa: E501

    name = "tools-set-changed"
    code = "PW202"
    modes = (Mode.LOG, Mode.STATIC)
    volatile = frozenset({VolatileKind.TOOLS})
    summary = "Tools are added or taken away inside a conversation"
    severity = Severity.HIGH
    fix = (
        "Keep the list of tools the same throughout a conversation: answer calls to tools that have gone with an "
        "error, and change the list only where a conversation starts anew."
    )
    difference = Difference.SET

    def describe(self, pair: Compared, change: ToolChange) -> Claim | None:
        left, right = change.left, change.right
        if change.strangers and not pair.turn:
            return None  # two applications
        names = None if left is None else left.name, None if right is None else right.name
        again = _again(pair)
        return self.claim(
            pair,
            name_place(change),
            f"{_what(change)}{again}. The whole prompt from the first of them on is computed again.",
            char_offset=None if None in names else common_prefix(*map(str, names)),
            from_text=names[0],
            to_text=names[1],
            cause=("set", pair.turn),
        )

    def repair(self, request: Request, claims: Sequence[Claim]) -> Request | None:
        return with_all_tools(request, claims)


def _what(change: ToolChange) -> str:
    said = []
    for verb, found in (("gone", change.removed), ("new", change.added)):
        if found:
            names = called(*(name for name, _ in found))
            said.append(f"{names} {'is' if len(found) == 1 else 'are'} {verb} (place {found[0][1] + 1})")
    return "Among the tools, " + " and ".join(said)


def _again(pair: Compared) -> str:
    """Return a clause where the earlier list of tools comes back in the conversation, or the later one has."""
    log = pair.log
    heads = log.outlines.head
    rows = log.threads[log.conversations.conversation[pair.after]] if pair.turn else []
    at = rows.index(pair.after) if rows else 0
    if any(heads[row] == heads[pair.after] for row in rows[:at]):
        return ", as it was earlier in the conversation"
    if any(heads[row] == heads[pair.before] for row in rows[at + 1 :]):
        return "; later in the conversation the list is as it was"
    return ""


RULES.add(ToolsSetChanged.name, ToolsSetChanged())
