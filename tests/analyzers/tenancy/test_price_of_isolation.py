"""What isolation costs has the shape of the reference simulation: seeded chats of many tenants, without text."""

from __future__ import annotations

import random

import pytest
from support.tenants import RowsOfIds

from prefixwise.analyzers.tenancy.price import Isolation, Prices, Speed, prices_of_isolation
from prefixwise.analyzers.tenancy.shared_nodes import shared_nodes
from prefixwise.caches.policy import parse_policy
from prefixwise.caches.rulebook import Rulebook

HOUR = 3600.0
TURNS = 4


def chats(
    tenants: int, per_minute: float, system: int, hours: float = 6.0, seed: int = 7
) -> tuple[RowsOfIds, list[int]]:
    """Return chats of four turns of Zipf-distributed tenants; each has 256 tokens of its own behind the system text."""
    draw = random.Random(seed)
    weights = [1 / rank for rank in range(1, tenants + 1)]
    made, fresh = RowsOfIds(), iter(range(10_000_000, 2**31))
    head = list(range(system))
    own = [[next(fresh) for _ in range(256)] for _ in range(tenants)]
    calls = []
    start = 0.0
    while start < hours * HOUR:
        start += draw.expovariate(per_minute / TURNS / 60)
        tenant = draw.choices(range(tenants), weights)[0]
        ids, at = head + own[tenant], start
        for _ in range(TURNS):
            ids = ids + [next(fresh) for _ in range(draw.randint(60, 140))]
            calls.append((at, tenant, ids))
            ids = ids + [next(fresh) for _ in range(draw.randint(100, 300))]
            at += draw.uniform(20, 60)
    for at, tenant, ids in sorted(calls, key=lambda call: call[0]):
        made.add(ids, f"tenant {tenant}", at, system_end=system)
    return made, [system] * len(made.rows)


def priced(made: RowsOfIds, approved: list[int], rule: str, speed: Speed | None = None) -> Prices:
    rows = made.rows
    nodes = shared_nodes(rows, approved)
    return prices_of_isolation(rows, [parse_policy(rule)], bytes(len(rows)), nodes.approved, [1.0], Rulebook(), speed)


def rates(prices: Prices) -> tuple[float, float, float]:
    found = [prices.of(one).hit_rate for one in (Isolation.GLOBAL, Isolation.SHARED, Isolation.TENANT)]
    assert all(rate is not None for rate in found)
    return found[0] or 0, found[1] or 0, found[2] or 0


@pytest.mark.parametrize(
    ("tenants", "system", "rule", "least", "most"),
    [
        pytest.param(100, 1536, "ttl:seconds=300", 3, 13, id="five-minutes"),
        pytest.param(100, 1536, "ttl:seconds=3600", 1, 8, id="one-hour"),
        pytest.param(100, 1536, "lru:capacity=2000", 8, 22, id="little-room"),
        pytest.param(100, 512, "ttl:seconds=300", 1, 8, id="short-system-text"),
        pytest.param(100, 6000, "ttl:seconds=300", 6, 18, id="long-system-text"),
    ],
)
def test_isolation_costs_points_and_a_shared_prefix_gives_them_back(
    tenants: int, system: int, rule: str, least: float, most: float
) -> None:
    made, approved = chats(tenants, 10, system)
    everyone, shared, tenant = rates(priced(made, approved, rule))
    assert abs(everyone - shared) < 0.01
    assert least <= 100 * (everyone - tenant) <= most


def test_more_tenants_and_longer_system_texts_cost_more() -> None:
    few, many = (rates(priced(*chats(tenants, 10, 1536), "ttl:seconds=300")) for tenants in (100, 1000))
    long = rates(priced(*chats(100, 10, 6000), "ttl:seconds=300"))
    assert many[0] - many[2] > few[0] - few[2]
    assert long[0] - long[2] > few[0] - few[2]
    assert few[0] > 0.7


def test_nothing_is_shared_between_requests_that_are_all_apart_and_seconds_are_those_of_the_rest() -> None:
    made, approved = chats(20, 10, 512, hours=0.5)
    prices = priced(made, approved, "vllm", Speed(0.001, "given"))
    apart, everyone = prices.of(Isolation.REQUEST), prices.of(Isolation.GLOBAL)
    assert apart.cached_tokens == 0
    assert apart.prefill_seconds == pytest.approx(apart.prompt_tokens / 1000)
    assert everyone.prefill_seconds == pytest.approx((everyone.prompt_tokens - everyone.cached_tokens) / 1000)
    logged = parse_policy("vllm").replay(made.rows)
    assert everyone.cached_tokens == sum(logged.matched)
