"""Labelled traffic: the same for a seed, wrong in one place only, and readable."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.breakers.family import ANTHROPIC_11, OPENAI_21, Family
from benchmarks.breakers.logs import FAMILIES, Log, make_log
from benchmarks.breakers.scene import Variant
from prefixwise.corpus.corpus import read_corpus

ROOT = Path(__file__).parents[2]
CAUSES = [family for family in FAMILIES.values() if not family.is_control]
CONTROLS = [family for family in FAMILIES.values() if family.is_control]
LEAST_COST = 0.03  # of the hit rate, by which a cause costs something
STEP_NOISE = 0.07  # what a few more tokens of a prompt change by OpenAI's steps of 128


def named(family: Family) -> str:
    return family.name


def flat(value: Any, pointer: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every leaf, and the order of keys and the length of every container."""
    if isinstance(value, dict):
        yield pointer, list(value)
        for key, inner in value.items():
            yield from flat(inner, f"{pointer}/{key}")
    elif isinstance(value, list):
        yield pointer, len(value)
        for index, inner in enumerate(value):
            yield from flat(inner, f"{pointer}/{index}")
    else:
        yield pointer, value


def differences(one: Log, other: Log) -> set[str]:
    """Return the pointers at which two logs differ; a key that comes or goes shows at the object it is in."""
    assert len(one.records) == len(other.records)
    found: set[str] = set()
    for a, b in zip(in_drawn_order(one), in_drawn_order(other), strict=True):
        left, right = {repr(leaf): leaf[0] for leaf in flat(a)}, {repr(leaf): leaf[0] for leaf in flat(b)}
        found |= {(left | right)[leaf] for leaf in left.keys() ^ right.keys()}
    return found


def in_drawn_order(log: Log) -> list[dict[str, Any]]:
    """Order by what is asked where times differ: the twin of a gap has other times."""
    if "/ts" not in log.family.differs:
        return log.records
    return sorted(log.records, key=lambda record: json.dumps(record["request"]))


def is_within(pointer: str, pattern: str) -> bool:
    """Say whether a pointer is at a place or below it, or is the object that the place is a member of."""
    at, place = pointer.split("/"), pattern.split("/")
    if len(at) == len(place) - 1:
        place.pop()
    return len(at) >= len(place) and all(key in (own, "*") for key, own in zip(place, at, strict=False))


def test_the_published_comparisons_are_complete() -> None:
    counts = Counter((family.comparison, family.is_control) for family in FAMILIES.values())
    assert counts[OPENAI_21, False] == 21
    assert counts[OPENAI_21, True] == 7
    assert counts[ANTHROPIC_11, False] == 11
    assert counts[ANTHROPIC_11, True] == 2
    assert len(CAUSES) >= 44
    assert all(family.twins and family.differs for family in CAUSES)
    assert all(family.what for family in FAMILIES.values())


@pytest.mark.parametrize("family", CAUSES, ids=named)
def test_a_twin_differs_only_where_it_says_and_is_cached(family: Family) -> None:
    broken = make_log(family, 3, Variant.BROKEN)
    assert 40 <= len(broken.records) <= 95
    reported = () if "/response/usage" in family.differs else ("/response/usage",)
    for variant in family.twins:
        twin = make_log(family, 3, variant)
        found = {at for at in differences(broken, twin) if not any(is_within(at, place) for place in reported)}
        assert found
        assert {at for at in found if not any(is_within(at, place) for place in family.differs)} == set()
        assert twin.hit_rate > 0.45
        if family.costs:
            assert broken.hit_rate < twin.hit_rate - LEAST_COST
        else:
            assert abs(broken.hit_rate - twin.hit_rate) <= STEP_NOISE


def test_differences_see_the_order_of_keys_and_keys_that_come_and_go() -> None:
    broken, twin = (make_log(FAMILIES["keyorder"], 3, variant) for variant in (Variant.BROKEN, Variant.CONSTANT))
    assert "/request/tools/0/function" in differences(broken, twin)
    broken, twin = (make_log(FAMILIES["a_no_marker"], 3, variant) for variant in (Variant.BROKEN, Variant.RIGHT))
    assert {"/request/system/0", "/request/system/0/cache_control"} <= differences(broken, twin)
    assert not is_within("/request/messages/0/content", "/request/system")
    assert not is_within("/request", "/request/system/*/text")


@pytest.mark.parametrize("family", CONTROLS, ids=named)
def test_controls_hit(family: Family) -> None:
    log = make_log(family, 0, Variant.RIGHT)
    assert log.hit_rate > 0.75 or family.name == "a_below_unmarked"
    assert 40 <= len(log.records) <= 95


@pytest.mark.parametrize("family", FAMILIES.values(), ids=named)
def test_prefixwise_reads_every_record(family: Family, tmp_path: Path) -> None:
    log = make_log(family, 1, Variant.BROKEN)
    path = tmp_path / log.name
    path.write_text(log.text(), "utf-8")
    (read,) = read_corpus([str(path)]).inputs
    assert (read.records, read.broken, read.record_path) == (len(log.records), 0, "/request")
    names = {"session", "session_id", "conversation_id", "thread_id"}
    assert not any(names & {*record, *record["request"]} for record in log.records)


@pytest.mark.parametrize("name", ["ts_top", "a_memory", "r_counter", "e_salt"])
def test_usage_can_be_stripped_and_sessions_named(name: str) -> None:
    plain = make_log(FAMILIES[name], 1, Variant.BROKEN)
    bare = make_log(FAMILIES[name], 1, Variant.BROKEN, with_usage=False, with_sessions=True)
    for record, other in zip(plain.records, bare.records, strict=True):
        assert record["response"].pop("usage")
        other.pop("session", None)
        assert record == other
    assert not any("session" in record for record in plain.records)


def written(folder: Path, *arguments: str, hash_seed: str = "0") -> dict[str, bytes]:
    subprocess.run(
        [sys.executable, "-m", "benchmarks.breakers", "--write", str(folder), *arguments],
        cwd=ROOT, check=True, env={"PYTHONHASHSEED": hash_seed},
    )  # fmt: skip
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_same_seed_gives_the_same_bytes_in_another_process(tmp_path: Path) -> None:
    families = ["--families", "ts_top,conv_args,a_lookback,a_image_pointer,e_retokenised,fewshot"]
    one = written(tmp_path / "one", *families, hash_seed="1")
    two = written(tmp_path / "two", *families, hash_seed="2")
    other = written(tmp_path / "other", *families, "--first-seed", "1")
    assert one == two
    assert len(one) == 13
    assert not {*one.values()} & {*other.values()}
    labels = json.loads(one["labels.json"])
    assert labels["ts_top-0-broken.jsonl"]["rule"] == "clock-in-prefix"
    assert labels["ts_top-0-newest.jsonl"]["rule"] == ""


def test_another_seed_gives_other_texts() -> None:
    systems = {
        make_log(FAMILIES["clean"], seed, Variant.RIGHT).records[0]["request"]["messages"][0]["content"]
        for seed in range(6)
    }
    assert len(systems) == 6
