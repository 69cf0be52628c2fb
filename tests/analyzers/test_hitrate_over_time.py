"""Hit rates over time: which window a request falls in, and what each rate is of."""

from __future__ import annotations

from typing import Any

import pytest
from support.reading import corpus_of

from prefixwise.analyzers.hitrate_over_time import OverTime, over_time, over_time_block
from prefixwise.reports.numbers import show

START = 1_700_000_000


def log(ats: list[float | None], **usage: int) -> list[dict[str, Any]]:
    said = {"usage": {"prompt_tokens": 8, "prompt_tokens_details": {"cached_tokens": 4}}}
    return [
        {
            "request": {"model": "m", "prompt": [number] * 10},
            **({} if at is None else {"start_time": START + at}),
            **(said if number % 2 else {}),
        }
        for number, at in enumerate(ats)
    ]


def counted(ats: list[float | None]) -> OverTime | None:
    rows = corpus_of(*log(ats)).rows
    return over_time(rows, [1.0], "vllm", [number % 10 for number in range(len(rows))], [10] * len(rows))


def test_windows_are_of_equal_length_and_hold_every_request() -> None:
    found = counted([*range(10), *range(90, 101)])
    assert found is not None
    assert found.starts == (START, START + 25, START + 50, START + 75)
    assert found.window_s == 25
    assert found.requests == (10, 0, 0, 11)
    assert found.modelled == (0.45, None, None, 0.45 * 100 / 110)
    assert found.ceiling == (1.0, None, None, 1.0)
    assert found.reported == (0.5, None, None, 0.5)


def test_requests_without_a_start_are_in_no_window() -> None:
    found = counted([*range(20), None, None])
    assert found is not None
    assert sum(found.requests) == 20


@pytest.mark.parametrize("ats", [[*range(19)], [5] * 30, [None] * 30], ids=["few", "at once", "no times"])
def test_nothing_is_said_where_no_time_passes_or_little_is_known(ats: list[float | None]) -> None:
    assert counted(ats) is None


def test_a_line_that_nobody_reports_is_not_drawn() -> None:
    rows = corpus_of(*({**record, "usage": None} for record in log([*range(20)]))).rows
    found = over_time(rows, [1.0], "vllm", [5] * 20, [10] * 20)
    assert found is not None
    block = over_time_block(found)
    assert [column.name for column, _ in block.lines] == ["modelled", "ceiling"]
    assert show(block.points[0], block.x.unit) == "2023-11-14 22:13:20"
