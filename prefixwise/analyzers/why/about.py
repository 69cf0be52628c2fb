"""The findings about one request."""

from __future__ import annotations

import msgspec

from prefixwise.analyzers.lint.causes import findings
from prefixwise.analyzers.lint.run import Linted
from prefixwise.core.excerpt import Excerpts
from prefixwise.core.finding import Finding


def findings_about(linted: Linted, row: int, excerpts: Excerpts = Excerpts.MASKED) -> tuple[Finding, ...]:
    """Return the findings about one request, each told of this request but judged by the whole log."""
    log = linted.log
    claims = [claim for claim in linted.claims if claim.after == row]
    own = {finding.rule: finding for finding in findings(log, claims, excerpts)}
    ref = (log.rows.files[log.rows.file[row]], log.rows.record[row])
    told = []
    for whole in linted.values.findings:
        places = [place.pair.after if place.pair is not None else place.record for place in whole.occurrences]
        if whole.rule in own and any(place is not None and (place.path, place.record) == ref for place in places):
            mine = own.pop(whole.rule)
            told.append(
                msgspec.structs.replace(
                    mine,
                    severity=whole.severity,
                    level=whole.level,
                    occurrences=whole.occurrences,
                    fingerprint=whole.fingerprint,
                )
            )
    return tuple(told)
