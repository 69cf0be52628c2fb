"""No text makes the readings of a value slow, and none makes them fail."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefixwise.analyzers.values import drift
from prefixwise.analyzers.values.ages import relative_time
from prefixwise.analyzers.values.dates import clock_at, read
from prefixwise.analyzers.values.describe import describe
from prefixwise.analyzers.values.hunks import hunks
from prefixwise.analyzers.values.identifiers import identifier_shape, looks_random
from prefixwise.analyzers.values.labels import scope
from prefixwise.analyzers.values.numbers import numbers, same_number_other_format
from prefixwise.analyzers.values.orders import order_only, subset_of_examples
from prefixwise.analyzers.values.prose import is_prose, word_count
from prefixwise.analyzers.values.versions import is_model, is_version

PATTERNS = [
    *(
        "a",
        "1",
        " ",
        "\n",
        "-",
        ":",
        ".",
        ",",
        "[",
        "<a ",
        "</a>",
        "{",
        "a.",
        "1,",
        "1:",
        "9:1",
        "a-",
        "1-",
        "a=",
        "a:",
        "#",
    ),
    *(
        "\n#",
        "\n[",
        "a\n",
        "1\n",
        "a b ",
        "Aa ",
        "1 1 ",
        "a,b;",
        "()",
        "\\",
        "\\u00",
        "é",
        "e\u0301",
        "日",
        "&",
        "\t \n",
        "|a",
    ),
    *(
        "Example 1:\n",
        "Q:",
        "vor 1 ",
        "2 minutes ",
        "2026-",
        "12 mar ",
        "0x",
        "a/",
        "a@",
        "a.b@",
        "- a\n",
        "\r\n",
        "\r",
    ),
    *(
        '{"a":',
        '"a":1,',
        "a: b\n",
        "- \n",
        "x1-",
        "eyJ",
        "/a",
        "~",
        "%",
        "§1.",
        "ab1c2-",
        "in 5 ",
        "a_",
        "(1) ",
        "Aa'",
        "...",
    ),
]
LONG = 60_000
ENOUGH = 1.0
"""Seconds that no call comes near to, while anything quadratic would take minutes."""

SINGLE: list[Callable[[str], object]] = [
    *(relative_time, read, numbers, word_count, is_prose, is_version, is_model, identifier_shape, looks_random),
    lambda text: clock_at(text, len(text) // 2, len(text) // 2 + 1),
    lambda text: scope(text, len(text)),
]
DOUBLE: list[Callable[[str, str], object]] = [
    *(drift.white_space, drift.line_ends, drift.unicode_form, drift.unicode_escapes, drift.json_escapes),
    *(drift.references, drift.json_equal, order_only, subset_of_examples, same_number_other_format),
]


def changed(text: str) -> list[str]:
    """Return texts near to a long one: a change at either end, in the middle, everywhere, or in the order."""
    middle = len(text) // 2
    return [
        *("X" + text, text + "X", text[:middle] + "X" + text[middle:], text[:middle] + text[middle + 1 :]),
        *(text.replace("a", "b"), text[1:], text[middle:] + text[:middle], text[::-1]),
    ]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_no_text_is_slow(pattern: str) -> None:
    text = pattern * (LONG // len(pattern))
    for function in SINGLE:
        assert seconds(function, text) < ENOUGH
    for other in changed(text):
        assert seconds(hunks, text, other) < ENOUGH
        for hunk in hunks(text, other)[:3]:
            assert seconds(describe, text, other, hunk) < ENOUGH
    short = pattern * (6_000 // len(pattern))
    for other in changed(short):
        for compare in DOUBLE:
            assert seconds(compare, short, other) < ENOUGH


def seconds(function: Callable[..., object], *arguments: object) -> float:
    """Return the seconds of CPU that a call takes."""
    start = time.process_time()
    function(*arguments)
    return time.process_time() - start


ANYTHING = st.text(max_size=80) | st.text(alphabet="0123456789:-./, T[]{}\"'\n\r\u0301é日<>", max_size=80)


@given(ANYTHING, ANYTHING, ANYTHING, ANYTHING)
def test_no_text_makes_a_reading_fail(left: str, old: str, new: str, right: str) -> None:
    before, after = left + old + right, left + new + right
    for hunk in hunks(before, after):
        description = describe(before, after, hunk, (old, new, right), "some label")
        assert description.candidates
        assert max(map(len, description.quote.values)) <= 160


@given(ANYTHING, ANYTHING)
def test_the_same_texts_are_read_the_same_way(before: str, after: str) -> None:
    assert [describe(before, after, hunk) for hunk in hunks(before, after)] == [
        describe(before, after, hunk) for hunk in hunks(before, after)
    ]
