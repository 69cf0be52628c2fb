"""What `prefixwise/audit-logs` promises to machines: its fields and meaning change only with the schema version."""

from __future__ import annotations

import math

import msgspec

from prefixwise.analyzers.tenancy.audit import Audit
from prefixwise.analyzers.tenancy.findings import Found, ThreatFigures
from prefixwise.analyzers.tenancy.price import Isolation
from prefixwise.analyzers.tenancy.recommendation import Recommendation, recommendation
from prefixwise.analyzers.tenancy.shared_nodes import NodeClass, stretches
from prefixwise.core.envelope import DocumentKind
from prefixwise.core.finding import Finding

_MOST_STRETCHES = 50


class PairExposure(msgspec.Struct, frozen=True):
    """An ordered pair of tenants: what requests of `reader` could be served of what `writer` wrote last."""

    reader: str
    writer: str
    events: int
    tokens: int
    first: float | None
    last: float | None


class SharedStretch(msgspec.Struct, frozen=True):
    """A run of tokens that the same number of tenants share, whatever their namespaces.

    `kind` is approved, template-like, public document or private; `diversity` is distinct tenants over reuses.
    """

    kind: str
    start: int
    end: int
    tenants: int
    requests: int
    diversity: float
    first: float | None
    last: float | None


class IsolationPrice(msgspec.Struct, frozen=True):
    """What the log gives under a rule when entries are kept apart in some way; None where it is not known."""

    rule: str
    isolation: Isolation
    prompt_tokens: int
    cached_tokens: int
    hit_rate: float | None
    cost_usd: float | None
    prefill_seconds: float | None


class SaltFigures(msgspec.Struct, frozen=True):
    """The salts of the log: how many there are, requests with and without one, and how many can be guessed."""

    distinct: int
    requests_with: int
    requests_without: int
    guessable: int


class AuditLogsValues(msgspec.Struct, frozen=True):
    """The values of an audit of logs. Findings are in the order in which they are to be read.

    Attributes:
        requests: In the log; `unattributed`: those that name no tenant, which are left out of exposure.
        tenants: Names, or pseudonyms, in order of first use; `namespaces`: how many they are in.
        unit: Tokens that are reused as a whole under the rule in force, the first.
        exposed_events, exposed_tokens: Over all pairs; `exposed_private`: those of few tenants.
        leak: Whether a finding is an error: tenants are not apart.
    """

    requests: int
    unattributed: int
    tenants: tuple[str, ...]
    namespaces: int
    unit: int
    exposed_events: int
    exposed_tokens: int
    exposed_private: int
    leak: bool
    pairs: tuple[PairExposure, ...]
    shared: tuple[SharedStretch, ...]
    salts: SaltFigures
    isolation: tuple[IsolationPrice, ...]
    prefill_speed: str | None
    recommendation: Recommendation
    threats: tuple[ThreatFigures, ...]
    findings: tuple[Finding, ...]


AUDIT_LOGS = DocumentKind(
    "prefixwise/audit-logs", 1, "exposure between tenants, threats, and the price of isolation", AuditLogsValues
)


def audit_values(audit: Audit, found: tuple[Found, ...]) -> AuditLogsValues:
    """Return the values of an audit."""
    prices = audit.prices
    return AuditLogsValues(
        requests=len(audit.rows),
        unattributed=len(audit.rows) - len(audit.known),
        tenants=tuple(audit.called[tenant] for tenant in audit.tenants),
        namespaces=len({audit.spaces[row] for row in audit.known}),
        unit=audit.served.unit,
        exposed_events=len(audit.found),
        exposed_tokens=sum(audit.found.tokens),
        exposed_private=sum(audit.private.values()),
        leak=any(one.finding.level.rank == 0 for one in found),
        pairs=_pairs(audit),
        shared=_shared(audit),
        salts=_salts(audit),
        isolation=tuple(
            IsolationPrice(
                one.rule,
                one.isolation,
                one.prompt_tokens,
                one.cached_tokens,
                one.hit_rate,
                one.cost_usd,
                one.prefill_seconds,
            )
            for one in prices.priced
        ),
        prefill_speed=None if prices.speed is None else prices.speed.source,
        recommendation=recommendation(audit),
        threats=tuple(one.figures for one in found),
        findings=tuple(one.finding for one in found),
    )


def known(time: float) -> float | None:
    """Return a time that is one, else None."""
    return time if math.isfinite(time) else None


def _pairs(audit: Audit) -> tuple[PairExposure, ...]:
    name = audit.called
    return tuple(
        PairExposure(name[p.reader], name[p.writer], p.events, p.tokens, known(p.first), known(p.last))
        for p in audit.pairs
    )


def _shared(audit: Audit) -> tuple[SharedStretch, ...]:
    return tuple(
        SharedStretch(
            NodeClass(s.kind).label, s.start, s.end, s.tenants, s.requests, s.diversity, known(s.first), known(s.last)
        )
        for s in stretches(audit.rows, audit.nodes, _MOST_STRETCHES)
    )


def _salts(audit: Audit) -> SaltFigures:
    with_salt = sum(map(len, audit.by_salt.values()))
    weak = {salt for one in audit.weak if one.certain for salt in one.salts}
    return SaltFigures(len(audit.by_salt), with_salt, len(audit.known) - with_salt, len(weak))
