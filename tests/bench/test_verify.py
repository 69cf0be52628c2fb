"""Predicted against reported cached tokens, request by request, over real sockets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.serving import QUICK, serving
from support.verifying import SYSTEM, chats, ids, verified

from prefixwise.bench.budget import priced
from prefixwise.bench.verify.predict import Predicted
from prefixwise.bench.verify.result import Agreement, Compared, VerifyResult, compared, figures
from prefixwise.bench.verify.run import Seen
from prefixwise.caches.rulebook import Rulebook
from prefixwise.core.errors import UserError


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"block": 1},
        {"index": "radix"},
        {"index": "radix", "block": 8},
        {"capacity": "2000tokens"},  # fewer than the log has: what is evicted is predicted too
        {"index": "radix", "capacity": "2000tokens", "eviction": "lfu"},
    ],
    ids=lambda settings: " ".join(f"{key}={value}" for key, value in settings.items()) or "usual",
)
@pytest.mark.parametrize("log", [chats(24), ids(40)], ids=["chats", "ids"])
def test_our_engine_reports_what_its_rule_predicts_to_the_token(
    tmp_path: Path, settings: dict[str, Any], log: list[dict[str, Any]]
) -> None:
    with serving(QUICK, **settings) as running:
        report = verified(tmp_path, log, running.url, metrics=("auto",))
    found: VerifyResult = report.values
    assert [(one.record, one.cached) for one in found.requests] == [
        (one.record, one.expected) for one in found.requests
    ]
    assert (found.equal, found.largest, found.first, found.lengths_differ) == (len(log), 0, None, 0)
    assert found.cached > 500
    assert (found.counted_by, found.exactness) == ("the server itself", "exact")
    assert (found.counters.exclusive, found.counters.agrees) == (True, True)
    assert report.exit_code == 0


@pytest.mark.parametrize(
    ("faults", "how", "code"),
    [
        (["no-cache"], Agreement.LESS, 1),
        (["usage=zero"], Agreement.LESS, 1),
        (["usage=lie"], Agreement.MORE, 1),
        (["contaminated=1"], Agreement.MORE, 1),  # salts are ignored: tenants see each other's cache
        (["replicas=2"], Agreement.LESS, 1),
        (["usage=missing"], Agreement.ABSENT, 4),
        (["errors=1"], Agreement.FAILED, 4),
    ],
)
def test_what_a_server_does_wrong_is_found(tmp_path: Path, faults: list[str], how: Agreement, code: int) -> None:
    with serving(QUICK, faults=faults) as broken:
        report = verified(tmp_path, chats(12), broken.url, under="vllm:block=16")
    assert report.values.counts[how] >= 1
    assert report.exit_code == code
    if code == 1:
        first = report.values.requests[report.values.first]
        assert first.agreement is how
        assert all(one.agreement is Agreement.EQUAL for one in report.values.requests[: report.values.first])


def test_a_wrong_rule_is_told_from_the_first_request_on_that_shows_it(tmp_path: Path) -> None:
    with serving(QUICK) as running:
        report = verified(tmp_path, ids(20), running.url, under="vllm:block=32")
        assert report.exit_code == 1
        assert report.values.largest == 16
        assert verified(tmp_path, ids(20), running.url, under="vllm:block=32", tolerance=16).exit_code == 0
    assert "number" in report.blocks[0].lines[1]


def test_a_server_that_is_not_ours_may_be_off_by_a_block(tmp_path: Path) -> None:
    with serving(QUICK) as running:
        report = verified(tmp_path, ids(20), running.url, protocol="vllm")
    assert (report.values.rule, report.values.tolerance, report.exit_code) == ("vllm:block=16", 16, 0)


def test_bare_text_is_counted_by_the_server_too(tmp_path: Path) -> None:
    log = [{"model": "m", "prompt": SYSTEM + end, "ts": n} for n, end in enumerate(("When?", "Where?", "When?"))]
    with serving(QUICK) as running:
        report = verified(tmp_path, log, running.url)
    assert [one.cached for one in report.values.requests] == [one.expected for one in report.values.requests]
    assert report.values.equal == 3


def test_a_tokenizer_that_is_not_the_servers_is_seen(tmp_path: Path) -> None:
    """Counted as gpt-4o would: the server's prompts have other lengths, and nobody is told that all is well."""
    with serving(QUICK) as running:
        report = verified(tmp_path, chats(6), running.url, own_tokenizer=True)
    assert report.values.lengths_differ == 6
    assert report.exit_code == 1
    assert any("of another length" in note for note in report.notes)


def test_the_rule_of_an_unknown_cache_has_to_be_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="rule of this cache") as problem:
        verified(tmp_path, chats(2), "http://127.0.0.1:9", protocol="openai-chat")
    assert "--under" in problem.value.help
    with pytest.raises(UserError, match="no connection"):
        verified(tmp_path, chats(2), "http://127.0.0.1:9")


def test_a_second_verification_finds_an_empty_cache_again(tmp_path: Path) -> None:
    with serving(QUICK) as running:
        assert [verified(tmp_path, chats(8), running.url).exit_code for _ in range(2)] == [0, 0]
        assert verified(tmp_path, chats(8), running.url, cold="none").exit_code == 0
        assert verified(tmp_path, chats(8), running.url, cold="none").exit_code == 1  # the cache holds the first one's


# -- what figures come to ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cached", "expected", "tolerance", "how"),
    [
        (32, 32, 0, Agreement.EQUAL),
        (33, 32, 0, Agreement.MORE),
        (31, 32, 0, Agreement.LESS),
        (16, 32, 16, Agreement.EQUAL),
        (15, 32, 16, Agreement.LESS),
        (None, 32, 16, Agreement.ABSENT),
        (None, 0, 16, Agreement.ABSENT),
        (5, None, 0, Agreement.UNCOUNTED),
    ],
)
def test_how_a_request_comes_out(cached: int | None, expected: int | None, tolerance: int, how: Agreement) -> None:
    seen = Seen(record="log#0", request=None, by_server=True, prompt=64, cached=cached)
    found = compared(seen, None if expected is None else Predicted(64, expected), tolerance)
    assert found.agreement is how
    failed = Seen(record="log#0", request=None, by_server=True, cached=cached, error="busy")
    assert compared(failed, None, tolerance).agreement is Agreement.FAILED


def result_of(*pairs: tuple[int | None, int]) -> VerifyResult:
    requests = [
        compared(Seen(record=f"log#{n}", request=None, by_server=True, prompt=64, cached=cached), Predicted(64, hit), 0)
        for n, (cached, hit) in enumerate(pairs)
    ]
    given: dict[str, Any] = {"target": "t", "protocol": "vllm", "model": "m", "rule": "vllm:block=16", "tolerance": 0}
    return VerifyResult(**given, counted_by="x", exactness="exact", left_out={}, **figures(requests))


@pytest.mark.parametrize(
    ("pairs", "holds", "decided"),
    [
        ([(0, 0), (48, 48)], True, True),
        ([(0, 0), (32, 48)], False, True),
        ([(None, 0), (48, 48)], True, True),  # a server that leaves the figure out where it is 0
        ([(None, 0), (0, 0)], True, False),  # nothing shows that it ever counts
        ([(None, 48), (48, 48)], True, False),
        ([(None, 0), (None, 48)], True, False),
    ],
)
def test_what_answers_do_not_say_decides_nothing(
    pairs: list[tuple[int | None, int]], holds: bool, decided: bool
) -> None:
    found = result_of(*pairs)
    assert (found.holds, found.decided) == (holds, decided)


def test_the_first_request_that_is_off_is_named() -> None:
    found = result_of((0, 0), (48, 48), (16, 32), (64, 32))
    assert (found.first, found.largest, found.equal, found.expected, found.cached) == (2, 32, 2, 112, 128)
    assert isinstance(found.requests[2], Compared)


def test_a_cost_holds_answers_at_their_own_price() -> None:
    """gpt-4.1 costs 2 USD a million prompt tokens and 8 a million of answers; nobody writes its cache for more."""
    cost = priced(10, 1_000_000, "openai-chat", "gpt-4.1", Rulebook(), 500_000)
    assert cost.usd == pytest.approx(2.0 + 4.0)
    assert priced(10, 1_000, "openai-chat", "nobody-knows", Rulebook(), 10).usd is None
