"""`schema-key-order`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from prefixwise.analyzers.diff import inside_json
from prefixwise.analyzers.fixes.bench import Bench
from prefixwise.analyzers.fixes.edits import Mended
from prefixwise.analyzers.fixes.orders import keys_sorted_in_source
from prefixwise.analyzers.fixes.seen import Seen
from prefixwise.analyzers.lint.changed_tools import ChangedTools, called
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.compared import Compared
from prefixwise.analyzers.lint.mended_tools import with_sorted_keys
from prefixwise.analyzers.lint.stakes import below_minimum, usage_says
from prefixwise.analyzers.lint.toolset import Difference, ToolChange, same_apart_from_order
from prefixwise.analyzers.rule import RULES
from prefixwise.analyzers.static.volatile import VolatileKind
from prefixwise.core.finding import Mode, Safety, Severity, Where
from prefixwise.core.request import Request


class SchemaKeyOrder(ChangedTools):
    """# The same schema with its keys in another order

    Two JSON objects that differ in the order of their keys are equal to a program and two texts to a cache. Tool
    definitions and output schemas are printed into the prompt as they come, in front of everything else. Workers whose
    language iterates maps at random, a column that re-sorts JSON, or two libraries that write the same model each their
    own way make the prompt another one from the first key that moved on.

    A comparison of parsed values sees no difference here; this one keeps the order of keys.

    In sources it is JSON that is made of keys in no fixed order, and a definition in JSON or YAML files that stands in a
    second place, equal but for the order of its keys: requests made from the one cannot use what was cached of the
    other. The first place, by path, is taken for the right one.

    Not reported: an order that changes once, for all conversations and for good, which is a deployment; definitions
    that each have an order of their own in one list, which is the same text on every call.

    Write schemas once when the program starts, keys sorted, and send those bytes from every worker. Nothing of what the
    model is told changes by that, so a tool may do it without a look.

    ```jsonl bad
    {"model": "gpt-4o", "tools": [{"type": "function", "function": {"name": "find_quay", "description": "Find a quay."}}], "messages": [{"role": "user", "content": "When is the last ferry?"}], "usage": {"prompt_tokens": 5120, "prompt_tokens_details": {"cached_tokens": 0}}}
    {"model": "gpt-4o", "tools": [{"type": "function", "function": {"description": "Find a quay.", "name": "find_quay"}}], "messages": [{"role": "user", "content": "When is the last ferry?"}, {"role": "assistant", "content": "At 21:30."}, {"role": "user", "content": "From where?"}], "usage": {"prompt_tokens": 5150, "prompt_tokens_details": {"cached_tokens": 0}}}
    ```

    ```jsonl good
    {"model": "gpt-4o", "tools": [{"type": "function", "function": {"name": "find_quay", "description": "Find a quay."}}], "messages": [{"role": "user", "content": "When is the last ferry?"}], "usage": {"prompt_tokens": 5120, "prompt_tokens_details": {"cached_tokens": 0}}}
    {"messages": [{"role": "user", "content": "When is the last ferry?"}, {"role": "assistant", "content": "At 21:30."}, {"role": "user", "content": "From where?"}], "tools": [{"type": "function", "function": {"name": "find_quay", "description": "Find a quay."}}], "model": "gpt-4o", "usage": {"prompt_tokens": 5150, "prompt_tokens_details": {"cached_tokens": 5120}}}
    ```

    In files, here in one:

    ```json bad
    {
      "chat": {"tools": [{"name": "find_quay", "description": "Find a quay.", "input_schema": {"type": "object"}}]},
      "mail": {"tools": [{"description": "Find a quay.", "name": "find_quay", "input_schema": {"type": "object"}}]}
    }
    ```

    ```json good
    {
      "chat": {"tools": [{"name": "find_quay", "description": "Find a quay.", "input_schema": {"type": "object"}}]},
      "mail": {"tools": [{"name": "find_quay", "description": "Find a quay.", "input_schema": {"type": "object"}}]}
    }
    ```
    """  # noqa: E501

    name = "schema-key-order"
    code = "PW204"
    modes = (Mode.LOG, Mode.STATIC)
    volatile = frozenset({VolatileKind.KEY_ORDER})
    summary = "A tool or output schema comes with its keys in another order"
    severity = Severity.CRITICAL
    fix = "Write schemas once, with sorted keys, and send the same bytes from every worker."
    safety = Safety.SAFE
    where = (Where.TOOLS, Where.PARAMS)
    difference = Difference.KEYS
    variants_are_meant = False

    def detect(self, pair: Compared) -> Claim | None:
        return self._of_format(pair) if pair.change and pair.change.where is Where.PARAMS else super().detect(pair)

    def describe(self, pair: Compared, change: ToolChange) -> Claim | None:
        name = "" if change.right is None else change.right.name
        return self._claim(pair, change.field, change.before, change.after, f"The tool {called(name)}")

    def _of_format(self, pair: Compared) -> Claim | None:
        """Return the claim on a response format that is the same as JSON."""
        change = pair.change
        if change is None or change.left is None or change.right is None:
            return None
        if change.left.where is not Where.PARAMS or change.right.where is not Where.PARAMS:
            return None
        one, other = msgspec.json.decode(change.left.raw), msgspec.json.decode(change.right.raw)
        if not same_apart_from_order(one, other):
            return None
        inner, before, after = inside_json(one, other)
        claim = self._claim(pair, change.right.pointer + inner, before, after, "The schema of the answer")
        claim.where = Where.PARAMS
        claim.evidence = usage_says(pair.log, pair.after)
        claim.severity = Severity.INFO if below_minimum(pair) else None
        return claim

    def _claim(self, pair: Compared, field: str, before: Any, after: Any, what: str) -> Claim:
        return self.claim(
            pair,
            field,
            f"{what} comes with its keys in another order: it is equal as JSON and another text to the cache.",
            from_text=_keys(before),
            to_text=_keys(after),
            cause="keys",
        )

    def repair(self, request: Request, claims: Sequence[Claim]) -> Request | None:  # noqa: ARG002 - all alike
        return with_sorted_keys(request)

    def edit(self, seen: Seen, bench: Bench) -> Mended | None:
        return keys_sorted_in_source(seen, bench)


def _keys(value: Any) -> str | None:
    return ", ".join(map(str, value)) if isinstance(value, dict) else None


RULES.add(SchemaKeyOrder.name, SchemaKeyOrder())
