"""How long a prompt token takes, told by the log's own times."""

from __future__ import annotations

from typing import Any

import pytest
from support.reading import corpus_of

from prefixwise.analyzers.accounts.prefill import prefill_time


def calls(count: int, *, each: float, spread: int = 100, cached: int = 0) -> list[dict[str, Any]]:
    """Return calls whose time to the first token is 50 ms and `each` seconds for every uncached token."""
    records = []
    for number in range(count):
        prompt = 200 + spread * number
        details = {"cached_tokens": cached}
        usage = {"prompt_tokens": prompt, "completion_tokens": 1, "prompt_tokens_details": details}
        record = {"request": {"model": "m", "prompt": [number] * 3}, "usage": usage}
        records.append(record | {"ttft": 0.05 + each * (prompt - cached) + (0.001 if number % 2 else -0.001)})
    return records


def test_the_slope_is_found_and_cached_tokens_cost_nothing() -> None:
    for cached in (0, 128):
        found = prefill_time(corpus_of(*calls(60, each=0.0002, cached=cached)).rows)
        assert found is not None
        assert found.seconds == pytest.approx(0.0002, rel=0.02)
        assert found.low <= 0.0002 <= found.high
        assert found.requests == 60


@pytest.mark.parametrize(
    "records",
    [calls(20, each=0.0002), calls(60, each=0.0), calls(60, each=-0.0002), calls(60, each=0.0002, spread=1)],
    ids=["too few", "no slope", "falling", "all alike"],
)
def test_nothing_is_said_where_the_times_do_not_tell(records: list[dict[str, Any]]) -> None:
    assert prefill_time(corpus_of(*records).rows) is None
