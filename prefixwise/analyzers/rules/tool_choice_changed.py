"""`tool-choice-changed`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.mended_settings import with_first_settings
from prefixwise.analyzers.lint.parameters import ChangedSetting
from prefixwise.analyzers.rule import RULES
from prefixwise.core.finding import Severity
from prefixwise.core.request import Request


class ToolChoiceChanged(ChangedSetting):
    """# The choice of tools changes inside a conversation

    Forbidding tools for a side question, forcing one for a structured answer, or switching parallel calls off looks
    harmless, as the tools stay the same. On Anthropic, `tool_choice` and `disable_parallel_tool_use` are part of what
    the messages are cached by: tools and system text are read, the history is computed again. On OpenAI,
    `parallel_tool_calls` is part of the cache key, and a change costs the whole prompt.

    Not reported: `tool_choice` on OpenAI, whose cache does not go by it; `auto` that is spelt out on one call and left out
    on the next; going back to a choice whose entry is still warm.

    Leave the choice as it is and ask in the newest message for an answer without tools; ignore calls that come all the
    same. Where a call has to be forced, do it in a short conversation of its own.

    ```jsonl bad
    {"model": "claude-sonnet-4-5", "max_tokens": 500, "tool_choice": {"type": "auto"}, "system": "Answer from the atlas.", "messages": [{"role": "user", "content": "Which river is longest?"}], "usage": {"input_tokens": 6, "cache_creation_input_tokens": 5100, "cache_read_input_tokens": 0}}
    {"model": "claude-sonnet-4-5", "max_tokens": 500, "tool_choice": {"type": "none"}, "system": "Answer from the atlas.", "messages": [{"role": "user", "content": "Which river is longest?"}, {"role": "assistant", "content": "The Nile."}, {"role": "user", "content": "And the second?"}], "usage": {"input_tokens": 6, "cache_creation_input_tokens": 3100, "cache_read_input_tokens": 2060}}
    ```

    ```jsonl good
    {"model": "claude-sonnet-4-5", "max_tokens": 500, "tool_choice": {"type": "auto"}, "system": "Answer from the atlas.", "messages": [{"role": "user", "content": "Which river is longest?"}], "usage": {"input_tokens": 6, "cache_creation_input_tokens": 5100, "cache_read_input_tokens": 0}}
    {"model": "claude-sonnet-4-5", "max_tokens": 500, "system": "Answer from the atlas.", "messages": [{"role": "user", "content": "Which river is longest?"}, {"role": "assistant", "content": "The Nile."}, {"role": "user", "content": "And the second?"}], "usage": {"input_tokens": 6, "cache_creation_input_tokens": 60, "cache_read_input_tokens": 5100}}
    ```
    """  # noqa: E501

    name = "tool-choice-changed"
    code = "PW403"
    summary = "tool_choice or parallel tool use changes inside a conversation"
    severity = Severity.LOW
    fix = "Keep the choice of tools the same, and ask for an answer without tools in the newest message."
    rank = 30
    wanted = re.compile(r"/(?:tool_choice|parallel_tool_calls|toolConfig/(?:toolChoice|functionCallingConfig))\b")
    known_as = ("tool_choice", "disable_parallel_tool_use", "parallel_tool_calls")
    noun = "The choice of tools"

    def repair(self, request: Request, claims: Sequence[Claim]) -> Request | None:
        return with_first_settings(request, claims)


RULES.add(ToolChoiceChanged.name, ToolChoiceChanged())
