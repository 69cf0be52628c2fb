"""The hit-rate report: tables for people, values for machines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from prefixwise.analyzers.accounts.accounted import Accounted
from prefixwise.analyzers.accounts.report import account_blocks, fix_blocks, fixes_summary
from prefixwise.analyzers.advice.report import advice_blocks
from prefixwise.analyzers.group_names import group_name
from prefixwise.analyzers.hitrate import CEILING, Counts, Group, HitRate
from prefixwise.analyzers.hitrate_over_time import over_time_block
from prefixwise.analyzers.hitrate_values import HITRATE, hit_rate_values
from prefixwise.analyzers.log_notes import log_notes
from prefixwise.analyzers.prompt_cost import REPORTED
from prefixwise.analyzers.prompt_cost_report import cost_table, price_table, unpriced_note
from prefixwise.analyzers.replica_balance import balance_blocks
from prefixwise.analyzers.sharing_tree import Branch, sharing_tree
from prefixwise.analyzers.sharing_tree_report import sharing_tree_block
from prefixwise.analyzers.weights import ModelTokens, factors, is_believable
from prefixwise.caches.policy import Reason
from prefixwise.core.condition import Condition
from prefixwise.core.excerpt import Excerpts
from prefixwise.core.report import Block, Cell, Column, Report, Table, Text, Unit
from prefixwise.core.request import Ref
from prefixwise.corpus.corpus import Corpus
from prefixwise.corpus.reader import FIELDS
from prefixwise.corpus.rows import Rows
from prefixwise.corpus.tokenizer import Exactness

_MOST_GROUPS = 20
_MOST_MODELS = 20
FIGURES = ("hit_rate", "reported_hit_rate", "achievable_hit_rate", "ceiling", "cached_tokens", "cost_usd", "saved_usd")
"""What `--require` can name: of the first rule, of the log's usage, of the ceiling; costs are the first rule's."""

_FAR = 0.1
_REASONS = {
    Reason.FIRST_SEEN: "new",
    Reason.GRANULARITY: "within a unit",
    Reason.ISOLATED: "isolated",
    Reason.EVICTED: "evicted",
    Reason.EXPIRED: "expired",
    Reason.IN_FLIGHT: "in flight",
}


def hit_rate_report(
    corpus: Corpus,
    result: HitRate,
    conditions: Sequence[Condition] = (),
    excerpts: Excerpts = Excerpts.MASKED,
    accounted: Accounted | None = None,
    *,
    brief: bool = False,
) -> Report:
    """Return the report of a hit-rate count, and how `conditions` on its `FIGURES` came out.

    Where `brief`, nobody asked for the groups: people at a terminal get the first of them.
    """
    figures = _figures(result, accounted)
    branches = _branches(corpus, result, accounted, excerpts)
    first = (*(fixes_summary(accounted.fixed) if accounted and accounted.fixed else ()), *_summary(result))
    blocks: list[Block] = [Text("summary", first)]
    if accounted is not None and accounted.fixed is not None:
        blocks.extend(fix_blocks(accounted.fixed))
    blocks.append(_totals(result.totals, corpus.rows.tree.grain))
    if accounted is not None:
        blocks.extend(advice_blocks(accounted.advice) if accounted.advice else ())
        blocks.extend(account_blocks(accounted.totals, excerpts, brief=brief))
    if result.over_time is not None:
        blocks.append(over_time_block(result.over_time))
    if any(branch.level for branch in branches):
        blocks.append(sharing_tree_block(branches, sum(branch.weight for branch in branches if branch.level == 0)))
    if result.cost.totals:
        estimated = {m.model for m in result.models if m.exactness is Exactness.ESTIMATED}
        blocks.append(cost_table(result.cost, estimated))
    blocks.extend(_groups(field, groups, excerpts, brief=brief) for field, groups in result.by.items())
    blocks.extend(balance_blocks(accounted.replicas) if accounted and accounted.replicas else ())
    if result.prefixes:
        blocks.append(_prefixes(result))
    if result.lost:
        blocks.append(_lost(corpus, result))
    if result.models:
        blocks.append(_models(result.models))
    if result.cost.models:
        blocks.append(price_table(result.cost.models))
    if corpus.broken:
        blocks.append(_broken(corpus))
    return Report(
        schema=HITRATE.schema,
        schema_version=HITRATE.version,
        command="hitrate",
        title=f"Prefix cache hit rate of {_plural(len(corpus.rows), 'request')}",
        blocks=tuple(blocks),
        values=hit_rate_values(corpus, result, excerpts, accounted, branches),
        inputs=corpus.inputs,
        notes=(*_notes(corpus, result), *(accounted.advice.notes if accounted and accounted.advice else ())),
        requirements=tuple(condition.check(figures) for condition in conditions),
    )


def _branches(corpus: Corpus, result: HitRate, accounted: Accounted | None, excerpts: Excerpts) -> tuple[Branch, ...]:
    """Return the sharing tree, broken where a finding stands whose fix was counted."""
    gains = accounted.fixed.gains if accounted is not None and accounted.fixed is not None else ()
    weights = factors(corpus.rows, result.models)
    return sharing_tree(corpus, weights, [gain.finding for gain in gains if gain.saved_tokens > 0], excerpts)


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def _figures(result: HitRate, accounted: Accounted | None) -> dict[str, float | None]:
    by_rule = {counts.rule: counts for counts in result.totals}
    first = by_rule[first_rule(result)]
    reported = by_rule.get(REPORTED)
    cost = next((cost for cost in result.cost.totals if cost.rule == first.rule), None)
    return {
        "hit_rate": first.hit_rate,
        "reported_hit_rate": reported.hit_rate if reported else None,
        "ceiling": by_rule[CEILING].hit_rate,
        "achievable_hit_rate": accounted.fixed.after.hit_rate if accounted and accounted.fixed else None,
        "cached_tokens": float(first.cached_tokens),
        "cost_usd": cost.cost_usd if cost else None,
        "saved_usd": cost.saved_usd if cost else None,
    }


def first_rule(result: HitRate) -> str:
    """Return the label of the first rule asked for."""
    return next(counts.rule for counts in result.totals if counts.rule not in (REPORTED, CEILING))


def _summary(result: HitRate) -> tuple[str, ...]:
    """Say the main figure in a sentence, and where to look when the log's usage says otherwise."""
    by_rule = {counts.rule: counts for counts in result.totals}
    rule = first_rule(result)
    modelled, reported = by_rule[rule], by_rule.get(REPORTED)
    if modelled.hit_rate is None:
        return ("The requests hold no prompt tokens.",)
    lines = [f"A cache under {rule} serves {100 * modelled.hit_rate:.1f} % of the prompt tokens."]
    if reported is not None and reported.hit_rate is not None:
        lines[0] += f" The log reports {100 * reported.hit_rate:.1f} %."
        if modelled.hit_rate - reported.hit_rate > _FAR:
            lines.append(
                "Far fewer are reported than were shared: not the text, but a minimum length, expiry, another "
                "replica, eviction or a missing cache marker took them, or the provider does not report them."
            )
    return tuple(lines)


def _short(ref: Ref, corpus: Corpus) -> str:
    """Return a record's address without what all files share."""
    if len(corpus.inputs) == 1:
        return f"#{ref.record}"
    names = [PurePath(file.path).name for file in corpus.inputs]
    name = PurePath(ref.path).name
    return f"{name}#{ref.record}" if names.count(name) == 1 else str(ref)


def _totals(totals: tuple[Counts, ...], grain: int) -> Table:
    outputs = any(counts.without_answers is not None for counts in totals)
    columns = [
        Column("rule", "rule"),
        Column("requests", "requests", Unit.COUNT),
        Column("prompt_tokens", "prompt tokens", Unit.TOKENS),
        Column("cached_tokens", "saved prefill", Unit.TOKENS),
        Column("hit_rate", "hit rate", Unit.RATE),
    ]
    if outputs:
        columns.append(Column("hit_rate_without_answers", "no answers", Unit.RATE))
    doubted = any(counts.least != counts.most for counts in totals)
    if doubted:
        columns += [Column("hit_rate_least", "at least", Unit.RATE), Column("hit_rate_most", "at most", Unit.RATE)]
    writes = any(counts.written_tokens is not None for counts in totals)
    if writes:
        columns.append(Column("written_tokens", "written", Unit.TOKENS))
    rows = []
    for counts in totals:
        cells: list[Cell] = [
            counts.rule,
            counts.requests,
            counts.prompt_tokens,
            counts.cached_tokens,
            counts.hit_rate,
        ]
        if outputs:
            cells.append(_share(counts.without_answers, counts))
        if doubted:
            differ = counts.least != counts.most
            cells += [_share(counts.least if differ else None, counts), _share(counts.most if differ else None, counts)]
        if writes:
            cells.append(counts.written_tokens)
        rows.append(tuple(cells))
    note = "Ceiling: token by token, in one namespace a model."
    if grain > 1:
        note = f"Ceiling: in one namespace a model, as far as the trace's {grain}-token blocks tell."
    if totals[0].rule == REPORTED:
        note = f"Reported: what the log's own usage says. {note}"
    if outputs:
        note += " No answers: the rate if answers did not enter the cache."
    if doubted:
        note += " At least, at most: with the ends of what sources disagree on or nobody states of a provider's cache."
    note += " Rules are replayed in start order; one without a capacity or a lifetime keeps everything."
    return Table("rules", "Hit rate by rule", tuple(columns), tuple(rows), note)


def _share(tokens: int | None, counts: Counts) -> float | None:
    return None if tokens is None or not counts.prompt_tokens else tokens / counts.prompt_tokens


def _groups(field: str, groups: tuple[Group, ...], excerpts: Excerpts, *, brief: bool) -> Table:
    rules = list(dict.fromkeys(counts.rule for group in groups for counts in group.counts))
    columns = [
        Column(field, field),
        Column("requests", "requests", Unit.COUNT),
        Column("prompt_tokens", "prompt tokens", Unit.TOKENS),
        *(Column(f"hit_rate {rule}", rule, Unit.RATE) for rule in rules),
    ]
    rows = []
    for group in groups[:_MOST_GROUPS]:
        by_rule = {counts.rule: counts for counts in group.counts}
        base = by_rule[CEILING]
        rates = (by_rule[rule].hit_rate if rule in by_rule else None for rule in rules)
        rows.append((group_name(field, group.number, group.name, excerpts), base.requests, base.prompt_tokens, *rates))
    left = len(groups) - _MOST_GROUPS
    note = f"{left} more, with fewer tokens each, are in the JSON." if left > 0 else ""
    return Table(f"by_{field}", f"By {field}", tuple(columns), tuple(rows), note, brief=brief)


def _prefixes(result: HitRate) -> Table:
    columns = [
        Column("requests", "requests", Unit.COUNT),
        Column("tokens", "tokens", Unit.TOKENS),
        Column("saved_tokens", "saved tokens", Unit.TOKENS),
    ]
    rows: list[tuple[Cell, ...]] = [(p.requests, p.tokens, p.saved_tokens) for p in result.prefixes]
    if any(p.head or p.tail for p in result.prefixes):
        columns += [Column("head", "begins"), Column("tail", "ends")]
        rows = [(*row, p.head, p.tail) for row, p in zip(rows, result.prefixes, strict=True)]
    note = "Saved: what caching this prefix adds to the prefixes listed above it."
    return Table("shared_prefixes", "Most shared prefixes", tuple(columns), tuple(rows), note)


def _lost(corpus: Corpus, result: HitRate) -> Table:
    columns = [
        Column("request", "request"),
        Column("prompt_tokens", "tokens", Unit.TOKENS),
        Column("cached_tokens", "cached", Unit.TOKENS),
        Column("nearest", "nearest"),
        Column("differs_at", "differs at", Unit.TOKENS),
        Column("reason", "rest is"),
    ]
    rows: list[tuple[Cell, ...]] = [
        (
            _short(lost.at, corpus),
            lost.prompt_tokens,
            lost.cached_tokens,
            _short(lost.nearest, corpus) if lost.nearest else None,
            lost.parts_after,
            _REASONS[lost.reason],
        )
        for lost in result.lost
    ]
    if any(lost.then for lost in result.lost):
        columns.insert(-1, Column("then", "continues with"))
        rows = [(*row[:-1], lost.then, row[-1]) for row, lost in zip(rows, result.lost, strict=True)]
    note = (
        f"Under {first_rule(result)}; the first request of each family is left out. Nearest: the earlier request with "
        "the longest common prefix; differs at: its length in tokens."
    )
    worst = next((lost for lost in result.lost if lost.nearest), None)
    if worst is not None and corpus.index is not None:
        note += f" See where the first one parts: prefixwise diff '{worst.nearest}' '{worst.at}'"
    return Table("lost_most", "Requests that lost most", tuple(columns), tuple(rows), note)


def _models(models: tuple[ModelTokens, ...]) -> Table:
    columns = (
        Column("model", "model"),
        Column("tokenizer", "tokenizer"),
        Column("exactness", "counts are"),
        Column("factor", "factor"),
        Column("calibrated_on", "with usage", Unit.COUNT),
        Column("reported_over_counted", "reported / counted", Unit.RATE),
    )
    rows: list[tuple[Cell, ...]] = []
    for m in sorted(models, key=lambda m: -m.calibrated_on)[:_MOST_MODELS]:
        factor = f"{m.factor:.3f}" if m.exactness is Exactness.ESTIMATED and m.calibrated_on else None
        rows.append(
            (
                m.model or "(no model)",
                m.tokenizer,
                m.exactness.value,
                factor,
                m.calibrated_on or None,
                m.reported_over_counted,
            )
        )
    note = (
        "With usage: requests whose usage says their prompt tokens. Factor: what estimates were multiplied by to agree "
        "with it."
    )
    return Table("models", "How tokens were counted", columns, tuple(rows), note)


def _broken(corpus: Corpus) -> Table:
    columns = (
        Column("path", "file"),
        Column("record", "record", Unit.COUNT),
        Column("line", "line", Unit.COUNT),
        Column("reason", "why it was skipped"),
    )
    rows = tuple((b.path, b.record, b.line or None, b.reason) for b in corpus.broken)
    return Table("broken", "Broken records", columns, rows, "The first ones; all are counted with their file.")


def _notes(corpus: Corpus, result: HitRate) -> tuple[str, ...]:
    notes = list(corpus.facts)
    rows = corpus.rows
    if len(rows) == 1:
        notes.append("One request has nothing to share: `tokens` shows what it is made of, `diff` compares two.")
    absent = [field for field in result.by if _is_absent(rows, field)]
    notes.extend(f"No {field} was found in any record{_advice(field)}." for field in absent)
    notes.extend(log_notes(corpus))
    notes.extend(result.notes)
    if corpus.index is not None and all(start != start for start in rows.start):
        ended = any(end == end for end in rows.end)
        order = "by the end of each request" if ended else "in the order of the file"
        notes.append(f"The log has no start times: requests are taken {order}.")
    if not any(counts.rule == REPORTED for counts in result.totals):
        notes.append("The log reports no cached tokens: there is nothing to compare the rules with.")
    if result.uncertain_media:
        low = sum(band[0] for band in rows.bands.values())
        high = sum(band[1] for band in rows.bands.values())
        notes.append(
            f"{_plural(result.uncertain_media, 'request')} with media of unknown size: their prompt tokens may be "
            f"{low:,} fewer or {high:,} more in all."
        )
    if unpriced := unpriced_note(result.cost):
        notes.append(unpriced)
    notes.extend(_estimates(result.models))
    return tuple(notes)


def _is_absent(rows: Rows, field: str) -> bool:
    return field != "family" and rows.group(field)[1].names == [""]


def _advice(field: str) -> str:
    return f"; --{field}-field names its place, seen from one record" if field in FIELDS else ""


def _estimates(models: tuple[ModelTokens, ...]) -> list[str]:
    """Say for which models token counts are estimates, one line a reason."""
    by_reason: dict[str, list[str]] = {}
    for m in models:
        if m.exactness is Exactness.ESTIMATED:
            by_reason.setdefault(m.note, []).append(m.model or "(no model)")
    notes = [
        f"Token counts are estimates for {', '.join(names[:5])}{', …' if len(names) > 5 else ''}: {reason}."
        for reason, names in by_reason.items()
    ]
    return notes + [
        f"The usage of {m.model} counts {m.reported_over_counted:,.2g} times the tokens that the log holds of its "
        "prompts: the log is not whole, or the usage counts twice; estimates were not set right by it."
        for m in models
        if m.reported_over_counted and not is_believable(m.reported_over_counted)
    ]
