"""What is left out where there is little room."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from prefixwise.core.report import Column, Table, Tree, Unit
from prefixwise.reports.brief import briefly, largest


def tree(*, brief: bool = True, drawn: tuple[str, ...] = ("size",)) -> Tree:
    rows = tuple((depth, f"{depth}-{size}", size) for depth, size in ((0, 90), *((1, 9 - n) for n in range(9)), (2, 9)))
    columns = (Column("size", "size", Unit.COUNT),)
    return Tree("t", "T", columns, rows, drawn=drawn, details=tuple((("n", str(n)),) for n in range(11)), brief=brief)


def test_the_largest_rows_are_kept_with_their_details() -> None:
    few, left_out = briefly(tree())
    assert left_out == "9 of 11 rows"
    assert [row[1] for row in few.rows] == ["0-90", "1-9", "1-8", "1-7", "1-6", "1-5", "1-4", "1-1", "2-9"]
    assert [told[0][1] for told in few.details] == ["0", "1", "2", "3", "4", "5", "6", "9", "10"]


def test_nothing_is_left_out_unasked_or_where_nothing_says_what_is_large() -> None:
    for block in (tree(brief=False), tree(drawn=())):
        assert briefly(block) == (block, "")
    table = Table("t", "T", (Column("a", "A"),), (("x",),) * 3, brief=True)
    assert briefly(table) == (table, "")


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), min_size=1, max_size=20))
def test_every_kept_row_has_what_it_stands_under(rows: list[tuple[int, int]]) -> None:
    depths = [depth for depth, _ in rows]
    kept = largest(depths, [float(value) for _, value in rows], 3)
    assert len(kept) >= min(3, len(rows))
    for index in kept:
        above = [other for other in range(index) if depths[other] < depths[index]]
        assert not above or above[-1] in kept
