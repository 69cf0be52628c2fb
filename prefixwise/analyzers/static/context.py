"""What is known of a prompt from outside its text: whose it will be, which model reads it, how it is written."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TypeAlias

import msgspec

from prefixwise.caches.rulebook import Rulebook
from prefixwise.corpus.tokenizer import provider_of


class PromptContext(msgspec.Struct, frozen=True, kw_only=True):
    """What the configuration, the command line or a front matter say of a prompt; '' where nothing says it.

    Attributes:
        role: Message that the text becomes: `system`, `user` and so on; texts that name roles themselves ignore it.
        provider: Whose API it goes to. Where it is unknown, no provider's rule applies.
        model: Model that reads it.
        syntax: How placeholders are written, a name of `Syntax`.
    """

    role: str = ""
    provider: str = ""
    model: str = ""
    syntax: str = ""

    def completed(self, other: PromptContext) -> PromptContext:
        """Return this context with what it leaves open taken from `other`."""
        return PromptContext(
            role=self.role or other.role,
            provider=self.provider or other.provider,
            model=self.model or other.model,
            syntax=self.syntax or other.syntax,
        )

    def named(self) -> PromptContext:
        """Return this context with the provider that the name of its model tells, where none is said."""
        if self.provider or not self.model:
            return self
        return msgspec.structs.replace(self, provider=provider_of(self.model, ""))

    @property
    def minimum(self) -> int | None:
        """Fewest tokens that the model's provider caches; None where model or provider do not tell."""
        return _minimum(self.provider, self.model) if self.model or self.provider else None


class Outside(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a file's prompts from outside.

    Attributes:
        asked: What the command says; wins over what the file says of itself.
        assumed: What the configuration says; completes what the file says.
        version: Version of its prompts where the file tells none.
        builders: Functions that build prompts beside those that look like it.
    """

    asked: PromptContext = PromptContext()
    assumed: PromptContext = PromptContext()
    version: str = ""
    builders: frozenset[str] = frozenset()


OutsideOf: TypeAlias = Callable[[str], Outside]
"""Gives what is known of a file, by its path."""


def nothing_known(_path: str) -> Outside:
    """Return what is known of a file where nobody says anything."""
    return Outside()


@functools.lru_cache(maxsize=256)
def _minimum(provider: str, model: str) -> int | None:
    systems = _rulebook().rules_for(model, provider)
    band = systems[0].minimum(model) if systems else None
    return None if band is None else band.stated or band.low


@functools.cache
def _rulebook() -> Rulebook:
    return Rulebook()
