"""Python code in tests: read, and told in short."""

from __future__ import annotations

import textwrap

from prefixwise.analyzers.static.python import read_python
from prefixwise.analyzers.static.sources import Source
from prefixwise.analyzers.static.volatile import Volatile

LONG = "Answer in the language of the question, name the source of every figure, and never guess a price. " * 8
"""Constant text that is worth keeping in a cache."""


def found_in(code: str, *, builders: tuple[str, ...] = (), **others: str) -> tuple[Volatile, ...]:
    """Return what is found in `app/main.py`, with further modules `app/NAME.py`; every place is checked."""
    texts = {"app/main.py": code} | {f"app/{name}.py": text for name, text in others.items()}
    return found_in_files(texts, builders=builders)


def found_in_files(texts: dict[str, str], *, builders: tuple[str, ...] = ()) -> tuple[Volatile, ...]:
    """Return what is found in files by path; every place is checked."""
    sources = {path: Source(path, textwrap.dedent(text)) for path, text in texts.items()}
    found, notes = read_python(sources, tuple(sources), builders)
    assert notes == ()
    for volatile in found:
        span = volatile.span
        assert sources[volatile.path].text[span.start : span.end] == volatile.quote
        assert sources[volatile.path].span(span.start, span.end) == span
        assert all(step.path in sources for step in volatile.flow)
    return found


def told(found: tuple[Volatile, ...]) -> list[str]:
    """Return findings in short: `kind: quote`."""
    return [f"{volatile.kind}: {volatile.quote}" for volatile in found]
