"""The report of a diff."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from prefixwise.analyzers.diff import Difference, Verdict, kept_units
from prefixwise.caches.granular import GranularPolicy
from prefixwise.caches.policy import Policy
from prefixwise.core.errors import UserError
from prefixwise.core.excerpt import Excerpts, excerpt, excerpt_around, visible
from prefixwise.core.report import Block, Cell, Column, InputFile, Report, Table, Text, Unit

_SENTENCES = {
    Verdict.IDENTICAL: "The prompts are identical, token for token.",
    Verdict.EXTENDS: "The second prompt extends the first: everything before the new part stays cached.",
    Verdict.PREFIX: "The second prompt is the beginning of the first.",
    Verdict.BREAKS: "The prompts part: what follows the first difference must be computed again.",
}


def diff_report(
    difference: Difference,
    names: tuple[str, str],
    policies: Sequence[Policy],
    inputs: tuple[InputFile, ...],
    excerpts: Excerpts = Excerpts.MASKED,
) -> Report:
    """Return the report of a comparison.

    Raises:
        UserError: A rule that does not reuse units of a fixed size.
    """
    units = [_unit(policy) for policy in policies]
    blocks: list[Block] = [Text("verdict", _summary(difference))]
    if difference.verdict is not Verdict.IDENTICAL:
        blocks.append(_place(difference, names, excerpts))
    blocks.append(_costs(difference, policies, units))
    before, first_after, second_after = _context(difference, excerpts)
    values: dict[str, object] = msgspec.structs.asdict(difference)
    values |= {
        "verdict": difference.verdict.name.lower(),
        "first": names[0],
        "second": names[1],
        "first_differing_token": None if difference.verdict is Verdict.IDENTICAL else difference.kept_tokens,
        "first_text": first_after,
        "second_text": second_after,
        "text_before": before,
        "rules": [
            {
                "rule": policy.label,
                "unit": unit,
                "kept_units": kept_units(difference, unit),
                "kept_tokens": kept_units(difference, unit) * unit,
                "lost_tokens": difference.second_tokens - kept_units(difference, unit) * unit,
            }
            for policy, unit in zip(policies, units, strict=True)
        ],
    }
    return Report(
        schema="prefixwise/diff",
        schema_version=1,
        command="diff",
        title=f"{names[0]} against {names[1]}",
        blocks=tuple(blocks),
        values=values,
        inputs=inputs,
        notes=_notes(difference),
    )


def _unit(policy: Policy) -> int:
    if not isinstance(policy, GranularPolicy):
        raise UserError("a diff counts under rules that reuse units of a fixed size", f"--under {policy.label}")
    return policy.unit


def _summary(difference: Difference) -> tuple[str, ...]:
    lines = [_SENTENCES[difference.verdict]]
    if difference.verdict is Verdict.BREAKS:
        lost = difference.first_tokens - difference.kept_tokens
        lines.append(
            f"First differing token: {difference.kept_tokens:,} (0-based). Of the first prompt's "
            f"{difference.first_tokens:,} tokens {difference.kept_tokens:,} stay cached, {lost:,} are lost."
        )
    return tuple(lines)


def _context(difference: Difference, excerpts: Excerpts) -> tuple[str, str, str]:
    """Return the text before the difference, and what follows it in the first and in the second prompt."""
    if difference.char_offset is None:
        return "", excerpt(difference.first_text, excerpts), excerpt(difference.second_text, excerpts)
    before, first_after = excerpt_around(difference.first_text, difference.char_offset, excerpts)
    _, second_after = excerpt_around(difference.second_text, difference.char_offset, excerpts)
    return before, first_after, second_after


def _place(difference: Difference, names: tuple[str, str], excerpts: Excerpts) -> Table:
    before, first_after, second_after = _context(difference, excerpts)
    columns = (
        Column("prompt", "prompt"),
        Column("field", "field"),
        Column("role", "role"),
        Column("char_offset", "character", Unit.COUNT),
        Column("before", "same text before"),
        Column("text", "then"),
    )
    rows: list[tuple[Cell, ...]] = []
    for name, field, after in (
        (names[0], difference.first_field, first_after),
        (names[1], difference.second_field, second_after),
    ):
        role = difference.role or difference.kind
        rows.append((name, field, role if field is not None else None, difference.char_offset, before,
                     "(ends here)" if field is None else after))  # fmt: skip
    note = "Characters are counted from 0 inside the field. Invisible characters are written as escapes."
    return Table("place", "Where they part", columns, tuple(rows), note)


def _costs(difference: Difference, policies: Sequence[Policy], units: Sequence[int]) -> Table:
    columns = (
        Column("rule", "rule"),
        Column("kept_units", "whole units kept", Unit.COUNT),
        Column("kept_tokens", "tokens kept", Unit.TOKENS),
        Column("lost_tokens", "tokens to prefill in the second", Unit.TOKENS),
        Column("hit_rate", "hit rate", Unit.RATE),
    )
    total = difference.second_tokens
    rows = []
    for policy, unit in zip(policies, units, strict=True):
        count = kept_units(difference, unit)
        rows.append((policy.label, count, count * unit, total - count * unit, count * unit / total if total else None))
    note = f"The second prompt has {total:,} tokens ({difference.tokenizer}); no rule serves its last one."
    return Table("kept", "What a cache of the first serves to the second", columns, tuple(rows), note)


def _notes(difference: Difference) -> tuple[str, ...]:
    notes = []
    if not difference.same_model:
        notes.append("The models differ: neither can use the other's cache, whatever the text. Counted as one model.")
    if not difference.same_namespace:
        notes.append("The namespaces differ (salt, cache key or adapter): where they count, nothing is shared.")
    if difference.parameters:
        names = ", ".join(visible(name) for name in difference.parameters)
        notes.append(f"Parameters that enter some providers' cache keys differ: {names}.")
    return tuple(notes)
