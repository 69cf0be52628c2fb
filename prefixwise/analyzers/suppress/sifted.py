"""Findings that are told, and findings that somebody knows of."""

from __future__ import annotations

from typing import NamedTuple

from prefixwise.core.finding import Finding
from prefixwise.core.suppression import Suppression


class Hidden(NamedTuple):
    """A finding and what hides it."""

    finding: Finding
    suppression: Suppression


class Sifted(NamedTuple):
    """Findings that stay, in their order, and findings that are hidden."""

    kept: tuple[Finding, ...]
    hidden: tuple[Hidden, ...] = ()
