"""What repairs make of all claims on an application once, and not again for each of its requests."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TypeVar

from prefixwise.analyzers.lint.claims import Claim

_Made = TypeVar("_Made")
_MOST = 256


def once(make: Callable[[Sequence[Claim]], _Made]) -> Callable[[Sequence[Claim]], _Made]:
    """Return a function that remembers what it made of the same sequence of claims, which must not change meanwhile."""
    known: dict[int, tuple[Sequence[Claim], _Made]] = {}

    @functools.wraps(make)
    def remembered(claims: Sequence[Claim]) -> _Made:
        found = known.get(id(claims))
        if found is None or found[0] is not claims:
            if len(known) >= _MOST:
                known.clear()
            found = known[id(claims)] = claims, make(claims)
        return found[1]

    return remembered
