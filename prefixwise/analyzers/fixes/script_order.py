"""Fixed orders in JavaScript and TypeScript: `.sort()` behind the listing of a folder, whose members are strings."""

from __future__ import annotations

import re

from prefixwise.analyzers.fixes.bench import Bench
from prefixwise.analyzers.fixes.edits import Mended
from prefixwise.analyzers.static.volatile import Volatile
from prefixwise.core.finding import Edit, Safety

_AT_ONCE = re.compile(r"(?:[\w$]+\.)*(?:readdirSync|globSync)\(")
_AWAITED = re.compile(r"(?:[\w$]+\.)*readdir\(")
_AWAIT = re.compile(r"await\s+$")
_OBJECTS = ("withFileTypes", "buffer", "stat")
"""Options by which members are no strings."""
_OPTIONS_ELSEWHERE = re.compile(r",\s*[A-Za-z_$][\w$.]*\s*\)$")
"""Options that are not to be seen in the call."""


def listing_sorted(found: Volatile, bench: Bench) -> Mended | None:
    """Return `.sort()` behind a listing; None where its members may be other than strings, or it is no listing."""
    text = bench.source(found.path).text
    start, end = found.span.start, found.span.end
    call = text[start:end]
    if (
        any(word in call for word in _OBJECTS)
        or _OPTIONS_ELSEWHERE.search(call)
        or not call.endswith(")")
        or text[end : end + 5] == ".sort"
    ):
        return None
    if _AT_ONCE.match(call):
        return Mended((Edit(found.path, end, end, ".sort()"),), Safety.SAFE)
    awaited = _AWAIT.search(text, 0, start)
    if _AWAITED.match(call) is None or awaited is None:
        return None
    opening = Edit(found.path, awaited.start(), awaited.start(), "(")
    return Mended((opening, Edit(found.path, end, end, ").sort()")), Safety.SAFE)
