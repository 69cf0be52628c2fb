"""A check as a report."""

from __future__ import annotations

from prefixwise.analyzers.builder_check.check import Checked, Turn, Turned
from prefixwise.analyzers.builder_check.document import CHECK, CheckValues, KnobOutcome, Place, VariantOutcome
from prefixwise.analyzers.diff_report import context
from prefixwise.core.excerpt import Excerpts, visible
from prefixwise.core.report import Block, Cell, Column, Report, Requirement, Table, Text, Unit

NO_SANDBOX = (
    "The builder ran with your rights, on your files: this is no sandbox. Other programs and compiled code that ask "
    "the system themselves see the real clock."
)
_WHERE = {
    "system": "the end of the instructions",
    "tools": "the end of the tools",
    "last-user": "the last message of the user",
}
_MOST_NAMED = 8


def check_report(checked: Checked, min_tokens: int | None = None, excerpts: Excerpts = Excerpts.MASKED) -> Report:
    """Return the report; with `min_tokens` it requires a stable prefix of that many tokens."""
    requirements: tuple[Requirement, ...] = ()
    if min_tokens is not None:
        met = checked.stable_tokens >= min_tokens
        requirements = (Requirement(f"stable_tokens>={min_tokens}", checked.stable_tokens, met),)
    every = (checked.unperturbed, *checked.knobs)
    blocks: list[Block] = [Text("verdict", _verdict(checked)), _knobs(every)]
    if any(turned.answer == "moved" for turned in every):
        blocks.append(_places(checked, every, excerpts))
    values = CheckValues(
        builder=checked.target,
        verdict=checked.answer,
        until=checked.until,
        whole_prompt=checked.whole,
        stable_tokens=checked.stable_tokens,
        tokens=checked.tokens,
        tokenizer=checked.tokenizer,
        unperturbed=_outcome(checked.unperturbed, checked, excerpts),
        knobs=tuple(_outcome(turned, checked, excerpts) for turned in checked.knobs),
        held_random=checked.held,
        runs=checked.runs,
        python=checked.python,
        variables=checked.variables,
        replaced_variables=checked.replaced,
        refused_addresses=checked.refused,
        programs=checked.programs,
    )
    return Report(
        schema=CHECK.schema,
        schema_version=CHECK.version,
        command="check",
        title=f"{checked.target} under Python {checked.python}",
        blocks=tuple(blocks),
        values=values,
        notes=_notes(checked),
        requirements=requirements,
    )


def exit_code(checked: Checked, report: Report) -> int:
    """Return 0 where the prefix is stable, 1 where it moved or a requirement is not met, 3 where nothing was tested."""
    if checked.answer == "moved" or report.exit_code:
        return 1
    return 0 if checked.answer == "stable" else 3


def told(checked: Checked) -> str:
    """Return in a few lines what moved, for the message of a failed test."""
    lines = list(_verdict(checked))
    for turned in (checked.unperturbed, *checked.knobs):
        turn = _shortest(turned)
        if turn is None or turn.moved is None:
            continue
        before, one, other = context(turn.moved, Excerpts.MASKED)
        where = _field(turn.moved.second_field or turn.moved.first_field, checked)
        at = "" if turn.moved.char_offset is None else f", character {turn.moved.char_offset:,}"
        lines.append(
            f"  {turned.title} ({_by(turned)}): {where or 'the text'}{at}: {before!r} then {one!r} or {other!r}"
        )
    return "\n".join(lines)


def _verdict(checked: Checked) -> tuple[str, ...]:
    where = "the whole prompt" if checked.whole or checked.is_text else _WHERE[checked.until]
    reach = f"{checked.stable_tokens:,} of {checked.tokens:,} tokens up to {where}"
    if checked.is_text or checked.whole:
        reach = f"{checked.stable_tokens:,} of {checked.tokens:,} tokens of {where}"
    if checked.answer == "moved":
        movers = [turned.title for turned in checked.knobs if turned.answer == "moved" and turned.name != "all"]
        if checked.unperturbed.answer == "moved":
            movers = ["nothing that was changed (random)", *movers]
        return (f"The prefix moves: {reach} are stable.", f"Moved by: {', '.join(movers or ['all together'])}.")
    if checked.answer == "stable":
        return (f"The prefix is stable: {reach} came the same in {checked.runs:,} runs.",)
    return ("Nothing was tested: the builder asked for nothing that was changed.",)


def _knobs(every: tuple[Turned, ...]) -> Table:
    columns = (
        Column("changed", "changed"),
        Column("verdict", "prefix"),
        Column("by", "by"),
        Column("kept_tokens", "tokens kept", Unit.TOKENS),
    )
    rows: list[tuple[Cell, ...]] = []
    for turned in every:
        turn = _shortest(turned)
        by = _by(turned) if turned.answer == "moved" else visible(turned.why)
        rows.append((turned.title, turned.answer, by, turn.moved.kept_tokens if turn and turn.moved else None))
    note = "One thing is changed at a time. What nothing asked for is not tested, whatever came out."
    return Table("knobs", "What was changed, and what came of it", columns, tuple(rows), note)


def _by(turned: Turned) -> str:
    """Name the variants that moved the prompt."""
    labels = [turn.label for turn in turned.turns if turn.moved is not None]
    if turned.name in ("hash-seed", "random-seed", "none"):
        of = {"none": "runs"}.get(turned.name, "seeds")
        return f"{len(labels)} of {len(turned.turns)} {'other ' if of == 'runs' else ''}{of}"
    return ", ".join(labels)


def _places(checked: Checked, every: tuple[Turned, ...], excerpts: Excerpts) -> Table:
    columns = (
        Column("changed", "changed"),
        Column("field", "field"),
        Column("char_offset", "character", Unit.COUNT),
        Column("before", "same text before"),
        Column("unperturbed", "then"),
        Column("moved", "or"),
    )
    rows: list[tuple[Cell, ...]] = []
    for turned in every:
        turn = _shortest(turned)
        if turn is None or turn.moved is None:
            continue
        place = _place(turn, checked, excerpts)
        by = turned.title if turned.name in ("none", "all") else f"{turned.title}, {turn.label}"
        rows.append((by, visible(place.field) or "the text", place.char_offset, place.text_before,
                     place.unperturbed_text, place.moved_text))  # fmt: skip
    note = f"The earliest place of each. Characters are counted from 0 inside the field, tokens by {checked.tokenizer}."
    return Table("places", "Where the prompt moves", columns, tuple(rows), note)


def _shortest(turned: Turned) -> Turn | None:
    """Return the variant that keeps least; the first of several."""
    moved = [turn for turn in turned.turns if turn.moved is not None]
    return min(moved, key=lambda turn: turn.moved.kept_tokens if turn.moved else 0, default=None)


def _outcome(turned: Turned, checked: Checked, excerpts: Excerpts) -> KnobOutcome:
    variants = tuple(
        VariantOutcome(turn.label, turn.answer, _place(turn, checked, excerpts) if turn.moved else None, turn.problem)
        for turn in turned.turns
    )
    return KnobOutcome(turned.name, turned.answer, turned.why, variants)


def _place(turn: Turn, checked: Checked, excerpts: Excerpts) -> Place:
    moved = turn.moved
    if moved is None:
        raise ValueError("this variant moved nothing")
    before, one, other = context(moved, excerpts)
    field = moved.second_field if moved.second_field is not None else moved.first_field
    return Place(
        field=_field(field, checked),
        kind=moved.kind,
        role=moved.role,
        char_offset=moved.char_offset,
        kept_tokens=moved.kept_tokens,
        text_before=before,
        unperturbed_text=one,
        moved_text=other,
    )


def _field(field: str | None, checked: Checked) -> str:
    """Return the pointer as the builder's caller knows it: a bare text has none."""
    return "" if field is None or (checked.is_text and field == "/prompt") else field


def _notes(checked: Checked) -> tuple[str, ...]:
    notes = []
    if checked.whole:
        notes.append(f"Nothing stands before {_WHERE[checked.until]}, so the whole prompt was compared.")
    if checked.unperturbed.answer == "moved":
        how = (
            "Random numbers were then held still" if checked.held else "What else was changed was compared up to there"
        )
        notes.append(f"The prompt moved with nothing changed. {how}.")
    if checked.replaced:
        names = _named(checked.replaced)
        notes.append(f"Read, but replaced since they look like secrets: {names}. --pass-env NAME passes one on.")
    if checked.refused:
        notes.append(f"The network was refused: {_named(checked.refused)}. --allow-network allows it.")
    if checked.programs:
        notes.append(f"Programs were started, whose clock is the real one: {_named(checked.programs)}.")
    broken = [turned for turned in checked.knobs if turned.answer != "not tested"
              and any(turn.problem for turn in turned.turns)]  # fmt: skip
    for turned in broken:
        turn = next(turn for turn in turned.turns if turn.problem)
        notes.append(f"The builder does not run with {turned.title} {turn.label}: {visible(turn.problem)}.")
    return (*notes, NO_SANDBOX)


def _named(names: tuple[str, ...]) -> str:
    shown = ", ".join(visible(name) for name in names[:_MOST_NAMED])
    return shown + (f" and {len(names) - _MOST_NAMED} more" if names[_MOST_NAMED:] else "")
