"""Texts of two calls in one: `Time: «09:14¦09:15»` is `Time: 09:14` in the earlier and `Time: 09:15` in the later."""

from __future__ import annotations

import re

from prefixwise.analyzers.values.describe import Description, describe
from prefixwise.analyzers.values.hunks import hunks

_PLACE = re.compile("«([^«»¦]*)¦([^«»¦]*)»")


def sides(row: str) -> tuple[str, str]:
    """Return the earlier and the later text of a row."""
    return _PLACE.sub(lambda match: match[1], row), _PLACE.sub(lambda match: match[2], row)


def described(row: str, series: tuple[str, ...] = ()) -> Description:
    """Return what the first difference of a row is said to be."""
    before, after = sides(row)
    return describe(before, after, hunks(before, after)[0], series)
