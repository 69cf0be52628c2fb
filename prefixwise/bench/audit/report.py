"""The report of an audit of times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prefixwise.bench.audit.distributions import distributions
from prefixwise.bench.audit.findings import leaks
from prefixwise.bench.audit.recording import Level, Recording
from prefixwise.bench.audit.result import AuditResult, Comparison
from prefixwise.bench.audit.split import LIMIT_ALPHA
from prefixwise.bench.audit.timing import Clock
from prefixwise.bench.audit.usage import Hits
from prefixwise.bench.audit.verdict import Verdict
from prefixwise.core.envelope import DocumentKind
from prefixwise.core.report import Block, Column, Findings, InputFile, Outcome, Report, Table, Text, Unit
from prefixwise.stats.interval import Interval

AUDIT_TIMINGS = DocumentKind(
    "prefixwise/audit-timings", 1, "recorded or measured times of an audit of tenants, with verdicts", AuditResult
)

_OUTCOMES = {Verdict.INVALID: Outcome.INVALID, Verdict.INCONCLUSIVE: Outcome.INCONCLUSIVE}


def audit_report(
    found: AuditResult,
    recordings: Sequence[Recording],
    path: str,
    inputs: tuple[InputFile, ...] = (),
    notes: Sequence[str] = (),
) -> Report:
    """Return the report of recorded timings.

    Args:
        found: What they come to.
        recordings: The probes, for their spread.
        path: The file that was audited.
        inputs: What was read.
        notes: Further caveats.
    """
    return Report(
        schema=AUDIT_TIMINGS.schema,
        schema_version=AUDIT_TIMINGS.version,
        command="audit timings",
        title=f"{found.verdict}: {path}",
        blocks=tuple(blocks(found, recordings, path)),
        values=found,
        inputs=inputs,
        notes=(*notes_of(found), *notes),
        outcome=_OUTCOMES.get(found.verdict, Outcome.DONE),
    )


def outcome_of(found: AuditResult) -> Outcome:
    """Return whether an audit says anything."""
    return _OUTCOMES.get(found.verdict, Outcome.DONE)


def blocks(found: AuditResult, recordings: Sequence[Recording], path: str) -> Iterator[Block]:
    """Yield what an audit found, for people."""
    yield Text("verdict", tuple(_said(found)))
    findings = leaks(found, path)
    if findings:
        yield Findings("leaks", "Leaks", findings)
    yield _comparisons(found)
    if any(one.usage for one in found.comparisons):
        yield _usage(found)
    if any(one.timing for one in found.comparisons):
        yield _clocks(found)
        yield _tests(found)
    yield from distributions(recordings, found)
    yield Text("split", tuple(_split(found)), "How the audit may err")


def _said(found: AuditResult) -> Iterator[str]:
    for one in found.comparisons:
        reason = one.judged.reason
        needed = f" About {one.judged.needed:,} pairs would decide." if one.judged.needed else ""
        yield f"{one.judged.verdict}, {one.name} ({one.level}): {reason[0].upper()}{reason[1:]}.{needed}"


def _comparisons(found: AuditResult) -> Table:
    columns = (
        Column("name", "comparison"),
        Column("level", "level"),
        Column("verdict", "verdict"),
        Column("by", "by"),
        Column("miss", "controls", Unit.COUNT),
        Column("same", "own", Unit.COUNT),
        Column("cross", "foreign", Unit.COUNT),
        Column("failed", "failed", Unit.COUNT),
        Column("used", "pairs used", Unit.COUNT),
        Column("needed", "pairs it takes", Unit.COUNT),
        Column("limit", "others get at most", Unit.RATE),
    )
    rows = tuple(
        (
            one.name,
            one.level.value,
            one.judged.verdict.value,
            one.judged.by or None,
            *(one.sent[arm] for arm in ("miss", "same", "cross")),
            one.failed,
            pairs_used(one),
            one.judged.needed,
            limit_of(one),
        )
        for one in found.comparisons
    )
    note = f"The limit is the upper one at {1 - LIMIT_ALPHA:.0%} of what foreign probes get of one's own reuse."
    return Table("comparisons", "Comparisons", columns, rows, note)


def pairs_used(one: Comparison) -> int | None:
    """Return the pairs after which a comparison was decided, else all of them."""
    if one.timing is None:
        return None
    return one.timing.reached or one.timing.pairs


def limit_of(one: Comparison) -> float | None:
    """Return the better of the limits by usage and by times, None where one's own reuse does not show."""
    limits = [
        one.usage.limit if one.usage is not None and one.usage.believed else None,
        one.timing.limit if one.timing is not None else None,
    ]
    return min((min(limit, 1.0) for limit in limits if limit is not None), default=None)


def _usage(found: AuditResult) -> Table:
    columns = (
        Column("name", "comparison"),
        Column("arm", "probes"),
        Column("sent", "sent", Unit.COUNT),
        Column("known", "counted", Unit.COUNT),
        Column("hits", "hits", Unit.COUNT),
        Column("share", "of those sent", Unit.RATE),
        Column("interval", "95 % interval"),
        Column("most", "most cached", Unit.TOKENS),
    )
    rows = []
    for one in found.comparisons:
        if one.usage is None:
            continue
        arms: tuple[tuple[str, Hits], ...] = (
            ("control", one.usage.miss),
            ("own", one.usage.same),
            ("foreign", one.usage.cross),
        )
        rows += [
            (one.name, arm, hits.sent, hits.known, hits.hits, hits.hits / hits.sent, _rates(hits.share), hits.most)
            for arm, hits in arms
            if hits.sent
        ]
    note = (
        "A probe whose answer does not say how much was cached is unknown, not zero; shares are of all that were sent."
    )
    return Table("usage", "What the server counts", columns, tuple(rows), note)


def _rates(interval: Interval | None) -> str | None:
    return None if interval is None else f"[{interval.low:.1%}, {interval.high:.1%}]"


def _clocks(found: AuditResult) -> Table:
    columns = (
        Column("name", "comparison"),
        Column("clock", "clock"),
        Column("miss", "control", Unit.SECONDS),
        Column("same", "own", Unit.SECONDS),
        Column("cross", "foreign", Unit.SECONDS),
        Column("shift", "sooner by", Unit.SECONDS),
        Column("interval", "95 % interval"),
        Column("auc", "AUC"),
        Column("served", "served at least", Unit.RATE),
        Column("ratio", "of one's own"),
    )
    rows = tuple(
        (
            one.name,
            clock.name,
            clock.miss_s,
            clock.same_s,
            clock.cross_s,
            clock.shift_s,
            _ms(clock.interval),
            f"{clock.auc:.2f}",
            clock.served,
            _ratio(clock),
        )
        for one in found.comparisons
        if one.timing is not None
        for clock in one.timing.clocks
    )
    note = (
        "Times are medians. Sooner by: foreign probes against controls (Hodges-Lehmann). Served at least: as many "
        "foreign probes are different (Kolmogorov-Smirnov's distance, as seen). Of one's own: what foreign probes save "
        "of what one's own save, with limits at 90 %."
    )
    return Table("times", "Times", columns, rows, note)


def _ms(interval: Interval | None) -> str | None:
    return None if interval is None else f"[{1000 * interval.low:.3g}, {1000 * interval.high:.3g}] ms"


def _ratio(clock: Clock) -> str | None:
    shared = clock.sharing
    if shared is None:
        return None
    if shared.ratio is None or shared.low is None or shared.high is None:
        return "one's own does not show"
    return f"{shared.ratio:.1%} [{shared.low:.1%}, {shared.high:.1%}]"


def _tests(found: AuditResult) -> Table:
    columns = (
        Column("name", "comparison"),
        Column("clock", "clock"),
        Column("evidence", "evidence"),
        Column("own", "evidence of own reuse"),
        Column("p", "capped test"),
        Column("slower", "slower"),
        Column("ks", "Kolmogorov-Smirnov"),
        Column("mwu", "Mann-Whitney"),
    )
    rows = tuple(
        (
            one.name,
            clock.name,
            f"{one.timing.evidence:.3g}",
            None if one.timing.own_evidence is None else f"{one.timing.own_evidence:.3g}",
            *(f"{p:.2g}" for p in (clock.p, clock.slower_p, clock.ks_p, clock.mann_whitney_p)),
        )
        for one in found.comparisons
        if one.timing is not None
        for clock in one.timing.clocks
    )
    note = (
        "Evidence is the most that the capped e-process reached, over all clocks; the others are one-sided p values. "
        "The last two are for comparison with what others publish, and decide nothing."
    )
    return Table("tests", "Tests", columns, rows, note)


def _split(found: AuditResult) -> Iterator[str]:
    split = found.split
    number = split.comparisons
    each = "the comparison" if number == 1 else f"each of {number} comparisons"
    yield (
        f"An audit in which nobody shares anything says LEAK by its times with a chance of at most {split.alpha:g}: "
        f"{split.sequential:.2g} for the evidence of {each}, which has to reach {split.threshold:,.0f} and may be "
        f"looked at after every pair, and {split.final:.2g} for the tests at the end together (Holm over comparisons, "
        "Bonferroni over clocks). What usage shows is no matter of chance."
    )
    yield (
        f"ISOLATED says that others get at most 5 % of one's own reuse, with a limit that is too low in at most "
        f"{LIMIT_ALPHA:.0%} of comparisons."
    )


def notes_of(found: AuditResult) -> Iterator[str]:
    """Yield the caveats of an audit."""
    for one in found.comparisons:
        if one.broken:
            yield f"{one.name}: {one.broken} records could not be read"
        if one.level in (Level.SAME_KEY, Level.KEYS) and one.judged.verdict is Verdict.LEAK:
            yield f"{one.name}: both sides are one tenant ({one.level}): this is caching, not a leak between tenants"
        if one.usage is not None and not one.usage.believed:
            yield f"{one.name}: prompts that nobody had sent are counted as cached, so the counts are not believed"
        yield from _about_times(one)


def _about_times(one: Comparison) -> Iterator[str]:
    if one.timing is None or one.judged.verdict is not Verdict.LEAK or one.judged.by != "timing":
        return
    if one.timing.clocks and all(clock.small for clock in one.timing.clocks):
        yield f"{one.name}: the effect is below 2 ms or 2 %: statistical only, so check that the arms match"
    if one.matched is None:
        yield f"{one.name}: whether controls came after a sham is not said; if not, other traffic may be the cause"
    elif not one.matched:
        yield f"{one.name}: controls came after no traffic, foreign probes did: that alone may be the cause"
