"""The report of a diff."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from prefixwise.analyzers.diff import Difference, Verdict, kept_units
from prefixwise.caches.policy import Policy
from prefixwise.core.envelope import DocumentKind
from prefixwise.core.errors import UserError
from prefixwise.core.excerpt import Excerpts, excerpt, excerpt_around, visible
from prefixwise.core.report import Block, Cell, Column, InputFile, Report, Table, Text, Unit


class Kept(msgspec.Struct, frozen=True):
    """What a cache of the first prompt serves to the second under one rule, in its units and in tokens.

    `lost_units` are whole units of the first prompt that the second cannot use; `prefill_tokens` are those that
    the second has to compute.
    """

    rule: str
    unit: int
    kept_units: int
    kept_tokens: int
    lost_units: int
    prefill_tokens: int


class DiffValues(msgspec.Struct, frozen=True):
    """The values of a diff report; fields as in `analyzers.diff.Difference`, texts as excerpts."""

    first: str
    second: str
    verdict: str
    kept_tokens: int
    first_tokens: int
    second_tokens: int
    first_differing_token: int | None
    first_field: str | None
    second_field: str | None
    kind: str
    role: str
    char_offset: int | None
    text_before: str
    first_text: str
    second_text: str
    parameters: tuple[str, ...]
    same_model: bool
    same_namespace: bool
    tokenizer: str
    rules: tuple[Kept, ...]


DIFF = DocumentKind("prefixwise/diff", 1, "where two prompts part, and what stays cached", DiffValues)

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
    kept = tuple(kept_under(difference, policy) for policy in policies)
    blocks: list[Block] = [Text("verdict", _summary(difference))]
    if difference.verdict is not Verdict.IDENTICAL:
        blocks.append(_place(difference, excerpts))
    blocks.append(kept_table(difference, kept))
    before, first_after, second_after = context(difference, excerpts)
    values = DiffValues(
        first=names[0],
        second=names[1],
        verdict=difference.verdict.name.lower(),
        kept_tokens=difference.kept_tokens,
        first_tokens=difference.first_tokens,
        second_tokens=difference.second_tokens,
        first_differing_token=None if difference.verdict is Verdict.IDENTICAL else difference.kept_tokens,
        first_field=difference.first_field,
        second_field=difference.second_field,
        kind=difference.kind,
        role=difference.role,
        char_offset=difference.char_offset,
        text_before=before,
        first_text=first_after,
        second_text=second_after,
        parameters=difference.parameters,
        same_model=difference.same_model,
        same_namespace=difference.same_namespace,
        tokenizer=difference.tokenizer,
        rules=kept,
    )
    return Report(
        schema=DIFF.schema,
        schema_version=DIFF.version,
        command="diff",
        title=f"{names[0]} against {names[1]}",
        blocks=tuple(blocks),
        values=values,
        inputs=inputs,
        notes=_notes(difference),
    )


def kept_under(difference: Difference, policy: Policy) -> Kept:
    """Return what is kept under one rule. Raises UserError for a rule that does not reuse units of a fixed size."""
    unit = unit_of(policy)
    units = kept_units(difference, unit)
    return Kept(
        rule=policy.label,
        unit=unit,
        kept_units=units,
        kept_tokens=units * unit,
        lost_units=difference.first_tokens // unit - units,
        prefill_tokens=difference.second_tokens - units * unit,
    )


def unit_of(policy: Policy) -> int:
    """Return the tokens that a rule reuses as a whole. Raises UserError for one that has no fixed unit."""
    if policy.unit is None:
        raise UserError(
            "two prompts are counted under rules that reuse units of a fixed size", f"--under {policy.label}"
        )
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


def context(difference: Difference, excerpts: Excerpts) -> tuple[str, str, str]:
    """Return the text before the difference, and what follows it in the first and in the second prompt."""
    if difference.char_offset is None:
        return "", excerpt(difference.first_text, excerpts), excerpt(difference.second_text, excerpts)
    before, first_after = excerpt_around(difference.first_text, difference.char_offset, excerpts)
    _, second_after = excerpt_around(difference.second_text, difference.char_offset, excerpts)
    return before, first_after, second_after


def _place(difference: Difference, excerpts: Excerpts) -> Table:
    before, first_after, second_after = context(difference, excerpts)
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
        ("first", difference.first_field, first_after),
        ("second", difference.second_field, second_after),
    ):
        role = difference.role or difference.kind
        rows.append((name, field, role if field is not None else None, difference.char_offset, before,
                     "(ends here)" if field is None else after))  # fmt: skip
    note = "Characters are counted from 0 inside the field. Invisible characters are written as escapes."
    return Table("place", "Where they part", columns, tuple(rows), note)


def kept_table(difference: Difference, kept: tuple[Kept, ...]) -> Table:
    """Return the table of what each rule keeps."""
    columns = (
        Column("rule", "rule"),
        Column("kept_units", "units kept", Unit.COUNT),
        Column("lost_units", "units lost", Unit.COUNT),
        Column("kept_tokens", "tokens kept", Unit.TOKENS),
        Column("prefill_tokens", "to prefill", Unit.TOKENS),
        Column("hit_rate", "hit rate", Unit.RATE),
    )
    total = difference.second_tokens
    rows = tuple(
        (k.rule, k.kept_units, k.lost_units, k.kept_tokens, k.prefill_tokens, k.kept_tokens / total if total else None)
        for k in kept
    )
    note = (
        "Units are the rule's whole blocks or pages, lost ones those of the first prompt. The second prompt has "
        f"{total:,} tokens ({difference.tokenizer}); no rule serves its last one."
    )
    return Table("kept", "What a cache of the first serves to the second", columns, rows, note)


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
