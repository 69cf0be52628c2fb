"""A value that changes goes behind the text that does not, in whatever kind of source it stands."""

from __future__ import annotations

from prefixwise.analyzers.fixes.bench import Bench
from prefixwise.analyzers.fixes.edits import Mended
from prefixwise.analyzers.fixes.python_moves import moved_in_python
from prefixwise.analyzers.fixes.seen import Seen
from prefixwise.analyzers.fixes.template_moves import moved_in_template
from prefixwise.analyzers.static.scripts.tree import SUFFIXES
from prefixwise.analyzers.static.templates.found import TemplateTrait
from prefixwise.analyzers.static.volatile import Volatile
from prefixwise.core.finding import Confidence

_PYTHON = (".py", ".pyi")
_CODE = (*_PYTHON, ".ipynb", *SUFFIXES)


def moved_in_source(seen: Seen, bench: Bench) -> Mended | None:
    """Return the edits of a move, which a person has to look at; None where it is not plain what to move, or where to.

    Scripts and notebooks are left alone, and so is what is only guessed to change.
    """
    if isinstance(seen, TemplateTrait) or seen.confidence is Confidence.POSSIBLE:
        return None
    if not seen.path.endswith(_CODE):
        return moved_in_template(seen, bench)
    if isinstance(seen, Volatile) and seen.path.endswith(_PYTHON):
        return moved_in_python(seen, bench)
    return None
