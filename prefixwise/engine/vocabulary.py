"""From messages and text to ids and back, for whatever model."""

from __future__ import annotations

import abc
from array import array
from collections.abc import Mapping, Sequence
from typing import Any

from prefixwise.core.errors import UserError
from prefixwise.core.request import Part
from prefixwise.corpus.chat_messages import OPENAI, flat, messages_of, tool_of
from prefixwise.corpus.prompt_tokenizer import PromptTokenizer


class Vocabulary(abc.ABC):
    """A model's tokenizer and chat template, as an engine needs them.

    Attributes:
        name: Of the model, for messages.
        tokenizer: Its vocabulary and chat template.
    """

    name: str
    tokenizer: PromptTokenizer

    def decode(self, ids: list[int]) -> str:
        """Return the text of an answer's ids, without the tokens that structure a prompt."""
        control = self.tokenizer.control_ids
        return self.tokenizer.decode([token for token in ids if token not in control])

    def text_prompt(self, text: str) -> list[int]:
        """Return the ids of a bare prompt; special tokens that are spelt out in it are those tokens."""
        return _unpacked(self.tokenizer.opening + self.tokenizer.encode_prompt(text))

    def chat_prompt(
        self,
        messages: Sequence[Any],
        tools: Sequence[Any] | None = None,
        arguments: Mapping[str, Any] | None = None,
    ) -> list[int]:
        """Return the ids of a conversation, rendered by the model's chat template, with the answer's turn opened.

        Args:
            messages: As Chat Completions has them.
            tools: Tool definitions likewise.
            arguments: What the request hands to the template.

        Raises:
            UserError: The model has no chat template, it refuses the conversation, or a part of it is no text.
        """
        template = self.tokenizer.template
        if template is None:
            raise UserError("the model has no chat template", self.name, "send a bare prompt")
        try:
            found = [part for item in messages for part in messages_of(OPENAI, "messages", item, _no_media)]
            if not template.takes_lists:
                found = [flat(message) for message in found]
            definitions = [tool_of(OPENAI, tool) for tool in tools] if tools else None
            text = template.render(found, definitions, opens_reply=True, arguments=arguments)
        except ValueError as problem:
            raise UserError(str(problem), self.name) from None
        return _unpacked(self.tokenizer.encode_prompt(text))


def _no_media(part: Part) -> str:  # noqa: ARG001 - as all that stand in for media
    raise ValueError("this model takes text only")


def _unpacked(ids: bytes) -> list[int]:
    return array("I", ids).tolist()
