"""`effort-or-thinking-changed`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.mended_settings import with_first_settings
from prefixwise.analyzers.lint.parameters import ChangedSetting
from prefixwise.analyzers.rule import RULES
from prefixwise.core.finding import Severity
from prefixwise.core.request import Request


class EffortOrThinkingChanged(ChangedSetting):
    """# Effort, thinking or verbosity changes inside a conversation

    How long a model may think, and how wordy it is to be, is told to it in front of the conversation, or is part of what
    the cache goes by. A turn with another setting finds nothing of the turns before it: on OpenAI the whole prompt is
    computed again, on Anthropic the messages are, while tools and system text are kept. Some chat templates print the
    effort within the first few tokens, with the same result on one's own engine.

    Looked at are `reasoning.effort`, `reasoning_effort`, `verbosity`, `text.verbosity`, `thinking`,
    `output_config.effort`, Gemini's `thinkingConfig` and the template arguments that switch thinking.

    Not reported: a default that is spelt out on one call and left out on the next; going back to a setting whose entry
    is still warm; a change after which usage shows a hit. Where nothing is known of a provider's cache, a change is
    information unless usage shows a miss.

    Choose the effort when the conversation starts. Where a turn needs another one, use the way that the provider has for
    that, which is an item or message inside the conversation and leaves what stands before it as it was.

    ```jsonl bad
    {"model": "gpt-5.6", "reasoning": {"effort": "medium"}, "instructions": "Answer from the atlas.", "input": [{"role": "user", "content": "Which river is longest?"}], "usage": {"input_tokens": 5120, "input_tokens_details": {"cached_tokens": 0}}}
    {"model": "gpt-5.6", "reasoning": {"effort": "high"}, "instructions": "Answer from the atlas.", "input": [{"role": "user", "content": "Which river is longest?"}, {"role": "assistant", "content": "The Nile."}, {"role": "user", "content": "And the second?"}], "usage": {"input_tokens": 5150, "input_tokens_details": {"cached_tokens": 0}}}
    ```

    ```jsonl good
    {"model": "gpt-5.6", "reasoning": {"effort": "medium"}, "instructions": "Answer from the atlas.", "input": [{"role": "user", "content": "Which river is longest?"}], "usage": {"input_tokens": 5120, "input_tokens_details": {"cached_tokens": 0}}}
    {"model": "gpt-5.6", "reasoning": {"effort": "medium", "summary": "auto"}, "instructions": "Answer from the atlas.", "input": [{"role": "user", "content": "Which river is longest?"}, {"role": "assistant", "content": "The Nile."}, {"role": "user", "content": "And the second?"}], "usage": {"input_tokens": 5150, "input_tokens_details": {"cached_tokens": 5120}}}
    ```
    """  # noqa: E501

    name = "effort-or-thinking-changed"
    code = "PW402"
    summary = "Reasoning effort, thinking or verbosity changes inside a conversation"
    severity = Severity.MEDIUM
    fix = "Set effort, thinking and verbosity once a conversation, or change them by the provider's item for it."
    rank = 20
    wanted = re.compile(
        r"/(?:reasoning(?:_config|Config)?/(?:effort|max_tokens|enabled|type|maxReasoningEffort|budget_tokens)"
        r"|reasoning_effort|verbosity|text/verbosity|enable_thinking"
        r"|thinking(?:/(?:type|budget_tokens))?$|output_config/effort"
        r"|generationConfig/thinkingConfig/thinking(?:Budget|Level)"
        r"|chat_template_kwargs/(?:enable_thinking|thinking\w*|reasoning_effort|effort))"
    )
    known_as = ("reasoning.effort", "text.verbosity", "thinking_parameters", "output_config_effort")
    noun = "How much the model is to think or say"

    def repair(self, request: Request, claims: Sequence[Claim]) -> Request | None:
        return with_first_settings(request, claims)


RULES.add(EffortOrThinkingChanged.name, EffortOrThinkingChanged())
