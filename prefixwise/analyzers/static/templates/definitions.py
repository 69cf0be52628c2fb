"""Definitions of tools and schemas in JSON and YAML files: what an API prints into the prompt as it is written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from prefixwise.analyzers.static.sources import Source
from prefixwise.analyzers.static.templates.json_text import parse_json
from prefixwise.analyzers.static.templates.parts import UnreadableTemplateError
from prefixwise.analyzers.static.templates.trees import Mapping, Scalar, Sequence, Tree
from prefixwise.analyzers.static.templates.yaml_text import parse_yaml

_YAML = (".yaml", ".yml")
_PARAMETERS = ("input_schema", "inputSchema", "parameters", "parametersJsonSchema", "parameters_json_schema")
_WRAPPERS = ("function", "toolSpec")
_SIGNS = (*_PARAMETERS, "properties")
_DEEPEST = 20
_QUOTES = "\"'"
_VALUE = re.compile(r"(?i)|~|null|true|false|yes|no|on|off|[-+.\d].*")
"""What is no text where it has no quotes, in JSON or in YAML."""


class Definition(NamedTuple):
    """A tool or a schema; `start`, `end`: from its first key to the end of its last value."""

    tree: Mapping
    name: str
    is_tool: bool

    @property
    def start(self) -> int:
        """Where its first key begins."""
        return self.tree.places[0][0]

    @property
    def end(self) -> int:
        """Where its last value ends."""
        return self.tree.places[-1][1]


def definitions_in(source: Source) -> list[tuple[Definition, ...]]:
    """Return the lists of definitions that a file holds, in its order; one that stands alone is a list of one.

    Nothing of a file that is neither JSON nor YAML, or cannot be read.
    """
    if not any(sign in source.text for sign in _SIGNS):
        return []
    tree = _tree(source)
    return [] if tree is None else list(_lists(tree, 0))


def holds_tools(text: str) -> bool:
    """Say whether a text is JSON that holds definitions of tools."""
    if not any(sign in text for sign in _PARAMETERS):
        return False
    found = definitions_in(Source("tools.json", text))
    return any(definition.is_tool for definitions in found for definition in definitions)


def is_tool(tree: Tree) -> bool:
    """Say whether a mapping defines a tool, in the form of any API."""
    if not isinstance(tree, Mapping):
        return False
    inner = tree.get(*_WRAPPERS)
    if isinstance(inner, Mapping) and inner.said("name"):
        return True
    return bool(tree.said("name")) and isinstance(tree.get(*_PARAMETERS), Mapping)


def ordered(tree: Tree, text: str) -> str:
    """Return what a tree says with its keys in their order: other text for another order, the same for other blanks."""
    return json.dumps(_plain(tree, text))


def unordered(tree: Tree, text: str) -> str:
    """Return what a tree says whatever order its keys come in."""
    return json.dumps(_plain(tree, text), sort_keys=True)


def _plain(tree: Tree, text: str) -> object:
    if isinstance(tree, Mapping):
        return {key: _plain(value, text) for key, value in tree.entries}
    if isinstance(tree, Sequence):
        return [_plain(item, text) for item in tree.items]
    return _is_text(tree, text), tree.text


def _is_text(scalar: Scalar, text: str) -> bool:
    """Say whether a value is a text: a number in quotes is another value than the number."""
    start = scalar.view.start(0)
    is_quoted = start > 0 and text[start - 1] in _QUOTES
    return is_quoted or "\n" in scalar.text or _VALUE.fullmatch(scalar.text) is None


def _tree(source: Source) -> Tree | None:
    """Return what a file holds; None where a key comes twice, for then its order means something."""
    try:
        if source.path.lower().endswith(_YAML):
            tree = parse_yaml(source.text)
        elif source.path.lower().endswith(".json"):
            json.loads(source.text.removeprefix("\ufeff"))
            tree = parse_json(source.text)
        else:
            return None
        return tree if _has_single_keys(tree) else None
    except (UnreadableTemplateError, ValueError, RecursionError):
        return None


def _has_single_keys(tree: Tree) -> bool:
    if isinstance(tree, Sequence):
        return all(map(_has_single_keys, tree.items))
    if isinstance(tree, Scalar):
        return True
    keys = [key for key, _ in tree.entries]
    return len(set(keys)) == len(keys) and all(_has_single_keys(value) for _, value in tree.entries)


def _lists(tree: Tree, depth: int) -> Iterator[tuple[Definition, ...]]:
    if depth > _DEEPEST or isinstance(tree, Scalar):
        return
    if isinstance(tree, Sequence):
        mappings = [item for item in tree.items if isinstance(item, Mapping) and item.places]
        if mappings and len(mappings) == len(tree.items) and any(map(is_tool, mappings)):
            yield tuple(Definition(item, _name(item), is_tool=True) for item in mappings)
            return
        for item in tree.items:
            yield from _lists(item, depth + 1)
        return
    if tree.places and (is_tool(tree) or _is_schema(tree)):
        yield (Definition(tree, _name(tree), is_tool(tree)),)
        return
    for _, value in tree.entries:
        yield from _lists(value, depth + 1)


def _is_schema(tree: Mapping) -> bool:
    return tree.said("type") == "object" and isinstance(tree.get("properties"), Mapping)


def _name(tree: Mapping) -> str:
    inner = tree.get(*_WRAPPERS)
    named = inner if isinstance(inner, Mapping) else tree
    return named.said("name", "title", "type")
