"""Models' own tokenizers and chat templates, as the user names them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from prefixwise.core.errors import UserError
from prefixwise.corpus.chat_template import DEFAULT, ChatTemplate
from prefixwise.corpus.prompt_tokenizer import PromptTokenizer
from prefixwise.corpus.tokenizer import Tokenizer
from prefixwise.corpus.tokenizers.huggingface import load_tokenizer, read_template

ALL = ""
"""Stands for all models that are not named."""


class OwnTokenizers:
    """Chooses the tokenizer of a model: the one that the user named, else another choice.

    All of them are loaded at once, so that what is wrong with them is said before a log is read.

    Args:
        tokenizers: Path or hub name by model; `ALL` for the rest.
        templates: Chat template files by model; `ALL` for the rest. They replace the tokenizers' own.
        otherwise: Chooses for models without one.

    Raises:
        UserError: A file or name is not there or cannot be read.
        MissingExtraError: The packages that read tokenizers are not installed.
    """

    def __init__(
        self,
        tokenizers: Mapping[str, str],
        templates: Mapping[str, str],
        otherwise: Callable[[str, str], Tokenizer],
    ) -> None:
        self._otherwise = otherwise
        self._loaded: dict[tuple[str, str], PromptTokenizer] = {}
        self._by_model: dict[str, PromptTokenizer] = {}
        for model in sorted({*tokenizers, *templates}):
            where = tokenizers.get(model, tokenizers.get(ALL, ""))
            if not where:
                raise UserError(f"no tokenizer is named for {model}", "--chat-template", "add --tokenizer MODEL=PATH")
            self._by_model[model] = self._load(where, templates.get(model, templates.get(ALL, "")))

    def choose(self, provider: str, model: str) -> Tokenizer:
        """Return the tokenizer of a model."""
        return self._by_model.get(model) or self._by_model.get(ALL) or self._otherwise(provider, model)

    def _load(self, where: str, template: str) -> PromptTokenizer:
        known = self._loaded.get((where, template))
        if known is not None:
            return known
        tokenizer = load_tokenizer(where)
        if template:
            source = {DEFAULT: read_template(Path(template))}
            tokenizer.template = ChatTemplate(source, template, tokenizer.named_tokens)
            tokenizer.name = f"{where} + {template}"
        self._loaded[where, template] = tokenizer
        return tokenizer
