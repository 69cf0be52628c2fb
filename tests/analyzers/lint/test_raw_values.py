from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefixwise.analyzers.lint.mended_history import canonical_text
from prefixwise.analyzers.lint.mended_tools import sorted_keys
from prefixwise.analyzers.lint.raw_values import place_in, with_value

KEYS = st.text(max_size=6) | st.sampled_from(["a", "b", "", '"', "\\", "~/", "0"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8) | st.sampled_from(['}"]', "\\", "{[,"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
INDENTS = st.sampled_from([None, 0, 1, "\t", " \r"])


def paths(value: Any) -> list[tuple[str, ...]]:
    """Return the paths of everything in a value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [(), *((str(key), *rest) for key, item in inner for rest in paths(item))]


def at(value: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value


@given(VALUES, INDENTS, st.booleans(), st.data())
def test_a_value_is_found_and_replaced_and_nothing_else_changes(
    value: Any, indent: str | int | None, plain: bool, data: st.DataObject
) -> None:
    raw = json.dumps(value, indent=indent, ensure_ascii=plain).encode("utf-8", "surrogatepass")
    path = data.draw(st.sampled_from(paths(value)))
    place = place_in(raw, path)
    assert place is not None
    assert json.loads(raw[place[0] : place[1]]) == at(value, path)
    mended = with_value(raw, path, b'"\\u00e5"')
    assert mended[: place[0]] == raw[: place[0]]
    assert mended[len(mended) - (len(raw) - place[1]) :] == raw[place[1] :]
    assert at(json.loads(mended), path) == "å"


@pytest.mark.parametrize("path", [("c",), ("a", "2"), ("a", "x"), ("b", "x"), ("a", "0", "y")])
def test_where_there_is_nothing_nothing_changes(path: tuple[str, ...]) -> None:
    raw = b'{ "a": [1, {}], "b": "text" }'
    assert place_in(raw, path) is None
    assert with_value(raw, path, b"1") is raw


def test_the_last_of_two_equal_keys_counts() -> None:
    assert with_value(b'{"a": 1, "b": 2, "a": 3}', ("a",), b"4") == b'{"a": 1, "b": 2, "a": 4}'


@given(VALUES, st.randoms(use_true_random=False))
def test_keys_in_any_order_are_written_in_one(value: Any, random: Any) -> None:
    def shuffled(inner: Any) -> Any:
        if isinstance(inner, dict):
            items = [(key, shuffled(item)) for key, item in inner.items()]
            random.shuffle(items)
            return dict(items)
        return [shuffled(item) for item in inner] if isinstance(inner, list) else inner

    one, other = msgspec.json.encode(value), msgspec.json.encode(shuffled(value))
    mended = sorted_keys(one)
    assert mended == sorted_keys(other) == sorted_keys(mended)
    assert json.loads(mended) == value


@given(VALUES, INDENTS)
def test_arguments_have_one_form_however_they_were_written(value: Any, indent: str | int | None) -> None:
    text = json.dumps({"value": value, "number": 2}, indent=indent)
    other = json.dumps({"number": 2.0, "value": value}, ensure_ascii=False)
    assert canonical_text(text) == canonical_text(other) == canonical_text(canonical_text(text))
