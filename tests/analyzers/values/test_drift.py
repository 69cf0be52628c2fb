"""Differences that change no word: in which way two texts are the same."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefixwise.analyzers.values import drift
from prefixwise.analyzers.values.numbers import numbers, readings, same_number_other_format
from prefixwise.analyzers.values.orders import order_only, subset_of_examples

SPACES = [
    ("a b ", "a b", "white space at the end"),
    ("a\n\n", "a", "white space at the end"),
    (" a", "a", "white space at the start"),
    (" a ", "a", "white space at both ends"),
    ("a  \nb", "a\nb", "white space at the ends of lines"),
    ("x\n  a", "x\n    a", "indentation"),
    ("a  b", "a b", "runs of white space"),
    ("a\n\n\nb", "a\n\nb", "runs of white space"),
    ("a b", "ab", "white space between other characters"),
    ("a b", "a c", None),
    ("a b", "a b", None),
    ("a\u00a0b", "a b", None),
]


@pytest.mark.parametrize(("before", "after", "expected"), SPACES)
def test_white_space_is_told_by_where_it_differs(before: str, after: str, expected: str | None) -> None:
    assert drift.white_space(before, after) == expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("a\r\nb\r\n", "a\nb\n", "line ends go from CRLF to LF"),
        ("a\nb", "a\rb", "line ends go from LF to CR"),
        ("a\r\nb\n", "a\nb\n", "line ends go from CRLF and LF to LF"),
        ("a\r\nb", "a\nc", None),
        ("a\nb", "a\nb", None),
    ],
)
def test_line_ends_are_named(before: str, after: str, expected: str | None) -> None:
    assert drift.line_ends(before, after) == expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("fr\u00e5n", "fra\u030an", "normal form goes from NFC to NFD"),
        ("fra\u030an", "fr\u00e5n", "normal form goes from NFD to NFC"),
        ("12\u00a0000", "12 000", "no-break or other special spaces in place of plain ones"),
        ("a\u200bb", "ab", "invisible characters come or go"),
        ("\u201ca\u201d", '"a"', "typographic quotes or dashes in place of plain ones"),
        ("\ufb01le", "file", "compatibility characters in place of plain ones"),
        ("caf\u00e9", "cafe", "accents come or go"),
        ("stra\u00dfe", "strasse", None),
        ("a", "b", None),
    ],
)
def test_unicode_forms_are_named(before: str, after: str, expected: str | None) -> None:
    assert drift.unicode_form(before, after) == expected


@pytest.mark.parametrize(
    ("before", "after", "unicode", "json"),
    [
        ("K\u00e5re", r"K\u00e5re", True, True),
        ("\U0001f600", r"\ud83d\ude00", True, True),
        ('say "x"', r"say \"x\"", False, True),
        ("a\nb", r"a\nb", False, True),
        (r"a\b", "a", False, False),
        ("a", "b", False, False),
    ],
)
def test_escapes_are_seen(before: str, after: str, unicode: bool, json: bool) -> None:
    assert (drift.unicode_escapes(before, after) is not None) == unicode
    assert (drift.json_escapes(before, after) is not None) == json


def test_character_references_are_seen() -> None:
    assert drift.references("Q&amp;A", "Q&A")
    assert drift.references("Q&A", "Q&B") is None


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ('{"a":1,"b":2}', '{"b":2,"a":1}', "key order"),
        ('{"a":1}', '{"a": 1}', "spacing"),
        ('{"a":2.0}', '{"a":2}', "number spelling"),
        ('{"a":"\u00e5"}', '{"a":"\\u00e5"}', "escapes"),
        ('{"a":[{"x":1,"y":2}]}', '{"a": [{"y":2,"x":1}]}', "key order and spacing"),
        ('{"a":1}', '{"a":2}', None),
        ('{"a":1}', '{"a":true}', None),
        ("[1,2]", "[2,1]", None),
        ('{"a":1}', '{"a":1', None),
        ('"a"', '"a" ', None),
        ("[" * 3_000 + "]" * 3_000, "[ " * 3_000 + "]" * 3_000, None),
    ],
)
def test_json_is_compared_by_value(before: str, after: str, expected: str | None) -> None:
    said = drift.json_equal(before, after)
    assert said is None if expected is None else said == f"the same JSON with other {expected}"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=4), VALUES, max_size=4), VALUES)
def test_json_is_equal_when_python_says_so(value: dict, other: object) -> None:
    plain, spaced = json.dumps(value), json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False)
    assert plain == spaced or drift.json_equal(plain, spaced)
    different = json.dumps(other)
    same = json.loads(different) == value and repr(json.loads(different)) == repr(value)
    assert same or drift.json_equal(plain, different) is None or different == plain


@given(st.text(max_size=30))
def test_normal_forms_of_a_text_are_seen_as_such(text: str) -> None:
    one, other = unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)
    assert one == other or drift.unicode_form(one, other) is not None


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("1,234.5", "1.234,5", True),
        ("1,234", "1.234", True),
        ("1 234 567", "1,234,567", True),
        ("12.5", "12,5", True),
        ("$1,234.50", "1.234,50 €", True),
        ("1,234.5", "1,234.6", False),
        ("12.5", "12,6", False),
        ("3/17/2026", "17.03.2026", True),
        ("9:14 PM", "21:14", True),
        ("Tuesday", "mardi", True),
        ("Tuesday", "mercredi", False),
        ("17 March 2026", "2026-03-17", True),
        ("17 March 2026", "2026-03-18", False),
        ("abc", "abd", False),
        ("12", "12", False),
        ("3.10", "3.1", False),
        ("1,234", "1234", True),
    ],
)
def test_one_value_in_two_notations(before: str, after: str, same: bool) -> None:
    assert (same_number_other_format(before, after) is not None) == same
    assert (same_number_other_format(after, before) is not None) == same


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("49% - 1,085/2,200 chars", ["49", "1085", "2200"]),
        ("$3.20", ["3.20"]),
        ("1.2k", ["1200.0"]),
        ("00:14:07", ["847"]),
        ("3m 40s", ["220"]),
        ("1h 5m", ["3900"]),
        ("99_870", ["99870"]),
        ("1.234.567,5", ["1234567.5"]),
        ("1 204 tokens", ["1204"]),
        ("none", []),
    ],
)
def test_numbers_are_read(text: str, values: list[str]) -> None:
    assert [number.value for number in numbers(text)] == [readings(value)[0] for value in values]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("a\nb\nc", "c\na\nb", "lines"),
        ("- a\n- b", "- b\n- a", "lines"),
        ("1. a\n2. b", "1. b\n2. a", "lines"),
        ("a, b, c", "c, b, a", "parts"),
        ("a; b", "b; a", "parts"),
        ("a, b and c", "c, a and b", "parts"),
        ("{'a', 'b'}", "{'b', 'a'}", "parts"),
        ("one\ntwo\n\nthree\nfour", "three\nfour\n\none\ntwo", "lines"),
        ("Be kind. Be brief.", "Be brief. Be kind.", "sentences"),
        ("<t>a</t><t>b</t>", "<t>b</t><t>a</t>", "elements"),
        ("Example 1:\na\nExample 2:\nb", "Example 1:\nb\nExample 2:\na", "examples"),
        ("Q: a\nA: b\nQ: c\nA: d", "Q: c\nA: d\nQ: a\nA: b", "examples"),
        ("a\nb\nb", "b\na\na", None),
        ("a\nb", "a\nc", None),
        ("a, b", "a, b, c", None),
        ("one word", "word one", None),
        ("a", "a", None),
    ],
)
def test_only_the_order_differs(before: str, after: str, expected: str | None) -> None:
    assert order_only(before, after) == expected


@given(st.lists(st.sampled_from(["a", "b,c", "Q: x", "1. d", "e. f", "<i>g</i>", ""]), max_size=5), st.randoms())
def test_the_order_of_two_texts_is_symmetric(parts: list[str], chance: object) -> None:
    mixed = list(parts)
    chance.shuffle(mixed)  # type: ignore[attr-defined]
    for joint in ("\n", ", ", "\n\n"):
        one, other = joint.join(parts), joint.join(mixed)
        assert order_only(one, other) == order_only(other, one)


ONE = "Examples\nQ: two and two?\nA: four\nQ: a bird?\nA: wren\n"


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ("Examples\nQ: a bird?\nA: wren\nQ: two and two?\nA: four\n", "the same examples in another order"),
        ("Examples\nQ: a bird?\nA: wren\nQ: what is the time\nA: nine\n", "other examples, some of them the same"),
        ("Examples\nQ: a fish\nA: cod with chips\nQ: where is Oslo\nA: in the north\n", "other examples"),
        ("Examples\nQ: two and two?\nA: four\nQ: a bird?\nA: wren\nTime: 9\n", None),
        ("Nothing here", None),
        (ONE, None),
    ],
)
def test_other_examples_of_a_set(after: str, expected: str | None) -> None:
    assert subset_of_examples(ONE, after) == expected
