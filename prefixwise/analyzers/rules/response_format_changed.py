"""`response-format-changed`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.compared import Compared
from prefixwise.analyzers.lint.mended_settings import with_first_settings, without_format
from prefixwise.analyzers.lint.parameters import ChangedSetting
from prefixwise.analyzers.lint.stakes import below_minimum, is_new_start, usage_says
from prefixwise.analyzers.rule import RULES, Stage
from prefixwise.core.finding import Confidence, Severity, Where
from prefixwise.core.request import Request

_LONGEST = 200


class ResponseFormatChanged(ChangedSetting):
    """# The format of the answer changes inside a conversation

    A schema for the answer is told to the model in front of the conversation: on OpenAI it stands behind the tools and
    in front of all messages, elsewhere it is part of what the cache goes by. Asking for JSON on one turn and for text on
    the next, or building the schema anew with values of the moment, makes each such turn compute the whole prompt again.

    Looked at are `response_format`, `text.format`, `output_config.format`, `output_format` and Gemini's response schema.

    Not reported: a schema that is the same as JSON with its keys in another order, which is `schema-key-order`; plain
    text that is asked for on one call and left out on the next; formats of other conversations; a change after which
    usage shows a hit.

    Use one format for the whole conversation, wide enough for all its turns, and build the schema from constants. Where
    one answer must be structured, let the model call a tool that takes it, or ask for it in a short conversation of its
    own.

    ```jsonl bad
    {"model": "gpt-4o", "messages": [{"role": "user", "content": "When is the last ferry?"}], "usage": {"prompt_tokens": 5120, "prompt_tokens_details": {"cached_tokens": 0}}}
    {"model": "gpt-4o", "response_format": {"type": "json_schema", "json_schema": {"name": "crossing", "schema": {"type": "object"}}}, "messages": [{"role": "user", "content": "When is the last ferry?"}, {"role": "assistant", "content": "At 21:30."}, {"role": "user", "content": "From where?"}], "usage": {"prompt_tokens": 5150, "prompt_tokens_details": {"cached_tokens": 0}}}
    ```

    ```jsonl good
    {"model": "gpt-4o", "response_format": {"type": "json_object"}, "messages": [{"role": "user", "content": "When is the last ferry?"}], "usage": {"prompt_tokens": 5120, "prompt_tokens_details": {"cached_tokens": 0}}}
    {"model": "gpt-4o", "response_format": {"type": "json_object"}, "messages": [{"role": "user", "content": "When is the last ferry?"}, {"role": "assistant", "content": "At 21:30."}, {"role": "user", "content": "From where?"}], "usage": {"prompt_tokens": 5150, "prompt_tokens_details": {"cached_tokens": 5120}}}
    ```
    """  # noqa: E501

    name = "response-format-changed"
    code = "PW404"
    summary = "The format or schema of the answer changes inside a conversation"
    severity = Severity.MEDIUM
    fix = "Keep one answer format for the whole conversation and build its schema from constants."
    also_at = (Stage.TEXT,)
    rank = 40
    wanted = re.compile(
        r"/(?:output_config/format|output_format|generationConfig/response(?:Schema|JsonSchema|MimeType))\b"
    )
    known_as = ("text.format", "output_config_format", "response_schema")
    noun = "The format of the answer"

    def detect(self, pair: Compared) -> Claim | None:
        return super().detect(pair) if pair.change is None else self._of_text(pair)

    def _of_text(self, pair: Compared) -> Claim | None:
        """Return the claim on a format that is printed into the prompt."""
        change = pair.change
        if change is None or change.where is not Where.PARAMS or is_new_start(pair):
            return None
        from_text, to_text = change.before[:_LONGEST] or None, change.after[:_LONGEST] or None
        what = (
            "is asked for on this turn only" if from_text is None else "is left out" if to_text is None else "changes"
        )
        return Claim(
            rule=self.name,
            where=Where.PARAMS,
            after=pair.after,
            before=pair.before,
            field=change.field,
            char_offset=change.char_offset,
            from_text=from_text,
            to_text=to_text,
            confidence=Confidence.CERTAIN,
            severity=Severity.INFO if below_minimum(pair) else None,
            evidence=usage_says(pair.log, pair.after),
            message=f"The format of the answer {what}; it is told to the model in front of all messages, "
            "which are computed again.",
            cause="format",
        )

    def repair(self, request: Request, claims: Sequence[Claim]) -> Request | None:
        return without_format(with_first_settings(request, claims))


RULES.add(ResponseFormatChanged.name, ResponseFormatChanged())
