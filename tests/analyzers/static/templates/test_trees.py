"""YAML and JSON as others read them, and where every character of a text stands."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from prefixwise.analyzers.static.templates.json_text import parse_json
from prefixwise.analyzers.static.templates.parts import UnreadableTemplateError
from prefixwise.analyzers.static.templates.trees import Mapping, Scalar, Sequence, Tree
from prefixwise.analyzers.static.templates.yaml_text import parse_yaml

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
TREES = st.recursive(TEXTS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3))
# What YAML cannot write in blocks or reads as something else is for another reader than ours.
LINES = st.lists(st.text("abc {}:%#'\"\\-é漢😀", min_size=1, max_size=12), min_size=1, max_size=5)

YAML = {
    "mapping": "a: b\nc: d e\n",
    "nested": "a:\n  b: c\n  d:\n    e: f\ng: h\n",
    "list": "- a\n- b: c\n  d: e\n- - f\n  - g\n-\n  h\n",
    "list at the same depth": "a:\n- b\n- c\nd: e\n",
    "literal": "a: |\n  one\n    two\n\n  three\nb: c\n",
    "literal, stripped": "a: |-\n  one\n  two\nb: c\n",
    "literal with a depth": "a: |2\n    one\n  two\n",
    "literal at the end": "a: |\n  one",
    "folded": "a: >\n  one\n  two\n\n  three\n",
    "quoted": "a: 'it''s'\nb: \"x\\n\\u00e9\\\"\"\n'c d': e\n",
    "plain over lines": "a: one\n  two\n  three\nb: c\n",
    "comments": "# one\na: b # two\n# three\nc: d#e\n",
    "in brackets": 'a: [b, "c"]\nd: {e: f}\n',
    "documents": "---\na: b\n---\nc: d\n",
    "anchors and tags": "a: &x b\nc: !str d\n",
    "empty": "a:\nb: c\n",
    "CRLF": "a: b\r\nc: |\r\n  d\r\n  e\r\nf: g\r\n",
    "keys with signs": 'a-b: c\nd.e: f\n"g: h": i\nj: k:l\n',
}


def plain(tree: Tree) -> Any:
    if isinstance(tree, Scalar):
        return tree.text
    if isinstance(tree, Sequence):
        return [plain(item) for item in tree.items]
    return {key: plain(value) for key, value in tree.entries}


def as_texts(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): as_texts(item) for key, item in value.items()}
    if isinstance(value, list):
        return [as_texts(item) for item in value]
    return "" if value is None else str(value)


def loosely(value: Any) -> Any:
    """Return a value without the white space at the ends of its texts, which folding and chomping decide."""
    if isinstance(value, dict):
        return {key: loosely(item) for key, item in value.items()}
    if isinstance(value, list):
        return [loosely(item) for item in value]
    return "\n".join(line.rstrip() for line in value.replace("\r\n", "\n").strip().splitlines() if line.strip())


@pytest.mark.parametrize("case", YAML)
def test_yaml_is_read_as_by_pyyaml(case):
    text = YAML[case]
    expected = next(iter(yaml.safe_load_all(text.replace("!str", "!!str"))))
    assert loosely(plain(parse_yaml(text))) == loosely(as_texts(expected))


@given(TREES)
def test_json_is_read_as_by_python(value):
    for ascii_only in (True, False):
        text = json.dumps(value, ensure_ascii=ascii_only, indent=1)
        assert plain(parse_json(text)) == value


@given(TREES)
def test_places_in_json(value):
    text = json.dumps(value)
    for scalar in scalars(parse_json(text)):
        view = scalar.view
        for at in range(len(view.text)):
            piece = text[view.start(at) : view.end(at + 1)]
            assert json.loads(f'"{piece}"') == view.text[at]
        assert json.loads(f'"{text[view.start(0) : view.end(len(view.text))]}"') == view.text


@given(LINES, st.sampled_from(["\n", "\r\n"]), st.integers(1, 4))
def test_places_in_a_block_of_yaml(lines, end, depth):
    text = f"a: |{end}" + "".join(f"{' ' * depth}x{line}{end}" for line in lines) + f"b: c{end}"
    tree = parse_yaml(text)
    assert isinstance(tree, Mapping)
    found = tree.get("a")
    assert isinstance(found, Scalar)
    assert found.text == "".join(f"x{line}{end}" for line in lines)
    view = found.view
    assert all(text[view.start(at) : view.end(at + 1)] == view.text[at] for at in range(len(view.text)))


@given(st.text(st.sampled_from("abc:-|>[]{}\"'\\#&!%, \n\r\t\ufeff漢"), max_size=60))
def test_any_text_is_read_or_refused(text):
    for parse in (parse_yaml, parse_json):
        try:
            places = [scalar.view.start(0) for scalar in scalars(parse(text))]
        except UnreadableTemplateError as problem:
            places = [problem.offset]
        assert all(0 <= place <= len(text) for place in places)


def scalars(tree: Tree) -> list[Scalar]:
    if isinstance(tree, Scalar):
        return [tree]
    inner = tree.items if isinstance(tree, Sequence) else [value for _, value in tree.entries]
    return [scalar for item in inner for scalar in scalars(item)]
