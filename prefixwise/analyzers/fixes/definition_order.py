"""The keys of a definition in JSON or YAML in the order that they have where the same definition stands first."""

from __future__ import annotations

import itertools
import re

from prefixwise.analyzers.fixes.bench import Bench
from prefixwise.analyzers.fixes.edits import Mended, edited
from prefixwise.analyzers.static.key_orders import reordered
from prefixwise.analyzers.static.sources import Source
from prefixwise.analyzers.static.templates.definitions import definitions_in, ordered
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
    source, there = bench.source(seen.path), seen.flow[0]
    definition, like = bench.definition(seen.path, seen.span.start), bench.definition(there.path, there.span.start)
    if definition is None or like is None:
        return None
    edits = tuple(Edit(seen.path, *move) for move in reordered(source, definition, like))
    if seen.path.lower().endswith(".json"):
        return Mended(edits, Safety.SAFE)  # values of JSON say the same wherever they stand
    if _UNSURE.search(source.text, definition.start, definition.end):
        return None
    after = Source(seen.path, edited(source.text, edits))
    found = itertools.chain(*definitions_in(after))
    mended = next((one for one in found if one.start == definition.start), None)
    wanted = ordered(like.tree, bench.source(there.path).text)
    return Mended(edits, Safety.SAFE) if mended and ordered(mended.tree, after.text) == wanted else None
