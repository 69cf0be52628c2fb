"""What fixes of sources are made from: the text of each file, and what the analyses make of it."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Mapping

from prefixwise.analyzers.fixes.python_tree import PythonTree
from prefixwise.analyzers.static.context import OutsideOf, nothing_known
from prefixwise.analyzers.static.python.modules import Module, UnparsedError
from prefixwise.analyzers.static.sources import Source
from prefixwise.analyzers.static.templates.definitions import Definition, definitions_in
from prefixwise.analyzers.static.templates.parts import Template
from prefixwise.analyzers.static.templates.read import read_template

_PYTHON = (".py", ".pyi")


class Bench:
    """Sources at hand, each parsed when it is first asked for.

    Args:
        sources: By path.
        outside: What is known of each file from outside.
    """

    def __init__(self, sources: Mapping[str, Source], outside: OutsideOf = nothing_known) -> None:
        self._sources = sources
        self._outside = outside
        self._trees: dict[str, PythonTree | None] = {}
        self._templates: dict[str, tuple[Template, ...]] = {}
        self._definitions: dict[str, tuple[Definition, ...]] = {}

    def source(self, path: str) -> Source:
        """Return a file. Raises KeyError where it is none of those at hand."""
        return self._sources[path]

    def tree(self, path: str) -> PythonTree | None:
        """Return a file as Python; None where it is something else, a notebook too, or cannot be parsed."""
        if path not in self._trees:
            self._trees[path] = None
            if path.endswith(_PYTHON):
                try:
                    self._trees[path] = PythonTree(Module(self.source(path)))
                except (UnparsedError, RecursionError, ValueError):
                    return None
        return self._trees[path]

    def definition(self, path: str, offset: int) -> Definition | None:
        """Return the tool or schema that a place of a JSON or YAML file lies in, None where it lies in none."""
        if path not in self._definitions:
            self._definitions[path] = tuple(itertools.chain(*definitions_in(self.source(path))))
        found = self._definitions[path]
        at = bisect.bisect_right(found, offset, key=lambda one: one.start) - 1
        return found[at] if at >= 0 and offset < found[at].end else None

    def templates(self, path: str) -> tuple[Template, ...]:
        """Return the prompts that a prompt file holds; none where it cannot be read."""
        if path not in self._templates:
            known = self._outside(path)
            found = read_template(self.source(path), known.asked, known.assumed)
            self._templates[path] = () if found.problems else found.templates
        return self._templates[path]
