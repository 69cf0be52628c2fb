"""`tool-schema-drift`."""

from __future__ import annotations

from collections.abc import Sequence

from prefixwise.analyzers.lint.changed_tools import ChangedTools, called, shown
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.compared import Compared
from prefixwise.analyzers.lint.mended_tools import with_first_tools
from prefixwise.analyzers.lint.toolset import Difference, ToolChange
from prefixwise.analyzers.rule import RULES
from prefixwise.analyzers.values.describe import describe
from prefixwise.analyzers.values.hunks import hunks
from prefixwise.analyzers.values.kinds import SpanKind
from prefixwise.core.finding import Confidence, Severity
from prefixwise.core.request import Request

_OF_ANOTHER_RULE = frozenset(
    {
        *(SpanKind.CLOCK, SpanKind.RELATIVE_TIME, SpanKind.IDENTIFIER, SpanKind.COUNTER),
        *(SpanKind.LINE_ENDS, SpanKind.WHITE_SPACE, SpanKind.UNICODE, SpanKind.LOCALE),
    }
)
"""Values that have a rule of their own wherever they stand."""
_LONGEST = 20_000


class ToolSchemaDrift(ChangedTools):
    """# A tool of the same name says something else

    A description that lists what there is at the moment (agents, skills, files, tables), a set of allowed values that is
    read from a database, a default that depends on the user: the tool is the same, its bytes are not. Tools stand in
    front of everything, so all of the prompt behind the difference is computed again. Whoever compares names only does
    not see it.

    Said is the innermost value that differs: a description, a list of values, one number.

    Not reported: a version of the tools that comes once, for all conversations and for good, which is a deployment; other
    words in other conversations, unless nearly each has its own. A clock, an id or a counter inside a description is
    reported by the rule for such values.

    Build tool definitions once, from constants. What depends on the moment belongs into a message, or behind a tool that
    lists it. Where only the order of a list differs, sort it.

    ```jsonl bad
    {"model": "gpt-4o", "tools": [{"type": "function", "function": {"name": "ask_agent", "description": "Agents at hand: atlas, ferries, tides."}}], "messages": [{"role": "user", "content": "When is the last ferry?"}], "usage": {"prompt_tokens": 5120, "prompt_tokens_details": {"cached_tokens": 0}}}
    {"model": "gpt-4o", "tools": [{"type": "function", "function": {"name": "ask_agent", "description": "Agents at hand: ferries, atlas, tides."}}], "messages": [{"role": "user", "content": "When is the last ferry?"}, {"role": "assistant", "content": "At 21:30."}, {"role": "user", "content": "From where?"}], "usage": {"prompt_tokens": 5150, "prompt_tokens_details": {"cached_tokens": 0}}}
    ```

    ```jsonl good
    {"model": "gpt-4o", "tools": [{"type": "function", "function": {"name": "ask_agent", "description": "Agents at hand: atlas, ferries, tides."}}], "messages": [{"role": "user", "content": "When is the last ferry?"}], "usage": {"prompt_tokens": 5120, "prompt_tokens_details": {"cached_tokens": 0}}}
    {"model": "gpt-4o", "tools": [{"type": "function", "function": {"name": "ask_agent", "description": "Agents at hand: atlas, ferries, tides."}}], "messages": [{"role": "user", "content": "When is the last ferry?"}, {"role": "assistant", "content": "At 21:30."}, {"role": "user", "content": "From where?"}], "usage": {"prompt_tokens": 5150, "prompt_tokens_details": {"cached_tokens": 5120}}}
    ```
    """  # noqa: E501

    name = "tool-schema-drift"
    code = "PW203"
    summary = "A tool of the same name comes with other bytes"
    severity = Severity.HIGH
    fix = "Build tool definitions once from constants; put what depends on the moment into a message."
    difference = Difference.SCHEMA

    def describe(self, pair: Compared, change: ToolChange) -> Claim | None:
        return None if _has_a_rule(change) else self._claim(pair, change)

    def otherwise(self, pair: Compared) -> Claim | None:
        tools = pair.change.tools if pair.change is not None else None
        if tools is None or tools.difference is not Difference.SCHEMA:
            return None
        return self._claim(pair, tools)

    def _claim(self, pair: Compared, change: ToolChange) -> Claim:
        tool = change.right or change.left
        name = "" if tool is None else tool.name
        place = change.field.removeprefix("" if tool is None else tool.field).strip("/").replace("/", ".")
        from_text, to_text = _around(change)
        is_order = _is_order(change)
        return self.claim(
            pair,
            change.field,
            f"The tool {called(name)} comes with {'the same in another order' if is_order else 'something else'} "
            f"in `{place[:80] or 'its definition'}`: the prompt from there on is computed again.",
            char_offset=change.char_offset,
            from_text=from_text,
            to_text=to_text,
            confidence=Confidence.CERTAIN,
            cause=(name, place),
            fix="Sort the list before it is written into the tool's definition." if is_order else None,
        )

    def repair(self, request: Request, claims: Sequence[Claim]) -> Request | None:
        return with_first_tools(request, claims)


def _around(change: ToolChange) -> tuple[str | None, str | None]:
    """Return what differs: of long texts, the stretch from where they part on."""
    start = max(0, (change.char_offset or 0) - 20)
    before, after = change.before, change.after
    one = None if before is None else shown(before[start:] if isinstance(before, str) else before)
    other = None if after is None else shown(after[start:] if isinstance(after, str) else after)
    return one, other


def _has_a_rule(change: ToolChange) -> bool:
    if not change.is_text or max(len(change.before), len(change.after)) > _LONGEST:
        return False
    found = hunks(change.before, change.after)
    if not found:
        return False
    said = describe(change.before, change.after, found[0])
    return said.kind in _OF_ANOTHER_RULE and said.confidence is not Confidence.POSSIBLE


def _is_order(change: ToolChange) -> bool:
    before, after = change.before, change.after
    if isinstance(before, list) and isinstance(after, list):
        return sorted(map(shown, before)) == sorted(map(shown, after))
    return isinstance(before, str) and isinstance(after, str) and sorted(before) == sorted(after)


RULES.add(ToolSchemaDrift.name, ToolSchemaDrift())
