"""The report of `why --request`: one request in full."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from prefixwise.analyzers.diff import Verdict as Rendered
from prefixwise.analyzers.diff_report import context, kept_table, kept_under
from prefixwise.analyzers.lint.compared import Served
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.lint.run import Linted
from prefixwise.analyzers.log_notes import log_notes
from prefixwise.analyzers.why.about import findings_about
from prefixwise.analyzers.why.accounts import Entry, claims_by_row, shares
from prefixwise.analyzers.why.document import WHY, ReproFiles, Said, Spot, WhyRequest
from prefixwise.analyzers.why.examine import Examined, ref_of
from prefixwise.analyzers.why.report import accounts_table
from prefixwise.caches.policy import Policy
from prefixwise.core.excerpt import Excerpts
from prefixwise.core.finding import Finding, Verdict
from prefixwise.core.report import Block, Cell, Column, Findings, Report, Table, Text, Unit

_SAME_COUNT = 0.01
"""How far our count may be off the provider's before it is said whose a number is."""
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
    usage = _usage(linted, examined)
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
    before = ref_of(linted, examined.before)
    if examined.relation == "none":
        return "The first request of its application in this log: there is none that could have served it."
    if examined.relation == "prefix":
        return f"The first request of its application in this log; {before} of another one begins with the same text."
    if usage.agrees is False and examined.verdict is not Verdict.BREAKS:
        return f"The text does not explain the miss: {usage.sentence[0].lower()}{usage.sentence[1:]}"
    return _FINE.get(examined.verdict or Verdict.BREAKS, _FINE[Verdict.BREAKS]).format(before=before)


def _usage(linted: Linted, examined: Examined) -> Said:
    log, row = linted.log, examined.row
    prompt, written = log.rows.reported_prompt[row], log.written(row)
    agrees, sentence = _agreement(linted, examined)
    return Said(None if prompt < 0 else prompt, log.cached(row), written, agrees, sentence)


def _agreement(linted: Linted, examined: Examined) -> tuple[bool | None, str]:
    """Return whether usage fits the texts, None where it cannot tell, and that as a sentence."""
    log, pair = linted.log, examined.pair
    cached = log.cached(examined.row)
    if cached is None:
        return None, "The log does not report cached tokens for this request."
    said = f"Usage reports {cached:,} cached tokens of {log.prompt(examined.row):,}"
    own = " as the provider counts" if abs(log.ratio[examined.row] - 1) > _SAME_COUNT else ""
    if pair is None:
        more = ": requests before it are missing from the log" if cached else ""
        return None, f"{said}; no earlier request of its application is in the log{more}."
    kept = log.scaled(examined.row, pair.kept)
    if pair.served is Served.UNKNOWN:
        return (
            None,
            f"{said}; both prompts begin with the same {kept:,}{own}: too little is at stake to tell hit from miss.",
        )
    if pair.served is Served.HIT:
        if pair.verdict is Verdict.BREAKS:
            return (
                False,
                f"{said}, more than the {kept:,}{own} that both texts begin with: the break is not what it seems.",
            )
        return True, f"{said}: what both prompts begin with was served."
    if pair.verdict is Verdict.BREAKS:
        return True, f"{said}: nothing behind the first difference was served{_short_of(log, examined.row, kept)}."
    return False, f"{said}, though both texts begin with the same {kept:,}{own}: it is not the text that missed."


def _short_of(log: Log, row: int, kept: int) -> str:
    """Say in a clause that not even what the texts share was served, and whether that was too little for the cache."""
    if (log.cached(row) or 0) >= kept / 2:
        return ""
    least = log.minimum(row)
    too_few = least is not None and least.high is not None and kept < least.high
    return (
        f", and of the {kept:,} before it none, for {least.high:,} is the least that this cache keeps"
        if (too_few and least is not None)
        else f", and not even the {kept:,} before it"
    )


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
        yield _spot_table(values.spot)
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
            title=f"What a cache of {values.compared_with} serves to it",
            note="Units are the rule's whole blocks or pages, lost ones those of the earlier prompt; no rule serves a "
            f"prompt's last token. Counted by {examined.difference.tokenizer}.",
        )
    if values.accounts:
        yield accounts_table(values.accounts, of_one=True)
    if values.repro is not None:
        yield Text("repro", tuple(_repro(values.repro)), "The smallest pair that still misses")


def _compared(linted: Linted, examined: Examined, values: WhyRequest) -> str:
    before = values.compared_with
    if before is None:
        return f"{values.model or 'No model named'}, {values.prompt_tokens:,} prompt tokens."
    says = {
        "conversation": "of the same conversation",
        "application": "of the same application, another conversation",
        "prefix": "of another application",
    }[examined.relation]
    gap = (
        ""
        if values.seconds is None
        else f" {values.seconds:,.3g} s later"
        if values.seconds < 100
        else (f" {values.seconds:,.0f} s later")
    )
    verdict = "" if examined.verdict is None else f" Verdict: {examined.verdict.replace('_', ' ')}."
    kept = f"It keeps {values.kept_tokens:,} of its {values.prompt_tokens:,} tokens."
    line = f"Compared with {before}, {says}, which it follows{gap}. {kept}{verdict}"
    nearest = ref_of(linted, examined.nearest)
    if nearest is not None:
        line += f" {nearest} shares more of its beginning: {linted.log.sharing.shared[examined.row]:,} tokens."
    return line


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
        f"{repro.after_tokens:,} tokens, of {repro.before_were:,} and {repro.after_were:,}; their words are replaced."
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
