"""Hit rates: what the log reports, what cache rules give, and what no rule can exceed."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import msgspec

from prefixwise.analyzers.hitrate_over_time import OverTime, over_time
from prefixwise.analyzers.prompt_cost import REPORTED, PromptCost, prompt_cost
from prefixwise.analyzers.shared_prefixes import SharedPrefix, most_shared, text_after
from prefixwise.analyzers.weights import ModelTokens, factors, model_tokens
from prefixwise.caches.policy import Policy, Reason, Replay, parse_policy
from prefixwise.caches.rulebook import Rulebook
from prefixwise.caches.sharing import sharing
from prefixwise.core.errors import UserError
from prefixwise.core.excerpt import Excerpts
from prefixwise.core.request import Ref
from prefixwise.corpus.corpus import Corpus
from prefixwise.corpus.rows import GROUPS, NONE, Rows

DEFAULT_RULES = ("vllm", "sglang")
CEILING = "ceiling"
_LOST = 10
_PREFIXES = 10


class Counts(msgspec.Struct, frozen=True):
    """Cached prompt tokens under one rule, over some requests.

    Attributes:
        rule: Label of the rule; `reported` or `ceiling`.
        requests: How many were counted (for `reported`: those whose usage says both figures).
        prompt_tokens, cached_tokens: In tokens; of models without a public tokenizer, calibrated.
        without_answers: Cached tokens if answers did not enter the cache; None where that makes no difference.
        least, most: Cached tokens at the ends of what is not known of the rule; None without doubt.
        written_tokens: Tokens written that are charged as such; None where writing is not.
    """

    rule: str
    requests: int
    prompt_tokens: int
    cached_tokens: int
    without_answers: int | None = None
    least: int | None = None
    most: int | None = None
    written_tokens: int | None = None

    @property
    def hit_rate(self) -> float | None:
        """Cached over prompt tokens, None without any."""
        return self.cached_tokens / self.prompt_tokens if self.prompt_tokens else None


class Group(msgspec.Struct, frozen=True):
    """One value of the field that `--by` names; `number` tells families of one name apart."""

    name: str
    number: int
    counts: tuple[Counts, ...]


class Lost(msgspec.Struct, frozen=True):
    """A request that had to prefill most although an earlier one of its family existed.

    Attributes:
        at: The request; `nearest`: the earlier request with the longest common prefix, if any.
        parts_after: Tokens of that common prefix; `then`: the text that follows it here.
        reason: Why the rule gave no more.
    """

    at: Ref
    nearest: Ref | None
    prompt_tokens: int
    cached_tokens: int
    parts_after: int
    reason: Reason
    then: str


class HitRate(msgspec.Struct, frozen=True):
    """Totals by rule, groups, costs, rates over time, the most shared prefixes, the requests that lost most."""

    totals: tuple[Counts, ...]
    by: dict[str, tuple[Group, ...]]
    cost: PromptCost
    models: tuple[ModelTokens, ...]
    prefixes: tuple[SharedPrefix, ...]
    lost: tuple[Lost, ...]
    uncertain_media: int
    notes: tuple[str, ...] = ()
    over_time: OverTime | None = None


def rules_for(rows: Rows, specs: Sequence[str], book: Rulebook | None = None) -> list[Policy]:
    """Return the policies for `--under`; without any, vLLM's and SGLang's at the finest unit the rows allow.

    Raises:
        UserError: A rule is unknown or cannot be counted on these rows.
    """
    if not specs and rows.tree.grain > 1:
        specs = (f"vllm:block={rows.tree.grain}", f"sglang:page={rows.tree.grain}")
    policies = [parse_policy(spec, book) for spec in every_rule(specs or DEFAULT_RULES, book)]
    for policy in policies:
        policy.check(rows)
    return list({policy.label: policy for policy in policies}.values())


def every_rule(specs: Sequence[str], book: Rulebook | None = None) -> tuple[str, ...]:
    """Return `specs` with `all` written out: the engines, and every hosted cache that can be replayed."""
    if "all" not in specs:
        return tuple(specs)
    from prefixwise.caches.hosted_names import names

    every = (*DEFAULT_RULES, *names(book or Rulebook()))
    return tuple(dict.fromkeys(rule for spec in specs for rule in (every if spec == "all" else (spec,))))


def check_arguments(specs: Sequence[str], by: Sequence[str], book: Rulebook | None = None) -> bool:
    """Say whether the rules count blocks, so that the corpus is to be read with `Layouts`.

    Raises:
        UserError: A rule or a field does not exist.
    """
    policies = [parse_policy(spec, book) for spec in every_rule(specs, book)]
    for field in by:
        if field not in GROUPS:
            raise UserError(f"cannot group by {field[:100]!r}", "--by", f"known: {', '.join(sorted(GROUPS))}")
    return any(policy.needs_layouts for policy in policies)


def hit_rate(
    corpus: Corpus,
    specs: Sequence[str] = (),
    by: Sequence[str] = (),
    excerpts: Excerpts = Excerpts.MASKED,
    book: Rulebook | None = None,
) -> HitRate:
    """Count `corpus` under each rule.

    Args:
        corpus: What was read.
        specs: Rules as `--under` takes them.
        by: Fields to group by.
        excerpts: How much prompt text the result may hold.
        book: Where prices are; by default the packaged facts.

    Raises:
        UserError: A rule or field is unknown, or a rule cannot be counted on these rows.
    """
    book = book or Rulebook()
    check_arguments(specs, by, book)
    rows = corpus.rows
    policies = rules_for(rows, specs, book)
    models = model_tokens(corpus)
    weights = factors(rows, models)
    rows.token_factors = {number: weight for number, weight in enumerate(weights) if weight != 1.0}
    replays = {policy.label: policy.replay(rows) for policy in policies}
    columns, first = _cached_by_rule(rows, policies, replays), policies[0].label
    table = _Totals(rows, weights, columns)
    bills = {policy.label: (replays[policy.label], policy.tariff) for policy in policies if policy.tariff.provider}
    return HitRate(
        totals=table.counts(None)[0].counts,
        by={field: table.counts(field) for field in by},
        cost=prompt_cost(rows, weights, columns.cached, book, bills),
        models=models,
        prefixes=most_shared(corpus, _PREFIXES, excerpts),
        lost=_lost(corpus, replays[first], excerpts),
        uncertain_media=len(rows.bands),
        notes=tuple(dict.fromkeys(note for policy in policies for note in policy.notes(rows))),
        over_time=over_time(rows, weights, first, columns.cached[first], columns.cached[CEILING]),
    )


class _Columns(msgspec.Struct, frozen=True):
    """Tokens by rule and row: cached; cached without answers; at the ends of what is not known; written."""

    cached: dict[str, Sequence[int]] = {}
    bare: dict[str, Sequence[int]] = {}
    least: dict[str, Sequence[int]] = {}
    most: dict[str, Sequence[int]] = {}
    written: dict[str, Sequence[int]] = {}


def _cached_by_rule(rows: Rows, policies: list[Policy], replays: dict[str, Replay]) -> _Columns:
    """Return the columns of every rule and of the ceiling."""
    answers = any(node != NONE for node in rows.response_node)
    found = _Columns({label: replay.matched for label, replay in replays.items()})
    for policy in policies:
        label = policy.label
        if (without := policy.without_outputs() if answers else None) is not None:
            found.bare[label] = without.replay(rows).matched
        if (ends := policy.ends()) is not None:
            found.least[label], found.most[label] = (end.replay(rows).matched for end in ends)
        if (written := replays[label].written) is not None:
            found.written[label] = written
    found.cached[CEILING] = sharing(rows).shared
    if answers:
        found.bare[CEILING] = sharing(rows, outputs=False).shared
    return found


class _Totals:
    """Sums by group, kept apart by model so that calibration is applied to sums, not to requests."""

    def __init__(self, rows: Rows, weights: list[float], columns: _Columns) -> None:
        self._rows = rows
        self._weights = weights
        self._columns = columns

    def counts(self, field: str | None) -> tuple[Group, ...]:
        """Return one group a value of `field`, those with most prompt tokens first; one group for None."""
        rows = self._rows
        if field is None:
            column: Sequence[int] = bytes(len(rows))
            names: Sequence[str] = ("",)
        else:
            column, known = rows.group(field)
            names = [name or f"(no {field})" for name in known.names]
        requests, prompt, reported = self._base(column)
        of = self._columns
        sums = {rule: self._sum(column, values) for rule, values in of.cached.items()}
        extra = [
            {rule: self._sum(column, values) for rule, values in by_rule.items()}
            for by_rule in (of.bare, of.least, of.most, of.written)
        ]
        groups = []
        for value in sorted(requests, key=lambda value: (-prompt[value], value)):
            counts = [Counts(REPORTED, *reported[value])] if value in reported else []
            for rule, by_group in sums.items():
                more = (found[rule].get(value, 0) if rule in found else None for found in extra)
                counts.append(Counts(rule, requests[value], prompt[value], by_group.get(value, 0), *more))
            groups.append(Group(names[value] if value >= 0 else "(no text)", value, tuple(counts)))
        return tuple(groups)

    def _sum(self, column: Sequence[int], values: Sequence[int]) -> dict[int, int]:
        """Return the calibrated sum of `values` by group."""
        sums: dict[tuple[int, int], int] = {}
        if len(self._rows.models) == 1 and not any(column):
            sums[0, 0] = sum(values)
        else:
            for group, model, value in zip(column, self._rows.model, values, strict=True):
                key = (group, model)
                sums[key] = sums.get(key, 0) + value
        totals: dict[int, float] = {}
        for (group, model), value in sums.items():
            totals[group] = totals.get(group, 0) + value * self._weights[model]
        return {group: round(value) for group, value in totals.items()}

    def _base(self, column: Sequence[int]) -> tuple[dict[int, int], dict[int, int], dict[int, tuple[int, int, int]]]:
        """Return requests, prompt tokens and (requests, prompt, cached as reported) by group."""
        rows = self._rows
        requests: dict[int, int] = {}
        reported: dict[int, tuple[int, int, int]] = {}
        for group, said, cached in zip(column, rows.reported_prompt, rows.reported_cached, strict=True):
            requests[group] = requests.get(group, 0) + 1
            if said != NONE and cached != NONE:
                count, prompts, hits = reported.get(group, (0, 0, 0))
                reported[group] = (count + 1, prompts + said, hits + cached)
        return requests, self._sum(column, rows.prompt_tokens), reported


def _lost(corpus: Corpus, replay: Replay, excerpts: Excerpts) -> tuple[Lost, ...]:
    """Return the requests with most uncached tokens among those whose family was seen before."""
    rows = corpus.rows
    near = sharing(rows)
    first = _first_of_their_kind(rows)
    candidates = (
        (matched - tokens, row)
        for row, (matched, tokens) in enumerate(zip(replay.matched, rows.prompt_tokens, strict=True))
        if near.partner[row] != NONE or row not in first
    )
    lost = []
    for missed, row in heapq.nsmallest(_LOST, candidates):
        if missed == 0:
            break
        partner = near.partner[row]
        lost.append(
            Lost(
                rows.ref(row),
                rows.ref(partner) if partner != NONE else None,
                rows.prompt_tokens[row],
                replay.matched[row],
                near.shared[row],
                Reason(replay.reason[row]),
                text_after(corpus, rows.node[row], near.shared[row], excerpts),
            )
        )
    return tuple(lost)


def _first_of_their_kind(rows: Rows) -> set[int]:
    """Return the first request of each family of a model, and every one without a family: nobody was before them."""
    first: dict[tuple[int, int], int] = {}
    alone = set()
    for row in rows.by_start():
        family = rows.family[row]
        if family == NONE:
            alone.add(row)
        else:
            first.setdefault((rows.model[row], family), row)
    return alone | set(first.values())
