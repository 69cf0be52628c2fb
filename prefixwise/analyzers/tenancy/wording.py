"""Words that several threats use."""

from __future__ import annotations

from collections.abc import Iterable

GATEWAY_SALT = (
    '"cache_salt": hex(HMAC-SHA256(secret key, length-framed tenant id)), set by the gateway on every request'
)
"""The line that most remedies come down to."""
DEFAULTS = frozenset(
    {"", "default", "_default", "none", "null", "nil", "undefined", "anonymous", "anon", "public", "unknown", "-", "0"}
)
"""Values of a namespace that stand for nobody."""


def is_default(salt: str) -> bool:
    """Say whether a salt is what is sent for a tenant that is not known."""
    return salt.strip().lower() in DEFAULTS or salt.lower().startswith("org:none")


def counted(number: int, noun: str) -> str:
    """Return a number and its noun."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def listed(names: Iterable[str], most: int = 5) -> str:
    """Return some names, sorted, with a mark where there are more."""
    found = sorted(set(names))
    return ", ".join(found[:most]) + (f" and {len(found) - most:,} more" if len(found) > most else "")


def agreeing(number: int, verb: str) -> str:
    """Return a verb, given in the plural, as it goes with a number of things."""
    if number != 1:
        return verb
    return f"{verb[:-1]}ies" if verb.endswith("y") else f"{verb}s"
