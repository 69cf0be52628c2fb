"""Sound salts are never called weak, weak ones always: over many seeds, many tenants and few."""

from __future__ import annotations

import random

import pytest
from support.salts import SOUND, WEAK, tenant_names

from prefixwise.analyzers.tenancy.salts import Weak, Weakness, weak_salts

SOUND_SETS, WEAK_SETS = 40, 10


def judged(maker: str, seed: int) -> tuple[list[str], tuple[Weak, ...]]:
    draw = random.Random(f"{maker} {seed}")
    names = tenant_names(draw, draw.choice([3, 5, 8, 25]))
    salts = (SOUND | WEAK)[maker](draw, names)
    by_salt: dict[str, list[str]] = {}
    for name, salt in zip(names, salts, strict=True):
        by_salt.setdefault(salt, []).append(name)
    return salts, weak_salts(by_salt)


@pytest.mark.parametrize("maker", SOUND)
def test_sound_salts_are_never_weak(maker: str) -> None:
    assert [(seed, weak) for seed in range(SOUND_SETS) if (weak := judged(maker, seed)[1])] == []


@pytest.mark.parametrize("maker", WEAK)
def test_every_weak_salt_is_found_in_every_set(maker: str) -> None:
    for seed in range(WEAK_SETS):
        salts, found = judged(maker, seed)
        assert {salt for weak in found if weak.certain for salt in weak.salts} == set(salts), (seed, salts[:3], found)


@pytest.mark.parametrize(
    ("salts", "weakness"),
    [
        ({"c4ca4238a0b923820dcc509a6f75849b": ["ash"]}, Weakness.DERIVED),  # md5("1")
        ({"": ["ash"]}, Weakness.DERIVED),
        ({"fe4a1c1b6f2d49d1": ["ash"]}, Weakness.SHORTISH),
        ({"01ARZ3NDEKTSV4RRFFQ69G5FAV": ["a"], "01BX5ZZKBKACTAV9WEVGEMMVRZ": ["b"]}, Weakness.TIMED),
        ({"k-2026-01-31-f3": ["ash"]}, Weakness.TIMED),
    ],
)
def test_single_salts(salts: dict[str, list[str]], weakness: Weakness) -> None:
    assert [weak.weakness for weak in weak_salts(salts)] == [weakness]
