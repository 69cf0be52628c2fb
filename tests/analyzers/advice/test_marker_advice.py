"""Where to put markers: sums done by hand, and every placement tried."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.reading import corpus_of

from prefixwise.analyzers.advice import markers as searching
from prefixwise.analyzers.advice.advise import advise
from prefixwise.analyzers.advice.bill import Accountant
from prefixwise.analyzers.advice.markers import MarkerAdvice, marker_advice
from prefixwise.analyzers.advice.places import Place, places_of
from prefixwise.analyzers.advice.report import plan_text
from prefixwise.analyzers.hitrate import hit_rate
from prefixwise.caches.hosted import HostedPolicy
from prefixwise.caches.policy import parse_policy
from prefixwise.caches.rulebook import Rulebook
from prefixwise.corpus.corpus import Corpus, read_corpus
from prefixwise.corpus.index import CorpusIndex
from prefixwise.corpus.layouts import Layouts
from prefixwise.corpus.rows import Rows

FIXTURES = Path(__file__).parents[3] / "fixtures" / "logs"
RULE = "anthropic:model=claude-sonnet-5,minimum=1"
"""$2 a million tokens, $0.20 read, $2.50 written for five minutes, $4 for an hour."""
INPUT, READ, WRITE, HOUR = 2e-6, 0.2e-6, 2.5e-6, 4e-6


def sent(prompt: Sequence[int], at: float) -> dict[str, Any]:
    body = {"model": "m", "prompt_token_ids": list(prompt)}
    return {"request": body, "start_time": 1_700_000_000 + at, "end_time": 1_700_000_000 + at + 0.5}


def accountant(rule: str = RULE) -> Accountant:
    return Accountant(cast("HostedPolicy", parse_policy(rule)).as_marked(), [1.0], Rulebook())


def rows_of(*prompts: tuple[Sequence[int], float]) -> Rows:
    return corpus_of(*(sent(prompt, at) for prompt, at in prompts)).rows


def advice(rows: Rows, rule: str = RULE) -> MarkerAdvice:
    found = marker_advice(rows, accountant(rule))
    assert found is not None
    return found


def desk() -> Corpus:
    """Return the corpus of three requests to Claude, with their blocks."""
    return read_corpus([str(FIXTURES / "desk-anthropic.jsonl")], index=CorpusIndex(layouts=Layouts()))


HEAD = list(range(1000))


def question(number: int) -> list[int]:
    return [*HEAD, *range(10_000 * number, 10_000 * number + 200)]


def test_a_shared_head_before_questions_of_their_own() -> None:
    """Marked at the end, nothing is ever read and 3 x 1,200 tokens are written; behind the head, 1,000 once."""
    rows = rows_of((question(1), 0), (question(2), 60), (question(3), 120))
    at_ends = rows.marked(dict.fromkeys(range(3), ((1200, 300.0),)))
    found = advice(at_ends)
    assert [(marker.place, marker.ttl) for marker in found.plan] == [(Place.MOST, 300.0)]
    assert found.before.usd == pytest.approx(3 * 1200 * WRITE)
    assert found.after.usd == pytest.approx(1000 * WRITE + 2 * 1000 * READ + 3 * 200 * INPUT)
    assert found.after.premium_usd == pytest.approx(1000 * (WRITE - INPUT))
    assert found.after.saved_by_reading_usd == pytest.approx(2000 * (INPUT - READ))
    assert found.reads == 2
    assert found.needed == pytest.approx(0.5 / 1.8)
    assert found.before.without_cache_usd == pytest.approx(3600 * INPUT)
    assert found.all_tried


@pytest.mark.parametrize(
    ("gap", "plan"),
    [(200, [300.0]), (400, [3600.0]), (4000, [])],
    ids=["read in five minutes", "an hour pays", "nothing lives so long"],
)
def test_the_lifetime_follows_the_gaps(gap: float, plan: list[float]) -> None:
    """Four requests, 1,000 shared tokens: an hour costs 2,000 more than input once and saves 3 x 1,800."""
    rows = rows_of(*((question(number), gap * number) for number in range(4)))
    found = advice(rows)
    assert [marker.ttl for marker in found.plan] == plan
    if not plan:
        assert found.after.usd == pytest.approx(4800 * INPUT)
        assert found.needed is None


def test_an_hour_for_one_reuse_does_not_pay() -> None:
    """One reuse after 400 s: writing costs 1,000 x $2 a million more, reading saves 1,000 x $1.80."""
    rows = rows_of((question(1), 0), (question(2), 400))
    assert advice(rows).plan == ()


def test_a_conversation_is_marked_at_its_end() -> None:
    turns = [list(range(1000 + 500 * turn)) for turn in range(4)]
    rows = rows_of(*((turn, 60.0 * at) for at, turn in enumerate(turns)))
    found = advice(rows)
    # 1,000 written, then 500 more each turn. That nobody reads the last 500 is known only afterwards.
    assert [marker.place for marker in found.plan] == [Place.LAST]
    assert found.after.usd == pytest.approx(2500 * WRITE + (1000 + 1500 + 2000) * READ)


@settings(max_examples=25, deadline=None)
@given(
    heads=st.lists(st.integers(0, 2), min_size=2, max_size=4),
    gaps=st.lists(st.sampled_from([10.0, 290.0, 400.0, 3000.0, 4000.0]), min_size=4, max_size=4),
    sizes=st.lists(st.integers(1, 60), min_size=4, max_size=4),
)
def test_no_set_of_the_places_is_cheaper(heads: list[int], gaps: list[float], sizes: list[int]) -> None:
    """All sets of up to four places, each with any lifetimes that are legal, replayed one by one."""
    at, prompts = 0.0, []
    for number, head in enumerate(heads):
        at += gaps[number]
        prompts.append(
            ([*range(50), *range(100 * head + 100, 100 * head + 130), *range(9000, 9000 + sizes[number])], at)
        )
    rows = rows_of(*prompts)
    depths = places_of(rows).depths
    least = float("inf")
    for size in range(5):
        for chosen in combinations(depths, size):
            for ttls in product((300.0, 3600.0), repeat=size):
                placed = {}
                for row in range(len(rows)):
                    marks = sorted(
                        {(depths[p][row], ttl) for p, ttl in zip(chosen, ttls, strict=True) if depths[p][row]}
                    )
                    lives = [ttl for _, ttl in marks]
                    if lives != sorted(lives, reverse=True) or len({depth for depth, _ in marks}) < len(marks):
                        break
                    placed[row] = tuple(marks)
                else:
                    least = min(least, accountant().usd(rows.marked(placed)))
    found = advice(rows)
    assert found.all_tried
    assert found.after.usd <= least + 1e-12


def test_any_depth_is_no_better_than_the_places() -> None:
    """Markers at every single depth, the same for all requests: a head of 30, then 10 of their own."""
    rows = rows_of(*(([*range(30), *range(100 * n, 100 * n + 10)], 30.0 * n) for n in range(1, 5)))
    singles = [accountant().usd(rows.marked(dict.fromkeys(range(4), ((d, 300.0),)))) for d in range(1, 41)]
    assert advice(rows).after.usd == pytest.approx(min(singles))


def test_forks_are_where_prompts_part() -> None:
    """Three applications of 30 requests under one head of 100 tokens, with 50 more of their own; 3 are of the last."""
    prompts = [[*range(100), *range(1000 * app, 1000 * app + 50), 9000 + n] for n in range(30) for app in [1 + n % 2]]
    prompts += [[*range(100), *range(3000, 3050), 9500 + n] for n in range(3)]
    depths = places_of(rows_of(*((prompt, float(at)) for at, prompt in enumerate(prompts)))).depths
    assert list(depths[Place.MOST]) == [100] * 33
    assert list(depths[Place.SOME]) == [150] * 30 + [100] * 3  # a tenth of 33 requests are 4
    assert set(depths) == {Place.MOST, Place.SOME, Place.LAST}


def test_growing_by_one_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = desk().rows
    every = advice(rows, "anthropic")
    monkeypatch.setattr(searching, "_EXHAUSTIVE", 0)
    grown = advice(rows, "anthropic")
    assert every.all_tried
    assert not grown.all_tried
    assert grown.tried < every.tried
    assert grown.after.usd == pytest.approx(every.after.usd)


def test_without_a_price_nothing_is_advised() -> None:
    rows = rows_of((question(1), 0), (question(2), 60))
    assert marker_advice(rows, accountant("anthropic:model=claude-of-tomorrow")) is None


def test_openai_keeps_one_for_itself() -> None:
    """gpt-5.6 puts one of its four breakpoints itself."""
    rows = rows_of(*((question(number), 60.0 * number) for number in range(4)))
    found = advice(rows, "openai:model=gpt-5.6,minimum=1")
    assert len(found.plan) <= 3
    assert found.after.usd <= found.before.usd


def test_blocks_of_a_log_and_the_whole_of_it() -> None:
    book, corpus = Rulebook(), desk()
    counted = hit_rate(corpus, ["anthropic"], book=book)
    found = advise(corpus, parse_policy("anthropic"), book)
    (one,) = found.markers
    assert plan_text(one) == "5 min behind the last block"
    assert found.together is not None
    assert found.together.before_usd == pytest.approx(one.before.usd)
    assert found.together.after_usd == pytest.approx(one.after.usd)
    assert one.before.usd == pytest.approx(next(c.cost_usd for c in counted.cost.totals if c.rule == "anthropic"))


def test_a_log_without_markers_is_taken_to_be_marked_at_its_ends() -> None:
    corpus = corpus_of(*(sent(question(number), 60.0 * number) for number in range(1, 4)))
    found = advise(corpus, parse_policy(RULE), Rulebook())
    (one,) = found.markers
    assert one.before.usd == pytest.approx(3600 * WRITE)


def test_an_engine_charges_nothing() -> None:
    corpus = corpus_of(sent(question(1), 0.0), sent(question(2), 1.0))
    found = advise(corpus, parse_policy("vllm"), Rulebook())
    assert found.markers == ()
    assert "knows no markers" in found.notes[0]
