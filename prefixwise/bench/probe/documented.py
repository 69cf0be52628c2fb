"""What is documented of the caches that are probed, to stand beside what was seen: the two differ in the wild."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from prefixwise.bench.budget import PROVIDERS
from prefixwise.bench.probe.finding import Finding
from prefixwise.caches.facts import Band, System
from prefixwise.caches.rulebook import Rulebook


def with_documented(findings: Sequence[Finding], protocol: str, model: str, book: Rulebook) -> list[Finding]:
    """Return the findings, each with what the facts say of it where they say anything."""
    system = _system(protocol, model, book)
    if system is None:
        return list(findings)
    said = {
        "block-size": _band(system.granularity_tokens),
        "minimum": _band(system.minimum(model)),
        "ttl": _band(system.ttl_s),
        "visibility": (system.readable_after or "").replace("-", " "),
    }
    return [
        msgspec.structs.replace(one, documented=f"{text} ({system.id})") if (text := said.get(one.probe)) else one
        for one in findings
    ]


def _system(protocol: str, model: str, book: Rulebook) -> System | None:
    """Return the system that a protocol names, or the one that serves a model by its name; None for an unknown one."""
    names = {protocol.replace("-", "_"), protocol.replace("-", "")}
    engine = next((one for one in book.systems() if one.id in names and not one.provider), None)
    return engine or next(iter(book.rules_for(model, PROVIDERS.get(protocol, protocol))), None)


def _band(band: Band | None) -> str:
    if band is None or (band.low is None and band.high is None):
        return ""
    if band.exact:
        return f"{band.low:,}"
    low, high = ("…" if end is None else f"{end:,}" for end in (band.low, band.high))
    return f"{low} to {high}"
