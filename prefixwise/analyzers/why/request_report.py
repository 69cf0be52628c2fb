"""The report of `why --request`: one request in full."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from prefixwise.analyzers.diff import Verdict as Rendered
from prefixwise.analyzers.diff_report import context, kept_table, kept_under
from prefixwise.analyzers.lint.run import Linted
from prefixwise.analyzers.log_notes import log_notes
from prefixwise.analyzers.why.about import findings_about
from prefixwise.analyzers.why.accounts import Entry, claims_by_row, shares
from prefixwise.analyzers.why.document import WHY, ReproFiles, Said, Spot, WhyRequest
from prefixwise.analyzers.why.examine import Examined, ref_of
from prefixwise.analyzers.why.report import accounts_table
from prefixwise.analyzers.why.usage import said_of
from prefixwise.analyzers.why.words import gap_words, name_of
from prefixwise.caches.policy import Policy
from prefixwise.core.excerpt import Excerpts
from prefixwise.core.finding import Finding, Verdict
from prefixwise.core.report import Block, Cell, Column, Findings, Report, Table, Text, Unit

_LONGEST_CELL = 200
"""Characters of a text up to which it stands in a table."""
_RELATIONS = {
    "conversation": " of the same conversation",
    "application": " of the same application, another conversation",
    "prefix": " of another application",
}
_FINE = {
    Verdict.EXTENDS: "Nothing is wrong with this request: it repeats all of {before} and goes on.",
    Verdict.IDENTICAL: "Nothing is wrong with this request: it says what {before} said, word for word.",
    Verdict.PREFIX: "Nothing is wrong with this request: it is the beginning of {before}.",
    Verdict.SHARED: "Nothing is wrong with this request: it begins like {before}, and parts from it where another "
    "conversation's own text begins.",
    Verdict.BREAKS: "It parts from {before}, and no rule has anything against that.",
}


def request_report(
    linted: Linted,
    examined: Examined,
    policies: Sequence[Policy],
    excerpts: Excerpts = Excerpts.MASKED,
    repro: ReproFiles | None = None,
) -> Report:
    """Return the report of one request.

    Args:
        linted: The log.
        examined: The request.
        policies: Rules of caches to count under.
        excerpts: How much of the texts may be shown.
        repro: The smallest pair that still misses, where it was written.

    Raises:
        UserError: A rule that does not reuse units of a fixed size.
    """
    values = msgspec.structs.replace(request_values(linted, examined, policies, excerpts), repro=repro)
    corpus = linted.log.corpus
    return Report(
        schema=WHY.schema,
        schema_version=WHY.version,
        command="why",
        title=f"{values.request}: {', '.join(f.rule for f in values.findings) or 'no finding'}",
        blocks=tuple(_blocks(linted, examined, values)),
        values=values,
        inputs=corpus.inputs,
        notes=(*_notes(values), *log_notes(corpus)),
        fail_on=None,
    )


def request_values(
    linted: Linted, examined: Examined, policies: Sequence[Policy], excerpts: Excerpts = Excerpts.MASKED
) -> WhyRequest:
    """Return everything that is said of one request."""
    log, row, parted = linted.log, examined.row, examined.difference
    found = findings_about(linted, row, excerpts)
    usage = said_of(linted, examined)
    return WhyRequest(
        request=log.rows.ref(row),
        model=log.model(row),
        summary=_summary(linted, examined, found, usage),
        relation=examined.relation,
        compared_with=ref_of(linted, examined.before),
        seconds=None if examined.before is None else _seconds(linted, examined.before, row),
        verdict=examined.verdict,
        spot=_spot(examined, excerpts),
        prompt_tokens=log.rows.prompt_tokens[row] if parted is None else parted.second_tokens,
        kept_tokens=0 if parted is None else parted.kept_tokens,
        parts=examined.parts,
        usage=usage,
        settings=examined.settings,
        accounts=_accounts(linted, examined),
        findings=found,
        rules=() if parted is None else tuple(kept_under(parted, policy) for policy in policies),
    )


def _seconds(linted: Linted, before: int, after: int) -> float | None:
    gap = linted.log.times[after] - linted.log.times[before]
    return round(gap, 6) if abs(gap) < float("inf") else None


def _summary(linted: Linted, examined: Examined, found: Sequence[Finding], usage: Said) -> str:
    if found:
        return found[0].message
    before = name_of(linted, examined.before, examined.row)
    if examined.relation == "none":
        return "The first request of its application in this log: there is none that could have served it."
    if examined.relation == "prefix":
        return f"The first request of its application in this log; {before} of another one begins with the same text."
    if usage.agrees is False and examined.verdict is not Verdict.BREAKS:
        return f"The text does not explain the miss: {usage.sentence[0].lower()}{usage.sentence[1:]}"
    return _FINE.get(examined.verdict or Verdict.BREAKS, _FINE[Verdict.BREAKS]).format(before=before)


def _spot(examined: Examined, excerpts: Excerpts) -> Spot | None:
    parted = examined.difference
    if parted is None or parted.verdict is not Rendered.BREAKS:
        return None
    text_before, one, other = context(parted, excerpts)
    return Spot(parted.first_field, parted.second_field, parted.char_offset, text_before, one, other)


def _accounts(linted: Linted, examined: Examined) -> tuple[Entry, ...]:
    log, row = linted.log, examined.row
    claims = claims_by_row(linted).get(row, ())
    return tuple(
        Entry(s.account, s.rule or None, None, 1, s.tokens, log.usd(row, s.tokens) if s.rule else None)
        for s in shares(log, row, examined.pair, claims)
    )


def _blocks(linted: Linted, examined: Examined, values: WhyRequest) -> Iterator[Block]:
    yield Text("summary", (values.summary, _compared(linted, examined, values)))
    if values.spot is not None:
        yield _where_they_part(values.spot)
    if examined.before is not None:
        yield _parts_table(values)
    yield Text("usage", (values.usage.sentence,), "What the log reports")
    if values.settings:
        yield _settings_table(values)
    if values.findings:
        yield Findings("findings", "Findings", values.findings)
    if examined.difference is not None and values.rules:
        table = kept_table(examined.difference, values.rules)
        yield msgspec.structs.replace(
            table,
            title=f"What a cache that holds {name_of(linted, examined.before, examined.row)} serves",
            note="Units are the rule's whole blocks or pages, lost ones those of the earlier prompt; no rule serves a "
            f"prompt's last token. Counted by {examined.difference.tokenizer}.",
        )
    if values.accounts:
        yield accounts_table(values.accounts, of_one=True)
    if values.repro is not None:
        yield Text("repro", tuple(_repro(values.repro)), "The smallest pair that still misses")


def _compared(linted: Linted, examined: Examined, values: WhyRequest) -> str:
    if examined.before is None:
        return f"{values.model or 'No model named'}, {values.prompt_tokens:,} prompt tokens."
    before = name_of(linted, examined.before, examined.row)
    gap = "" if values.seconds is None else f", sent {gap_words(values.seconds)} before it"
    verdict = "" if examined.verdict is None else f" Verdict: {examined.verdict.replace('_', ' ')}."
    kept = f"It keeps {values.kept_tokens:,} of its {values.prompt_tokens:,} tokens."
    line = f"Compared with {before}{_RELATIONS[examined.relation]}{gap}. {kept}{verdict}"
    if examined.nearest is not None:
        nearest, shared = name_of(linted, examined.nearest, examined.row), linted.log.sharing.shared[examined.row]
        line += f" {nearest} shares more of its beginning: {shared:,} tokens."
    return line


def _where_they_part(spot: Spot) -> Block:
    """Return where two prompts part: a table, or paragraphs where the texts are shown whole."""
    if max(map(len, (spot.text_before, spot.before_text, spot.after_text))) <= _LONGEST_CELL:
        return _spot_table(spot)
    at = "" if spot.char_offset is None else f", character {spot.char_offset:,}"
    lines = (
        f"Earlier: {spot.before_field or '(ends here)'}; this: {spot.after_field or '(ends here)'}{at}.",
        f"Same text before: {spot.text_before}",
        f"Then, earlier: {spot.before_text}",
        f"Then, this: {spot.after_text}",
    )
    return Text("spot", lines, "Where they part")


def _spot_table(spot: Spot) -> Table:
    columns = (
        Column("request", "request"),
        Column("field", "field"),
        Column("char_offset", "character", Unit.COUNT),
        Column("before", "same text before"),
        Column("text", "then"),
    )
    rows: list[tuple[Cell, ...]] = [
        (name, field, spot.char_offset, spot.text_before, "(ends here)" if field is None else text)
        for name, field, text in (
            ("earlier", spot.before_field, spot.before_text),
            ("this", spot.after_field, spot.after_text),
        )
    ]
    note = "Characters are counted from 0 inside the field. Invisible characters are written as escapes."
    return Table("spot", "Where they part", columns, tuple(rows), note)


def _parts_table(values: WhyRequest) -> Table:
    columns = (
        Column("area", "area"),
        Column("kept_tokens", "tokens kept", Unit.TOKENS),
        Column("tokens", "of", Unit.TOKENS),
        Column("share", "share", Unit.RATE),
    )
    rows = tuple(
        (p.area, p.kept_tokens, p.tokens, p.kept_tokens / p.tokens if p.tokens else None) for p in values.parts
    )
    return Table("parts", "What survived", columns, rows)


def _settings_table(values: WhyRequest) -> Table:
    columns = (Column("kind", "differs"), Column("name", "name"), Column("before", "earlier"), Column("after", "this"))
    rows = tuple((s.kind, s.name, s.before, s.after) for s in values.settings)
    return Table("settings", "What differs beside the text", columns, rows)


def _repro(repro: ReproFiles) -> Iterator[str]:
    yield (
        f"Written to {repro.folder}: {', '.join(repro.files)}. The prompts have {repro.before_tokens:,} and "
        f"{repro.after_tokens:,} tokens; in the log, in its own words, {repro.before_were:,} and {repro.after_were:,}."
    )
    if not repro.shows:
        yield f"Without its words lint no longer reports {repro.rule}: it could not be kept."
    elif repro.kept:
        yield f"Lint still reports {repro.rule}, for which {len(repro.kept):,} words or numbers of the log had to stay."
    else:
        yield f"Lint still reports {repro.rule}; no word of the log had to stay."


def _notes(values: WhyRequest) -> Iterator[str]:
    kinds = {setting.kind for setting in values.settings}
    if "model" in kinds:
        yield "The models differ: neither can use the other's cache, whatever the text. Counted as one model."
    if "namespace" in kinds:
        yield "The namespaces differ (salt, cache key or adapter): where they count, nothing is shared."
