"""A fixed order for what comes in none, in whatever kind of source it stands."""

from __future__ import annotations

from prefixwise.analyzers.fixes.bench import Bench
from prefixwise.analyzers.fixes.definition_order import keys_as_elsewhere
from prefixwise.analyzers.fixes.edits import Mended
from prefixwise.analyzers.fixes.python_order import in_fixed_order, with_sorted_keys
from prefixwise.analyzers.fixes.script_order import listing_sorted
from prefixwise.analyzers.fixes.seen import Seen
from prefixwise.analyzers.static.scripts.tree import SUFFIXES
from prefixwise.analyzers.static.templates.found import TemplateTrait
from prefixwise.analyzers.static.volatile import Volatile


def sorted_in_source(seen: Seen, bench: Bench) -> Mended | None:
    """Return the edits that sort what is gone through; None where it is not certain that only the order changes."""
    if not isinstance(seen, Volatile):
        return None
    if seen.path.endswith(tuple(SUFFIXES)):
        return listing_sorted(seen, bench)
    return in_fixed_order(seen, bench)


def keys_sorted_in_source(seen: Seen, bench: Bench) -> Mended | None:
    """Return the edits that give JSON its keys in a fixed order; None where that is not certain to be all they do."""
    if isinstance(seen, TemplateTrait):
        return keys_as_elsewhere(seen, bench)
    return with_sorted_keys(seen, bench) if isinstance(seen, Volatile) else None
