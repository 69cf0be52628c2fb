"""Prompts locked: what goes into the lock, and what changed since the one before."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from prefixwise.analyzers.configured import Configured
from prefixwise.analyzers.static.files_report import prompt_files
from prefixwise.analyzers.static.lock import lock_of, lock_text, read_lock, read_prompts
from prefixwise.analyzers.static.lock_report import lock_report
from prefixwise.caches.prices import Price
from prefixwise.caches.rulebook import Rulebook
from prefixwise.core.errors import UserError
from prefixwise.core.report import Report


def locked(
    paths: Sequence[str], output: Path, configured: Configured, calls: int | None = None, model: str = ""
) -> tuple[str, Report]:
    """Return the text of a lock of prompts, and the report on it.

    Args:
        paths: Prompt files, or folders to look in.
        output: Where the lock will be; the one that is there is what changes are told from.
        configured: What holds for each file.
        calls: Calls a month of each prompt, for what changes cost.
        model: Whose price they pay; '' for none.

    Raises:
        UserError: A path leads to nothing, nothing of it can be locked, or the model has no known price.
    """
    price = _price(model) if model else None
    prompts, notes = read_prompts(prompt_files(paths, configured.selection), output.parent, configured.outside)
    if not prompts:
        raise UserError("; ".join(notes) or "no prompt files there", ", ".join(paths), exit_code=3)
    try:
        before = read_lock(output) if output.exists() else None
    except UserError as problem:
        before = None
        notes.append(f"the lock before could not be read: {problem}")
    written = lock_of(prompts)
    return lock_text(written), lock_report(written, before, notes, calls, price)


def _price(model: str) -> Price:
    """Return what a model costs now."""
    found = Rulebook().price_list(model)
    price = found.at(float("nan")) if found else None
    if price is None:
        raise UserError(f"no price is known for {model[:100]!r}", "--model", "prefixwise providers lists prices")
    return price
