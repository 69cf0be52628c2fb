"""The keys of a definition in JSON or YAML in the order that they have where the same definition stands first."""

from __future__ import annotations

import re

from prefixwise.analyzers.fixes.bench import Bench
from prefixwise.analyzers.fixes.edits import Mended, edited
from prefixwise.analyzers.static.key_orders import definition_at, reordered
from prefixwise.analyzers.static.sources import Source
from prefixwise.analyzers.static.templates.definitions import ordered
from prefixwise.analyzers.static.templates.found import TemplateTrait
from prefixwise.core.finding import Edit, Safety

_UNSURE = re.compile(r"[#&*]|<<|[|>]\d?\+")
"""What in YAML may belong to the place of a value, or to what stands around it: comments, anchors, kept line ends."""


def keys_as_elsewhere(seen: TemplateTrait, bench: Bench) -> Mended | None:
    """Return the edits that put the keys of a definition into the order of the first such definition.

    None where what comes out would not say the same in that order, and in YAML where a comment or an anchor stands in
    it: nobody can tell what that belongs to.
    """
    if not seen.flow:
        return None  # a chat template that writes tools as they come
    source = bench.source(seen.path)
    there = seen.flow[0]
    other = bench.source(there.path)
    definition = definition_at(source, seen.span.start, seen.span.end)
    like = definition_at(other, there.span.start, there.span.end)
    if definition is None or like is None:
        return None
    if not seen.path.lower().endswith(".json") and _UNSURE.search(source.text, definition.start, definition.end):
        return None
    edits = tuple(Edit(seen.path, *move) for move in reordered(source, definition, like))
    after = Source(seen.path, edited(source.text, edits))
    mended = definition_at(after, definition.start, definition.start)
    wanted = ordered(like.tree, other.text)
    return Mended(edits, Safety.SAFE) if mended and ordered(mended.tree, after.text) == wanted else None
