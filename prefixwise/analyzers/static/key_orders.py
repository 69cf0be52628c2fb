"""Definitions that are equal but for the order of their keys: two texts to a cache, where one was meant.

Whatever prints a definition prints its keys in the order of the file. A list whose members each have an order of their
own is the same text on every call; what costs is a definition that stands in two places, so that requests made from
one of them cannot use what was cached of the other.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from prefixwise.analyzers.static.sources import Source
from prefixwise.analyzers.static.templates.definitions import Definition, definitions_in, ordered, unordered
from prefixwise.analyzers.static.templates.found import TemplateTrait
from prefixwise.analyzers.static.templates.tokens import count_tokens
from prefixwise.analyzers.static.templates.trees import Mapping, Sequence, Tree
from prefixwise.core.excerpt import Excerpts, excerpt
from prefixwise.core.finding import Severity, Step

KEY_ORDER = "schema-key-order"
_LONGEST_NAME = 60
_KEY = re.compile(r"""\"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^:\s]+""")


class _Known(NamedTuple):
    """A definition that was seen before, and in which file."""

    source: Source
    definition: Definition
    model: str


def key_order_traits(sources: Iterable[Source], model_of: Callable[[str], str]) -> Iterator[TemplateTrait]:
    """Yield what is to be said of definitions that stand elsewhere with their keys in another order.

    The first one, by path and place, is what the others are held against. Only the beginnings of lists are compared, as
    far as they are equal: behind the first tool that is another one nothing is shared anyway.

    Args:
        sources: JSON and YAML files in the order of their paths.
        model_of: Returns the model that reads a file's prompts, '' where it is not known: models share nothing.
    """
    known: dict[bytes, list[_Known]] = {}
    for source in sources:
        model = model_of(source.path)
        for definitions in definitions_in(source):
            before = b""
            for definition in definitions:
                said = unordered(definition.tree, source.text).encode()
                before = hashlib.blake2b(before + said, digest_size=16).digest()
                alike = known.setdefault(before, [])
                first = next((one for one in alike if not (one.model and model and one.model != model)), None)
                if first is None:
                    alike.append(_Known(source, definition, model))
                elif (trait := _trait(source, definition, first)) is not None:
                    yield trait


def reordered(source: Source, definition: Definition, like: Definition) -> list[tuple[int, int, str]]:
    """Return (start, end, text) of what to write where, so that a definition has its keys in the order of another one.

    Only what has to move is written; every value keeps the form in which it stands.

    Args:
        source: The file of the definition.
        definition: One that is equal to `like` but for the order of keys.
        like: Has the order that is wanted.
    """
    return list(_moves(source.text, definition.tree, like.tree))


def _trait(source: Source, definition: Definition, first: _Known) -> TemplateTrait | None:
    if ordered(definition.tree, source.text) == ordered(first.definition.tree, first.source.text):
        return None
    at, key, usual = _parting(definition.tree, first.definition.tree)
    written = _KEY.match(source.text, at)
    span, quote = source.quote(at, at if written is None else written.end())
    what = f"The tool `{_shown(definition.name)}`" if definition.is_tool else "This schema"
    there = first.source.span(first.definition.start, first.definition.start)
    message = (
        f"{what} stands in {first.source.path}:{there.line} too, with its keys in another order: equal to a program, "
        "and another text to the cache"
    )
    return TemplateTrait(
        rule=KEY_ORDER,
        severity=Severity.MEDIUM,
        path=source.path,
        span=span,
        quote=quote,
        message=message,
        flow=(
            Step(
                first.source.path, there, f"it stands here too, with `{_shown(usual)}` in the place of `{_shown(key)}`"
            ),
        ),
        evidence=("nothing but the order of keys differs",),
        tokens=count_tokens(source.text[at : definition.end]),
    )


def _shown(name: str) -> str:
    return excerpt(name, Excerpts.MASKED, _LONGEST_NAME) or ""


def _parting(tree: Tree, like: Tree) -> tuple[int, str, str]:
    """Return the offset of the first key that comes where the other one has another key, and both keys."""
    pairs = [(tree, like)]
    while pairs:
        one, other = pairs.pop()
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            for (key, _), (usual, _), (start, _) in zip(one.entries, other.entries, one.places, strict=True):
                if key != usual:
                    return start, key, usual
            pairs += [(v, w) for (_, v), (_, w) in zip(one.entries, other.entries, strict=True)][::-1]
        elif isinstance(one, Sequence) and isinstance(other, Sequence):
            pairs += list(zip(one.items, other.items, strict=True))[::-1]
    raise ValueError("these have their keys in one order")


def _moves(text: str, tree: Tree, like: Tree) -> Iterator[tuple[int, int, str]]:
    if isinstance(tree, Sequence) and isinstance(like, Sequence):
        for one, other in zip(tree.items, like.items, strict=True):
            yield from _moves(text, one, other)
    if not isinstance(tree, Mapping) or not isinstance(like, Mapping):
        return
    found = {key: (value, place) for (key, value), place in zip(tree.entries, tree.places, strict=True)}
    for (key, _), slot, (wanted, other) in zip(tree.entries, tree.places, like.entries, strict=True):
        value, (start, end) = found[wanted]
        inner = list(_moves(text, value, other))
        if key == wanted:
            yield from inner
        else:
            yield (*slot, _written(text, start, end, inner))


def _written(text: str, start: int, end: int, moves: list[tuple[int, int, str]]) -> str:
    """Return a stretch of a text with moves made in it."""
    pieces: list[str] = []
    for first, last, new in sorted(moves):
        pieces += (text[start:first], new)
        start = last
    return "".join((*pieces, text[start:end]))
