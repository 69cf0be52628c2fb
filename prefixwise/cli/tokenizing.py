"""From `--tokenizer` and `--chat-template` to the choice of a tokenizer by model."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prefixwise.corpus.tokenizer import ChooseTokenizer


def chooser(tokenizers: Sequence[str], templates: Sequence[str]) -> ChooseTokenizer:
    """Return what chooses each model's tokenizer; without options, the built-in choice.

    Args:
        tokenizers: `PATH|NAME` for all models, or `MODEL=PATH|NAME` for one.
        templates: `FILE` for all tokenizers given, or `MODEL=FILE` for one model's.

    Raises:
        UserError: A file or name is not there or cannot be read, or a template has no tokenizer to go with.
        MissingExtraError: The packages that read tokenizers are not installed.
    """
    from prefixwise.corpus.tokenizers.openai import choose

    if not tokenizers and not templates:
        return choose
    from prefixwise.core.errors import UserError
    from prefixwise.corpus.tokenizers.own import OwnTokenizers

    by_model = _by_model("--tokenizer", tokenizers)
    if not by_model:
        raise UserError("a chat template needs the model's tokenizer", "--chat-template", "add --tokenizer PATH")
    return OwnTokenizers(by_model, _by_model("--chat-template", templates), choose).choose


def _by_model(option: str, values: Sequence[str]) -> dict[str, str]:
    """Return the values by model, those for all models under ''."""
    from pathlib import Path

    from prefixwise.core.errors import UserError

    found: dict[str, str] = {}
    for value in values:
        model, mark, where = value.partition("=")
        if not mark or Path(value).exists():
            model, where = "", value
        if not where:
            raise UserError("nothing is named", f"{option} {value}", f"write {option} PATH or {option} MODEL=PATH")
        if model in found:
            raise UserError(f"{model or 'all models'} are given two", option, "name each model once")
        found[model] = where
    return found
