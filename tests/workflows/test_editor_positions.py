"""Places as editors count them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefixwise.workflows.editor.positions import Position, Positions, Unit

_WIDTHS = {Unit.UTF_8: ("utf-8", 1), Unit.UTF_16: ("utf-16-le", 2), Unit.UTF_32: ("utf-32-le", 4)}


@given(st.text(alphabet="ab é😀\r\n\u2028\x0c\ud800", max_size=30), st.sampled_from(Unit))
def test_every_place_is_found_again(text: str, unit: Unit) -> None:
    places = Positions(text, unit)
    name, width = _WIDTHS[unit]
    for offset in range(len(text) + 1):
        inside_line_end = text[offset - 1 : offset + 1] == "\r\n" and offset > 0
        before = text[: offset - inside_line_end]
        last = re.split(r"\r\n|\n|\r", before)[-1]
        expected = Position(len(re.findall(r"\r\n|\n|\r", before)), len(last.encode(name, "surrogatepass")) // width)
        if before.endswith("\r") and text[len(before) : len(before) + 1] == "\n":
            continue  # a place that the line above covers
        assert places.position(offset) == expected
        assert places.offset(expected) == len(before)


@pytest.mark.parametrize(
    ("asked", "offset"),
    [((0, 99), 3), ((0, 2), 1), ((0, 3), 2), ((1, 0), 5), ((1, 5), 6), ((9, 9), 6)],
)
def test_places_that_no_text_has_are_the_nearest_in_front(asked: tuple[int, int], offset: int) -> None:
    assert Positions("a😀b\r\nc", Unit.UTF_16).offset(Position(*asked)) == offset
