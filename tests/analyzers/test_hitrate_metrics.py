"""Gauges for Prometheus, read by its own client's parser."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families
from support.reading import corpus_of

from prefixwise.analyzers.accounts.accounted import accounted
from prefixwise.analyzers.hitrate import hit_rate
from prefixwise.analyzers.hitrate_metrics import hit_rate_metrics, last_start
from prefixwise.analyzers.hitrate_values import hit_rate_values
from prefixwise.caches.rulebook import Rulebook
from prefixwise.core.excerpt import Excerpts
from prefixwise.core.metrics import Metric, Sample, exposition

Series = dict[tuple[str, frozenset[tuple[str, str]]], float]


def parsed(page: str) -> Series:
    """Return the value of every series; none stands there twice."""
    found: Series = {}
    for family in text_string_to_metric_families(page):
        assert (family.type, bool(family.documentation)) == ("gauge", True)
        for sample in family.samples:
            key = (sample.name, frozenset(sample.labels.items()))
            assert key not in found
            found[key] = sample.value
    return found


def sent(prompt: list[int], at: float, tenant: str) -> dict[str, Any]:
    return {"request": {"model": "gpt-4.1", "prompt": prompt}, "start_time": 1_700_000_000 + at, "tenant": tenant}


def page(records: list[dict[str, Any]], *rules: str, by: tuple[str, ...] = ()) -> Series:
    corpus, book = corpus_of(*records), Rulebook()
    result, found = hit_rate(corpus, rules, by, book=book), accounted(corpus, rules, by, book)
    values = hit_rate_values(corpus, result, Excerpts.MASKED, found)
    return parsed(exposition(hit_rate_metrics(values, 2, last_start(corpus.rows))))


A = list(range(10))
LOG = [sent(A, 0, "a"), sent(A, 60, "a"), sent([*range(100, 110)], 30, 'b\n"\\')]


def at(found: Series, name: str, **labels: str) -> float | None:
    return found.get((f"prefixwise_hitrate_{name}", frozenset(labels.items())))


def test_figures_of_three_prompts() -> None:
    """Blocks of 4: 8 of 30 tokens are served. $2 a million, $0.50 read."""
    rule = "vllm:block=4"
    found = page(LOG, rule, by=("tenant", "family"))
    assert at(found, "requests") == 3
    assert at(found, "broken_records") == 2
    assert at(found, "last_request_timestamp_seconds") == 1_700_000_060
    assert at(found, "ratio", rule=rule) == 8 / 30
    assert at(found, "cached_tokens", rule="ceiling") == 10
    assert at(found, "account_tokens", rule=rule, account="granularity") == 2
    assert at(found, "account_tokens", rule=rule, account="first_seen") == 20
    assert at(found, "cost_usd", rule=rule) == pytest.approx((22 * 2 + 8 * 0.5) * 1e-6)
    assert at(found, "without_cache_usd", rule=rule) == pytest.approx(60e-6)
    assert at(found, "group_cached_tokens", rule=rule, field="tenant", value="a") == 8
    assert at(found, "group_prompt_tokens", rule=rule, field="tenant", value='b\n"\\') == 10
    assert not any(("field", "family") in labels for _, labels in found)
    assert at(found, "unexplained_tokens", rule=rule) is None  # no usage, no zero
    assert at(found, "ratio_least", rule=rule) is None


def test_doubts_of_a_provider() -> None:
    rule = "deepseek"
    records = [sent(list(range(1000)), 0, "a"), sent(list(range(1000)), 600, "a")]
    found = page(records, rule)
    least, plan, most = (at(found, name, rule=rule) for name in ("ratio_least", "ratio", "ratio_most"))
    assert least is not None
    assert plan is not None
    assert most is not None
    assert least <= plan <= most
    assert least < most


def test_two_groups_of_one_name_are_one_series() -> None:
    """Requests without a tenant go by a name that a tenant may have."""
    records = [sent(A, 0, "(no tenant)"), sent(A, 1, "")]
    found = page(records, "sglang", by=("tenant",))
    assert at(found, "group_prompt_tokens", rule="sglang:page=1", field="tenant", value="(no tenant)") == 20


def test_a_log_without_times_has_no_last_one() -> None:
    record = {"request": {"model": "m", "prompt": A}}
    assert at(page([record, record], "sglang"), "last_request_timestamp_seconds") is None


@given(st.text(max_size=30), st.floats())
def test_any_label_and_value_come_back(label: str, value: float) -> None:
    written = exposition([Metric("a_name", "What it\nsays \\ .", (Sample({"one": label, "two": "x"}, value),))])
    ((key, read),) = parsed(written).items()
    assert dict(key[1]) == {"one": label, "two": "x"}
    assert read == value or (math.isnan(read) and math.isnan(value))


def test_half_of_a_character_is_an_escape() -> None:
    ((key, _),) = parsed(exposition([Metric("n", "h", (Sample({"l": "a\udc80"}, 1),))])).items()
    assert dict(key[1]) == {"l": "a\\udc80"}


def test_no_samples_no_lines() -> None:
    assert (
        exposition([Metric("n", "h", ()), Metric("m", "h", (Sample({}, 3.0),))]) == "# HELP m h\n# TYPE m gauge\nm 3\n"
    )
