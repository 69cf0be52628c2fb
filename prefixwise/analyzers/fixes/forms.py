"""One form for the text of a prompt file: its line ends, and no blanks at the ends of its lines."""

from __future__ import annotations

from prefixwise.analyzers.fixes.bench import Bench
from prefixwise.analyzers.fixes.edits import Mended
from prefixwise.analyzers.fixes.seen import Seen
from prefixwise.analyzers.static.templates.found import TemplateTrait
from prefixwise.analyzers.static.templates.text_forms import Misfit, mixed_line_ends, trailing_blanks
from prefixwise.core.finding import Edit, Safety


def one_line_end_in_source(seen: Seen, bench: Bench) -> Mended | None:
    """Return the edits that end all lines of a prompt file as most of them end."""
    if not isinstance(seen, TemplateTrait):
        return None
    return _mended(seen.path, mixed_line_ends(bench.source(seen.path), bench.templates(seen.path)))


def without_trailing_blanks(seen: Seen, bench: Bench) -> Mended | None:
    """Return the edits that take away the blanks at the ends of a prompt file's lines."""
    if not isinstance(seen, TemplateTrait):
        return None
    return _mended(seen.path, trailing_blanks(bench.source(seen.path), bench.templates(seen.path)))


def _mended(path: str, found: tuple[Misfit, ...]) -> Mended | None:
    edits = tuple(Edit(path, one.start, one.end, one.text) for one in found)
    return Mended(edits, Safety.SAFE) if edits else None
