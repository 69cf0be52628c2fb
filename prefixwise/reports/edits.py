"""Edits of sources, as far as documents that CI publishes may carry them."""

from __future__ import annotations

from prefixwise.core.excerpt import mask
from prefixwise.core.finding import Edit, Finding


def published_edits(finding: Finding) -> tuple[Edit, ...]:
    """Return a finding's edits; none where one would write a secret or personal data, for a part of a fix is none."""
    edits = finding.fix.edits
    return edits if all(mask(edit.text) == edit.text for edit in edits) else ()
