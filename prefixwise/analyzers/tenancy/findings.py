"""From sightings of threats to findings, and the figures that go with each."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime

import msgspec

from prefixwise.analyzers.tenancy.audit import Audit
from prefixwise.analyzers.tenancy.threat import Sighting, Threat, threats
from prefixwise.analyzers.tenancy.wording import counted
from prefixwise.core.finding import Finding, Fix, Mode, Occurrence, Safety, Severity, Span

_MOST_PLACES = 1_000
_EXAMPLES = 2
_NO_POINTS = 0.05
_LOWER = dict(zip(Severity, [*list(Severity)[1:], Severity.INFO], strict=True))


class ThreatFigures(msgspec.Struct, frozen=True):
    """What a finding of an audit says in numbers, beside the finding of the same fingerprint.

    Attributes:
        threat: T1 to T22; `rule`, `code`, `fingerprint`: of the finding.
        requests, tenants: How many it is about; `tokens_exposed`: what they could get of others.
        first, last: Seconds since the epoch; None where the log has no times.
        examples: Keyed hashes of up to two of the requests.
        setting: `FILE:LINE` that is to be changed, None where no configuration was given.
        change: What to write there, or at the gateway.
        hit_rate_cost: By how much the change lowers the hit rate under the first rule; negative where it raises it,
            None where it leaves the cache as it is.
    """

    threat: str
    rule: str
    code: str
    fingerprint: str
    requests: int
    tenants: int
    tokens_exposed: int
    first: float | None
    last: float | None
    examples: tuple[str, ...]
    setting: str | None
    change: str
    hit_rate_cost: float | None


class Found(msgspec.Struct, frozen=True):
    """A finding and its figures."""

    finding: Finding
    figures: ThreatFigures


def find_threats(audit: Audit, wanted: frozenset[str]) -> tuple[Found, ...]:
    """Ask every threat that is wanted, and return what is found, the worst first."""
    found = [
        _found(audit, threat, sighting)
        for threat in threats()
        if threat.name in wanted
        for sighting in threat.detect(audit)
    ]
    key = [(one.finding.severity.rank, -one.figures.tokens_exposed, one.finding.code) for one in found]
    return tuple(found[at] for at in sorted(range(len(found)), key=key.__getitem__))


def _found(audit: Audit, threat: Threat, sighting: Sighting) -> Found:
    severity = sighting.severity or threat.severity
    if audit.asked.one_trust_domain:
        severity = _LOWER[severity]
    rows = sorted(sighting.rows, key=lambda row: (audit.times[row], row))
    figures = _figures(audit, threat, sighting, rows)
    setting, refs = sighting.setting, [audit.rows.ref(row) for row in rows[:_MOST_PLACES]]
    change = f" To change: {sighting.change}." if sighting.change else ""
    finding = Finding(
        rule=threat.name,
        code=threat.code,
        severity=severity,
        level=severity.level,
        confidence=sighting.confidence,
        mode=Mode.LOG,
        where=sighting.where or threat.where[0],
        path=setting.path if setting is not None else refs[0].path if refs else audit.corpus.inputs[0].path,
        span=_span(sighting),
        record=refs[0] if refs and setting is None else None,
        occurrences=tuple(Occurrence(None, ref, sighting.field, sighting.char_offset) for ref in refs),
        field=sighting.field,
        char_offset=sighting.char_offset,
        evidence=tuple(_evidence(sighting, figures)),
        message=sighting.message,
        fix=Fix(threat.fix + change, Safety.NONE),
        fingerprint=figures.fingerprint,
    )
    return Found(finding, figures)


def _figures(audit: Audit, threat: Threat, sighting: Sighting, rows: list[int]) -> ThreatFigures:
    first, last = audit.span(rows)
    tenants = len(audit.tenants_of(rows)) if sighting.tenants is None else sighting.tenants
    return ThreatFigures(
        threat=threat.id,
        rule=threat.name,
        code=threat.code,
        fingerprint=hashlib.blake2b(f"{threat.name}\0{sighting.cause}".encode(), digest_size=8).hexdigest(),
        requests=len(rows),
        tenants=tenants,
        tokens_exposed=audit.exposed_tokens(rows) if sighting.tokens is None else sighting.tokens,
        first=first if first == first else None,
        last=last if last == last else None,
        examples=tuple(audit.names.of("request", str(audit.rows.ref(row))) for row in rows[:_EXAMPLES]),
        setting=sighting.setting.place if sighting.setting is not None else None,
        change=sighting.change,
        hit_rate_cost=audit.cost_of(sighting.mended or rows) if threat.moves else None,
    )


def _evidence(sighting: Sighting, figures: ThreatFigures) -> Iterator[str]:
    """Yield what a reader wants to know first: how much, when, which, where to change it, and what that costs."""
    if figures.requests:
        yield f"{counted(figures.requests, 'request')} of {counted(figures.tenants, 'tenant')}{_when(figures)}"
    if figures.tokens_exposed:
        yield f"{counted(figures.tokens_exposed, 'token')} exposed"
    yield from sighting.evidence
    if sighting.setting is not None:
        yield f"{sighting.setting.place}: {sighting.setting.text}"
    if figures.examples:
        yield f"for example {', '.join(figures.examples)} (keyed hashes)"
    if figures.hit_rate_cost is not None:
        points = 100 * figures.hit_rate_cost
        if abs(points) < _NO_POINTS:
            yield "the change costs no hit rate"
        else:
            yield f"the change {'costs' if points > 0 else 'wins'} {abs(points):.1f} points of hit rate"


def _when(figures: ThreatFigures) -> str:
    if figures.first is None or figures.last is None:
        return ""
    first, last = (f"{datetime.fromtimestamp(time, UTC):%Y-%m-%d %H:%M}" for time in (figures.first, figures.last))
    return f", {first} UTC" if first == last else f", {first} to {last} UTC"


def _span(sighting: Sighting) -> Span | None:
    setting = sighting.setting
    if setting is None:
        return None
    return Span(setting.line, 1, setting.line, setting.end - setting.start + 1, setting.start, setting.end)
