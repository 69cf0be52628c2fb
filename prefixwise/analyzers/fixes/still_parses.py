"""Whether a file is still what it was after edits: code that parses, JSON, a template that can be read."""

from __future__ import annotations

import json

from prefixwise.analyzers.static.context import Outside
from prefixwise.analyzers.static.python.modules import UnparsedError, parsed
from prefixwise.analyzers.static.scripts.tree import SUFFIXES
from prefixwise.analyzers.static.sources import Source
from prefixwise.analyzers.static.templates.read import read_template

_PYTHON = (".py", ".pyi")
_JSON = (".json", ".ipynb")


def why_broken(path: str, text: str, outside: Outside) -> str:
    """Return why a file can no longer be read as what it is, '' where it can."""
    try:
        if path.endswith(_PYTHON):
            parsed(text.removeprefix("\ufeff"))
        if path.endswith(_JSON):
            json.loads(text.removeprefix("\ufeff"))
    except (UnparsedError, ValueError, RecursionError) as problem:
        return f"the file would not parse any more ({problem})"
    if path.endswith((*_PYTHON, *_JSON[1:], *SUFFIXES)):
        return ""
    problems = read_template(Source(path, text), outside.asked, outside.assumed).problems
    return f"the file could not be read any more ({problems[0].what})" if problems else ""
