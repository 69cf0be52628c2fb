"""From claims to findings: one cause, one finding, with what it cost and how bad it is."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable

import msgspec

from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.lint.slots import field_shape
from prefixwise.analyzers.rule import RULES, Rule
from prefixwise.core.excerpt import Excerpts, excerpt
from prefixwise.core.finding import (
    Finding,
    Fix,
    Lost,
    Mode,
    Occurrence,
    Pair,
    Per,
    Severity,
)
from prefixwise.core.request import Ref
from prefixwise.corpus.rows import NONE
from prefixwise.corpus.tokenizer import Exactness

_DIGITS = re.compile(r"[\W\d_]+")
_MANY = 0.3
"""Share of the requests that could show it from which a cause is not occasional."""
_LARGE = 50_000


def findings(log: Log, claims: Iterable[Claim], excerpts: Excerpts) -> list[Finding]:
    """Return one finding a cause, the costliest first.

    Args:
        log: What the claims are about.
        claims: In any order.
        excerpts: How much of the prompts' text the findings may show.
    """
    grouped: dict[tuple[object, ...], list[Claim]] = {}
    for claim in sorted(claims, key=lambda claim: (log.times[claim.after], claim.after)):
        cause = field_shape(claim.field or "") if claim.cause is None else claim.cause
        application = NONE if RULES.get(claim.rule).everywhere else log.applications[claim.after]
        harmless = claim.severity is Severity.INFO
        grouped.setdefault((claim.rule, application, claim.where, cause, harmless), []).append(claim)
    exposed = _exposed(log)
    found = [_finding(log, group, exposed, excerpts) for group in grouped.values()]
    return sorted(found, key=_costliest_first)


def _costliest_first(finding: Finding) -> tuple[object, ...]:
    lost = finding.tokens_lost.value if finding.tokens_lost else 0
    return (finding.level.rank == 2, -lost, finding.severity.rank, finding.rule, finding.place)


def _exposed(log: Log) -> Counter[int]:
    """Return by family how many requests have an earlier one to be served from."""
    links = log.conversations.links
    return Counter(log.applications[row] for row in range(len(log.rows)) if links[row] is not None)


def _finding(log: Log, claims: list[Claim], exposed: Counter[int], excerpts: Excerpts) -> Finding:
    first, rule = claims[0], RULES.get(claims[0].rule)
    free = _without_cost(log, claims)
    severity = Severity.INFO if free else _severity(log, rule, claims, exposed)
    lost = sum(claim.lost or 0 for claim in claims)
    refs = _refs(log, first)
    return Finding(
        rule=rule.name,
        code=rule.code,
        severity=severity,
        level=severity.level,
        confidence=max((claim.confidence for claim in claims), key=[c.confidence for c in claims].count),
        mode=Mode.LOG,
        where=first.where,
        path=log.rows.ref(first.after).path,
        record=refs[1],
        pair=refs[0],
        occurrences=tuple(_occurrence(log, claim) for claim in claims),
        field=first.field,
        char_offset=first.char_offset,
        from_text=_shown(first.from_text, excerpts),
        to_text=_shown(first.to_text, excerpts),
        tokens_lost=Lost(lost, _exact(log, claims), _rhythm(claims, exposed[log.applications[first.after]], severity))
        if lost
        else None,
        usd_lost=_usd(log, claims),
        evidence=tuple(dict.fromkeys([*free, *(text for claim in claims for text in claim.evidence)]))[:5],
        message=first.message,
        fix=Fix(first.fix or rule.fix, rule.safety),
        fingerprint=_fingerprint(log, first),
        also_rules=tuple(sorted({name for claim in claims for name in claim.also} - {rule.name})),
    )


def _without_cost(log: Log, claims: list[Claim]) -> tuple[str, ...]:
    """Take the cost from breaks in prompts that are too short to be cached, and say so where all of them are."""
    short = [claim for claim in claims if claim.before is not None and claim.lost and log.never_cached(claim.after)]
    for claim in short:
        claim.lost = 0
    if not short or any(claim.lost or claim.before is None for claim in claims):
        return ()
    least, longest = log.minimum(short[0].after), max(log.prompt(claim.after) for claim in short)
    low = least.low if least is not None else 0
    return (
        f"the prompts have {longest:,} tokens at most, and fewer than {low:,} are never cached: it costs nothing yet",
    )


def _severity(log: Log, rule: Rule, claims: list[Claim], exposed: Counter[int]) -> Severity:
    """Return the severity: what the rules say of each place, else the rule's own, moved by frequency and size."""
    weighed = rule.weigh(log, claims)
    if weighed is not None:
        return weighed
    said = [claim.severity for claim in claims if claim.severity is not None]
    if len(said) == len(claims):
        return min(said, key=lambda severity: severity.rank)
    could = max(exposed[log.applications[claims[0].after]], 1)
    often = len(claims) / could >= _MANY
    largest = max((claim.lost or 0) for claim in claims)
    severity = rule.severity
    if severity is Severity.CRITICAL and not often:
        severity = Severity.HIGH
    if severity is Severity.HIGH and len(claims) == 1 and could >= 10 and largest < _LARGE:
        severity = Severity.MEDIUM
    if severity is Severity.MEDIUM and largest >= _LARGE:
        severity = Severity.HIGH
    return severity


def _rhythm(claims: list[Claim], could: int, severity: Severity) -> Per:
    if len(claims) == 1:
        return Per.ONCE
    return Per.CALL if len(claims) >= _MANY * max(could, 1) or severity is Severity.CRITICAL else Per.ONCE


def _exact(log: Log, claims: list[Claim]) -> bool:
    known = log.corpus.tokenizers
    return all(
        log.rows.reported_prompt[claim.after] != NONE
        or known.get(log.model(claim.after), (Exactness.ESTIMATED,))[0] is not Exactness.ESTIMATED
        for claim in claims
    )


def _usd(log: Log, claims: list[Claim]) -> float | None:
    """Return what the lost tokens cost above what reading them from the cache would have; None without a price."""
    total, priced = 0.0, False
    for claim in claims:
        if not claim.lost:
            continue
        usd = log.usd(claim.after, claim.lost)
        if usd is None:
            return None
        total += usd
        priced = True
    return total if priced else None


def _refs(log: Log, claim: Claim) -> tuple[Pair | None, Ref | None]:
    after = msgspec.structs.replace(log.rows.ref(claim.after), side=claim.side)
    if claim.before is None:
        return None, after
    return Pair(log.rows.ref(claim.before), after), None


def _occurrence(log: Log, claim: Claim) -> Occurrence:
    pair, record = _refs(log, claim)
    return Occurrence(pair, record, claim.field, claim.char_offset)


def _shown(text: str | None, excerpts: Excerpts) -> str | None:
    return None if text is None or excerpts is Excerpts.NONE else excerpt(text, excerpts)


def _fingerprint(log: Log, claim: Claim) -> str:
    """Return a digest of application, rule, area and field; values, numbers and lines are not part of it."""
    family = log.rows.family[log.families[log.applications[claim.after]][0]]
    index = None if family == NONE or RULES.get(claim.rule).everywhere else log.corpus.index
    name = "" if index is None else index.families.sign(family)
    parts = (claim.rule, claim.where, field_shape(claim.field or ""), _DIGITS.sub(" ", name)[:80])
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=8).hexdigest()
