"""Lifetimes, delays and writes at once, as the bundled server has them."""

from __future__ import annotations

import pytest
from support.probing import one

from prefixwise.bench.probe.finding import Verdict


@pytest.mark.parametrize(("fault", "expiry"), [("ttl=1.1", "sliding"), ("ttl-fixed=1.1", "fixed")])
def test_lifetimes_and_whether_use_prolongs_them(fault: str, expiry: str) -> None:
    found = one("ttl", faults=[fault], ages=(0.3, 0.7, 1.6, 2.0))
    assert found.verdict is Verdict.MEASURED
    assert found.low <= 1.1 <= found.high
    assert found.low > 0.2
    assert found.high < 4
    assert found.facts["expiry"] in (expiry, "unclear")  # a busy machine may look too late to tell


def test_what_outlives_all_looks_has_no_upper_end() -> None:
    found = one("ttl", ages=(0.1, 0.5))
    assert (found.verdict, found.high) == (Verdict.MEASURED, None)
    assert found.low >= 0.5
    assert [value for name, value in found.facts.items() if name.startswith("alive_after_")] == [1.0, 1.0]


def test_a_delay_until_a_prompt_can_be_read_lies_in_its_bracket() -> None:
    found = one("visibility", faults=["visible=0.5"], settle=0.8)
    # On a busy machine answers end late, some prompts can be read sooner after that than others, and nothing is said.
    assert found.verdict in (Verdict.MEASURED, Verdict.INCONCLUSIVE)
    assert found.high is None or found.high > 0.1
    if found.verdict is Verdict.MEASURED:
        # The server counts from when it begins to write, some milliseconds before its answer ends.
        assert found.low <= 0.5


def test_a_prompt_that_can_be_read_at_once_is_one() -> None:
    found = one("visibility")
    assert (found.verdict, found.low) == (Verdict.MEASURED, 0.0)
    assert found.high < 1


@pytest.mark.parametrize(("faults", "paid"), [([], 1), (["replicas=2"], 2), (["visible=0.8"], 6)])
def test_identical_requests_at_once_are_computed_so_often(faults: list[str], paid: int) -> None:
    found = one("dedupe", faults=faults, at_once=6, settle=0.9)
    assert (found.verdict, round(found.value, 2)) == (Verdict.MEASURED, paid)
