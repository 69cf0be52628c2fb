"""Repairs: requests as one finding would have them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.run import Linted
from prefixwise.analyzers.rule import RULES
from prefixwise.core.finding import Finding, Severity
from prefixwise.core.request import Request
from prefixwise.corpus.rows import NONE


class Repair(msgspec.Struct, frozen=True):
    """What a finding would have done to the requests of the applications that it is about.

    Attributes:
        finding: The finding.
        claims: What it stands for, by application.
        applications: Of each row.
        looks_back: Whether it puts messages back as they were sent first: such repairs come before what changes
            messages.
    """

    finding: Finding
    claims: Mapping[int, list[Claim]]
    applications: Mapping[int, int]
    looks_back: bool

    def is_for(self, row: int) -> bool:
        """Say whether the finding is about the application of a row."""
        return self.applications.get(row) in self.claims

    def mended(self, row: int, request: Request) -> Request:
        """Return the request of a row as it would have been sent; the same object where that is no other."""
        claims = self.claims.get(self.applications.get(row, NONE))
        return request if not claims else RULES.get(self.finding.rule).repair(request, claims) or request


def repairs_of(linted: Linted, row_of: Sequence[int]) -> list[Repair]:
    """Return the repairs of those findings that cost something and can be mended in a request, the costliest first.

    Args:
        linted: What was found.
        row_of: By row of the linted log, the row that repairs know it by.
    """
    log = linted.log
    applications = {row_of[row]: application for row, application in enumerate(log.applications)}
    found = []
    for cause in linted.causes:
        finding = cause.finding
        if finding.severity is Severity.INFO or not RULES.get(finding.rule).mends:
            continue
        by_application: dict[int, list[Claim]] = {}
        for claim in cause.claims:
            by_application.setdefault(log.applications[claim.after], []).append(claim)
        looks_back = any(claim.resent for claim in cause.claims)
        found.append(Repair(finding, by_application, applications, looks_back))
    return found


def mended_by_all(repairs: Iterable[Repair], row: int, request: Request) -> Request:
    """Return the request of a row with several repairs, one after the other; the same object where none changes it."""
    for repair in repairs:
        request = repair.mended(row, request)
    return request


def in_order(repairs: Iterable[Repair]) -> list[Repair]:
    """Return repairs in the order in which they can be made together."""
    return sorted(repairs, key=lambda repair: not repair.looks_back)
