"""Repairs: requests as one finding would have them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from prefixwise.analyzers.lint.causes import Cause
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.rule import RULES
from prefixwise.core.finding import Finding, Severity
from prefixwise.core.request import Request


class Repair(msgspec.Struct, frozen=True):
    """What a finding would have done to the requests of the applications that it is about.

    Attributes:
        finding: The finding.
        claims: What it stands for, by application.
        looks_back: Whether it puts messages back as they were sent first: such repairs come before what changes
            messages.
    """

    finding: Finding
    claims: Mapping[int, list[Claim]]
    looks_back: bool

    def mended(self, application: int, request: Request) -> Request:
        """Return a request of an application as it would have been sent; the same object where that is no other."""
        claims = self.claims.get(application)
        return request if not claims else RULES.get(self.finding.rule).repair(request, claims) or request


def repairs_of(log: Log, causes: Iterable[Cause]) -> list[Repair]:
    """Return the repairs of those findings that cost something and can be mended in a request, in the order given."""
    found = []
    for cause in causes:
        finding = cause.finding
        if finding.severity is Severity.INFO or not RULES.get(finding.rule).mends:
            continue
        by_application: dict[int, list[Claim]] = {}
        for claim in cause.claims:
            by_application.setdefault(log.applications[claim.after], []).append(claim)
        found.append(Repair(finding, by_application, any(claim.resent for claim in cause.claims)))
    return found


def mended_by_all(repairs: Sequence[Repair], application: int, request: Request) -> Request:
    """Return a request with several repairs, one after the other; the same object where none changes it."""
    for repair in repairs:
        request = repair.mended(application, request)
    return request


def in_order(repairs: Iterable[Repair]) -> list[Repair]:
    """Return repairs in the order in which they can be made together."""
    return sorted(repairs, key=lambda repair: not repair.looks_back)
