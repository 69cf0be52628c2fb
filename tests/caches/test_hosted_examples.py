"""What provider documentation and measurements say of caches, request by request (the reference's worked examples)."""

from __future__ import annotations

import pytest
from support.exact_prompts import Piece, Said, Sent, marked, rows_of, say, text
from support.reading import corpus_of

from prefixwise.caches.policy import Reason, Replay, parse_policy
from prefixwise.caches.rulebook import Rulebook
from prefixwise.core.errors import UserError

BOOK = Rulebook()


def played(rule: str, *sent: Sent) -> Replay:
    return parse_policy(rule, BOOK).replay(rows_of(sent))


def spaced(*prompts: tuple[Said, ...]) -> list[Sent]:
    """Send prompts one a minute, each answered within a second."""
    return [Sent(prompt, 60.0 * n, 60.0 * n + 1, ttft=0.5) for n, prompt in enumerate(prompts)]


def whole(tokens: int) -> tuple[Said, ...]:
    return (say("user", text(tokens)),)


# The engines.


@pytest.mark.parametrize(
    ("rule", "length", "cached"),
    [
        ("vllm:block=16", 64, 48), ("vllm:block=16", 65, 64), ("vllm:block=16", 16, 0),
        ("sglang:page=1", 64, 63), ("sglang:page=64", 128, 64),
    ],
)  # fmt: skip
def test_an_engine_serves_a_repeated_prompt_all_but_its_last_token_in_whole_units(
    rule: str, length: int, cached: int
) -> None:
    prompt = whole(length)
    assert list(played(rule, *spaced(prompt, prompt)).matched) == [0, cached]


def test_another_salt_is_another_cache_on_vllm() -> None:
    ids = list(range(64))
    log = [{"prompt_token_ids": ids, "model": "m", "cache_salt": salt} for salt in ("a", "b")]
    assert list(parse_policy("vllm:block=16").replay(corpus_of(*log).rows).matched) == [0, 0]


# OpenAI from GPT-5.6.

DEVELOPER = say("system", text(8000))
TOOLS = say("tools", text(2000, kind="tool"))


def test_an_implicit_breakpoint_ends_the_latest_user_message() -> None:
    first = (TOOLS, DEVELOPER, say("user", text(2000)))
    second = (*first, say("user", text(3000)))
    replay = played("openai:model=gpt-5.6", *spaced(first, second))
    assert replay.written is not None
    assert list(zip(replay.matched, replay.written, strict=True)) == [(0, 12000), (12000, 3000)]


def test_developer_text_alone_is_not_found_by_another_question() -> None:
    prompts = [(DEVELOPER, say("user", text(500))) for _ in range(3)]
    replay = played("openai:model=gpt-5.6", *spaced(*prompts))
    assert list(replay.matched) == [0, 0, 0]
    assert replay.reason[1] == Reason.GRANULARITY


def test_developer_text_that_was_sent_alone_first_is_found() -> None:
    prompts = [(DEVELOPER,), *((DEVELOPER, say("user", text(500))) for _ in range(2))]
    assert list(played("openai:model=gpt-5.6", *spaced(*prompts)).matched) == [0, 8000, 8000]


def test_developer_text_with_a_marker_of_its_own_is_found() -> None:
    front = say("system", marked(DEVELOPER.pieces[0], 300.0))
    prompts = [(front, say("user", text(500))) for _ in range(2)]
    replay = played("openai:model=gpt-5.6", *spaced(*prompts))
    assert list(replay.matched) == [0, 8000]
    assert list(replay.written or ()) == [8500, 500]


def test_explicit_mode_without_a_marker_caches_nothing() -> None:
    controls = (("prompt_cache_options", b'{"mode":"explicit"}'),)
    prompt = (DEVELOPER, say("user", text(500)))
    sent = [Sent(prompt, n * 60.0, n * 60.0 + 1, controls=controls) for n in range(2)]
    replay = parse_policy("openai:model=gpt-5.6", BOOK).replay(rows_of(sent))
    assert (list(replay.matched), list(replay.written or ())) == ([0, 0], [0, 0])


def test_a_changed_cache_key_or_effort_is_a_miss_and_a_changed_tool_choice_is_none() -> None:
    prompt = (DEVELOPER, say("user", text(500)))
    high, low = (("reasoning_effort", b'"high"'),), (("reasoning_effort", b'"low"'),)
    sent = [
        Sent(prompt, 0, 1, params=high, cache_key="a"),
        Sent(prompt, 60, 61, params=high, cache_key="b"),
        Sent(prompt, 120, 121, params=low, cache_key="a"),
        Sent(prompt, 180, 181, params=(*high, ("tool_choice", b'"none"')), cache_key="a"),
    ]
    replay = parse_policy("openai:model=gpt-5.6", BOOK).replay(rows_of(sent))
    assert list(replay.matched) == [0, 0, 0, 8500]
    assert [Reason(reason).name for reason in replay.reason[1:3]] == ["ISOLATED", "ISOLATED"]


def test_an_entry_lives_half_an_hour_from_its_last_use_and_longer_only_perhaps() -> None:
    prompt = (DEVELOPER,)
    sent = [Sent(prompt, start, start + 1) for start in (0.0, 1800.0, 3600.0, 5401.0)]
    policy = parse_policy("openai:model=gpt-5.6", BOOK)
    replay = policy.replay(rows_of(sent))
    assert list(replay.matched) == [0, 8000, 8000, 0]
    assert replay.reason[3] == Reason.EXPIRED
    ends = policy.ends()
    assert ends is not None
    assert [list(end.replay(rows_of(sent)).matched)[3] for end in ends] == [0, 8000]


# OpenAI up to GPT-5.5.


def test_short_prompts_of_gpt_5_5_never_hit() -> None:
    prompt = whole(1300)
    for end in (parse_policy("openai:model=gpt-5.5", BOOK), *(parse_policy("openai:model=gpt-5.5", BOOK).ends() or ())):
        assert not any(end.replay(rows_of(spaced(*[prompt] * 16))).matched)


def test_a_repeated_prompt_of_3741_tokens_reports_3328_on_gpt_5_5() -> None:
    prompt = whole(3741)
    policy = parse_policy("openai:model=gpt-5.5", BOOK)
    for end in (policy, *(policy.ends() or ())):
        assert list(end.replay(rows_of(spaced(prompt, prompt))).matched) == [0, 3328]


def test_older_models_serve_steps_of_128_from_1024_on() -> None:
    for length, cached in ((1023, 0), (1024, 0), (1025, 1024), (1500, 1408)):
        prompt = whole(length)
        replay = played("openai:model=gpt-4o,hidden=0", *spaced(prompt, prompt))
        assert list(replay.matched) == [0, cached], length


# Anthropic.


def blocks(count: int, marker_at: int, shared: list[Piece]) -> tuple[Said, ...]:
    """Return a conversation of so many blocks, one a message, the first of them shared, with one marker."""
    while len(shared) < count:
        shared.append(text(100))
    pieces = [marked(piece, 300.0) if at == marker_at else piece for at, piece in enumerate(shared[:count], 1)]
    return tuple(say(("user", "assistant")[at % 2], piece) for at, piece in enumerate(pieces))


@pytest.mark.parametrize(("next_marker", "hit"), [(35, 0), (34, 1500)])
def test_a_marker_looks_back_over_twenty_blocks_itself_included(next_marker: int, hit: int) -> None:
    shared: list[Piece] = []
    first, second = blocks(15, 15, shared), blocks(next_marker, next_marker, shared)
    assert list(played("anthropic:model=claude-opus-5", *spaced(first, second)).matched) == [0, hit]


def test_a_run_of_tool_calls_and_of_results_is_one_position_each() -> None:
    head = [say("user", text(1000, marker=300.0))]
    calls = [text(10, kind="call") for _ in range(30)]
    results = [text(10, kind="result") for _ in range(30)]
    plain = (say("user", Piece(head[0].pieces[0].ids)), say("assistant", *calls))
    last = say("user", *results[:-1], marked(results[-1], 300.0))
    sent = spaced((head[0],), (*plain, last))
    assert list(played("anthropic:model=claude-opus-5", *sent).matched) == [0, 1000]
    assert list(played("bedrock:model=claude-opus-5", *sent).matched) == [0, 0]


def test_a_hit_pays_for_itself_after_one_read_at_five_minutes_and_two_at_an_hour() -> None:
    list_ = BOOK.price_list("claude-sonnet-5", "anthropic")
    assert list_ is not None
    price = list_.prices[-1]
    for long, reads in ((False, 1), (True, 2)):

        def paid(n: int, long: bool = long) -> float:
            return price.cost(1e6, written=1e6, written_long=1e6 if long else 0) + n * price.cost(1e6, cached=1e6)

        def unpaid(n: int) -> float:
            return (n + 1) * price.cost(1e6)

        assert paid(reads) < unpaid(reads)
        assert paid(reads - 1) > unpaid(reads - 1)


def test_one_write_and_one_read_cost_1_35_inputs_on_gpt_5_6_and_nine_reads_2_15() -> None:
    list_ = BOOK.price_list("gpt-5.6", "openai")
    assert list_ is not None
    price = list_.prices[-1]
    unit = price.cost(1e6)
    for reads, units in ((1, 1.35), (9, 2.15)):
        total = price.cost(1e6, written=1e6) + reads * price.cost(1e6, cached=1e6)
        assert total / unit == pytest.approx(units)


def test_markers_below_the_minimum_of_the_model_are_silent() -> None:
    prompt = (say("user", text(1023, marker=300.0)), say("assistant", text(1, marker=300.0)))
    replay = played("anthropic:model=claude-sonnet-5", *spaced(prompt, prompt))
    assert list(zip(replay.matched, replay.written or (), strict=True)) == [(0, 1024), (1024, 0)]
    prompt = prompt[:1]
    replay = played("anthropic:model=claude-sonnet-5", *spaced(prompt, prompt))
    assert list(zip(replay.matched, replay.written or (), strict=True)) == [(0, 0), (0, 0)]


def test_two_lifetimes_are_billed_up_to_the_last_marker_of_each() -> None:
    system, user, more = text(2000, marker=3600.0), text(500, marker=300.0), text(300)
    first = (say("system", system), say("user", user, more))
    second = (say("system", system), say("user", Piece(user.ids), marked(more, 300.0)))
    replay = played("anthropic:model=claude-opus-5", *spaced(first, second))
    assert list(replay.matched) == [0, 2500]
    assert list(replay.written or ()) == [2500, 300]
    assert list(replay.written_long or ()) == [2000, 0]
    late = [Sent(first, 0, 1), Sent(first, 1200, 1201)]
    replay = parse_policy("anthropic:model=claude-opus-5", BOOK).replay(rows_of(late))
    assert list(replay.matched) == [0, 2000]
    assert (list(replay.written or ())[1], list(replay.written_long or ())[1]) == (500, 0)
    assert replay.reason[1] == Reason.EXPIRED


def test_a_lifetime_runs_from_the_start_of_a_request_and_is_refreshed_by_a_hit() -> None:
    prompt = (say("user", text(2000, marker=300.0)),)
    sent = [Sent(prompt, start, start + 200, ttft=1.0) for start in (0.0, 300.0, 600.0, 901.0)]
    assert list(parse_policy("anthropic:model=claude-opus-5", BOOK).replay(rows_of(sent)).matched) == [0, 2000, 2000, 0]


def test_requests_that_come_before_the_answer_begins_all_pay_the_write() -> None:
    prompt = (say("user", text(2000, marker=300.0)),)
    sent = [Sent(prompt, start, 30.0, ttft=5.0) for start in (0.0, 0.1, 4.9, 5.0)]
    replay = parse_policy("anthropic:model=claude-opus-5", BOOK).replay(rows_of(sent))
    assert list(zip(replay.matched, replay.written or (), strict=True)) == [(0, 2000), (0, 2000), (0, 2000), (2000, 0)]
    assert replay.reason[1] == Reason.IN_FLIGHT


@pytest.mark.parametrize(
    ("params", "kept"),
    [
        ((("tool_choice", b'{"name":"f","type":"tool"}'),), 3000),
        ((("speed", b'"fast"'),), 1000),
        ((("tool_choice", b'{"type":"auto"}'),), 5000),
        ((("thinking", b'{"type":"disabled"}'),), 5000),
    ],
    ids=["tool choice", "speed", "default tool choice", "default thinking"],
)
def test_a_changed_parameter_loses_the_levels_behind_it(params: tuple[tuple[str, bytes], ...], kept: int) -> None:
    prompt = (
        say("tools", text(1000, kind="tool", marker=300.0)),
        say("system", text(2000, marker=300.0)),
        say("user", text(2000, marker=300.0)),
    )
    sent = [Sent(prompt, 0, 1, ttft=0.5), Sent(prompt, 60, 61, ttft=0.5, params=params)]
    assert list(parse_policy("anthropic:model=claude-opus-5", BOOK).replay(rows_of(sent)).matched) == [0, kept]


def test_a_picture_that_comes_or_goes_loses_the_messages() -> None:
    system = say("system", text(2000, marker=300.0))
    first = (system, say("user", text(2000, marker=300.0)))
    second = (*first, say("user", text(100, kind="media", marker=300.0)))
    assert list(played("anthropic:model=claude-opus-5", *spaced(first, second)).matched) == [0, 2000]


def test_of_two_writers_the_one_that_is_ready_first_counts() -> None:
    prompt = whole(600)
    sent = [Sent(prompt, 0, 100), Sent(prompt, 1, 2), Sent(prompt, 3, 4)]
    assert list(parse_policy("xai:ttl=300", BOOK).replay(rows_of(sent)).matched) == [0, 0, 512]


# DeepSeek and Gemini.


def test_a_common_beginning_is_found_by_the_third_request_on_deepseek() -> None:
    shared = say("user", text(6400))
    prompts = [(shared, say("user", text(640))) for _ in range(3)]
    replay = played("deepseek", *spaced(*prompts))
    assert list(replay.matched) == [0, 0, 6400]
    assert replay.reason[1] == Reason.GRANULARITY


def test_a_conversation_that_goes_on_reads_prompt_and_answer_on_deepseek() -> None:
    question, answer = say("user", text(640)), text(128)
    sent = [
        Sent((question,), 0, 5, answer=answer.ids),
        Sent((question, say("assistant", answer), say("user", text(64))), 60, 65),
    ]
    assert list(parse_policy("deepseek", BOOK).replay(rows_of(sent)).matched) == [0, 768]


def test_deepseek_takes_seconds_to_store() -> None:
    prompt = whole(640)
    sent = [Sent(prompt, 0, 5), Sent(prompt, 6, 10), Sent(prompt, 30, 31)]
    policy = parse_policy("deepseek", BOOK)
    assert list(policy.replay(rows_of(sent)).matched) == [0, 0, 576]
    least, most = policy.ends() or ()
    assert [list(end.replay(rows_of(sent)).matched)[1] for end in (least, most)] == [0, 576]


def test_gemini_caches_nothing_below_the_minimum_of_the_model() -> None:
    for length, cached in ((2048, 0), (2049, 2048)):
        prompt = whole(length)
        assert list(played("gemini:model=gemini-2.5-flash", *spaced(prompt, prompt)).matched) == [0, cached]


def test_a_named_object_is_stored_for_an_hour_and_made_again() -> None:
    system = say("system", text(5000))
    sent = [Sent((system, say("user", text(100))), start, start + 1) for start in (0.0, 1800.0, 3600.0, 3700.0)]
    replay = parse_policy("gemini_explicit:model=gemini-2.5-pro", BOOK).replay(rows_of(sent))
    assert list(replay.matched) == [0, 5000, 5000, 0]
    assert list(replay.written or ()) == [5000, 0, 0, 5000]
    assert list(replay.stored or ()) == [5000 * 3600.0, 0, 0, 5000 * 3600.0]


# Names.


def test_a_model_stands_for_the_rule_that_applies_to_it() -> None:
    prompt = whole(3741)
    assert list(played("gpt-5.5", *spaced(prompt, prompt)).matched) == [0, 3328]


def test_the_model_of_each_request_says_which_rule_of_a_provider_applies() -> None:
    prompt = (DEVELOPER, say("user", text(500)))
    sent = [Sent(prompt, 60.0 * n, 60.0 * n + 1, model=model) for n, model in enumerate(["gpt-5.6", "gpt-5.5"] * 2)]
    replay = parse_policy("openai", BOOK).replay(rows_of(sent))
    assert replay.matched[2] == 8500
    assert replay.matched[3] % 128 == 0
    assert 0 < replay.matched[3] < 8500


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ("antropic", "anthropic"), ("openrouter", "passes requests on"), ("tensorrt_llm", "no rule of its own"),
        ("anthropic:ttl=2h", "1h, 5m"), ("anthropic:markers=some", "logged"), ("openai:separate=desk", "cache_key"),
        ("anthropic:block=16", "lookback"), ("deepseek:minimum=-1", "minimum"), ("anthropic:tier=gold", "batch"),
        ("groq:readable=soon", "start, end"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused_with_what_is_known(rule: str, says: str) -> None:
    with pytest.raises(UserError) as problem:
        parse_policy(rule, BOOK)
    assert says in f"{problem.value.what} {problem.value.help}"
    assert rule in problem.value.where
