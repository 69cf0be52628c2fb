"""The models of the caches on examples worked by hand."""

from __future__ import annotations

from typing import Any

from benchmarks.breakers.oracles.anthropic import AnthropicCache, refusal
from benchmarks.breakers.oracles.engine import EngineCache
from benchmarks.breakers.oracles.openai import BreakpointCache, IntervalCache, lay_out
from benchmarks.breakers.oracles.tokens import FRAME_TOKENS, count, ids
from benchmarks.breakers.scene import Exchange, Said

Body = dict[str, Any]
ANSWER = Said("assistant", "yes")
LONG = " dog" * 1500  # one token a word


def ask(at: float, body: Body, **more: Any) -> Exchange:
    return Exchange(at, body, ANSWER, **more)


def chat(*texts: str, **more: Any) -> Body:
    roles = ("system", *("user", "assistant") * len(texts))
    messages = [{"role": role, "content": text} for role, text in zip(roles, texts, strict=False)]
    return {"model": "gpt-4o", "messages": messages, **more}


def cached(cache: IntervalCache | BreakpointCache | EngineCache, exchange: Exchange) -> int:
    return cache.serve(exchange)["prompt_tokens_details"]["cached_tokens"]


def test_words_are_counted_as_meant() -> None:
    assert count(ids(LONG)) == 1500
    assert count(lay_out(chat(LONG, " hi")).prompt) == 1500 + 1 + 2 * FRAME_TOKENS + FRAME_TOKENS - 1


def test_openai_reports_whole_steps_of_the_longest_shared_prefix() -> None:
    cache = IntervalCache()
    assert cached(cache, ask(0, chat(LONG, " one question"))) == 0
    # 3 tokens of framing and 1,500 of text are equal, and the message ends alike: 1,503 // 128 * 128
    assert cached(cache, ask(10, chat(LONG, " another one"))) == 1408
    assert cached(cache, ask(20, chat(" dog" * 1100 + " cat" * 400, " hi"))) == 1024
    assert cached(cache, ask(30, chat(" dog" * 1000 + " cat" * 500, " hi"))) == 0  # below 1,024


def test_openai_forgets_what_nobody_read_for_minutes_and_serves_nothing_at_once() -> None:
    cache = IntervalCache()
    assert cached(cache, ask(0, chat(LONG, " a"))) == 0
    assert cached(cache, ask(0.5, chat(LONG, " b"))) == 0  # the first has not been computed yet
    assert cached(cache, ask(400, chat(LONG, " c"))) == 1408
    assert cached(cache, ask(800, chat(LONG, " d"))) == 1408  # kept alive by the one before
    assert cached(cache, ask(1221, chat(LONG, " e"))) == 0


def test_openai_keeps_models_keys_deployments_and_efforts_apart() -> None:
    cache = IntervalCache()
    for number, body in enumerate(
        [chat(LONG, " a"), {**chat(LONG, " a"), "model": "gpt-5.2"}, chat(LONG, " a", prompt_cache_key="k")]
    ):
        assert cached(cache, ask(number, body)) == 0
    assert cached(cache, ask(5, chat(LONG, " a"), extra={"deployment": "two"})) == 0
    assert cached(cache, ask(6, chat(LONG, " a", reasoning_effort="low"))) == 0
    assert cached(cache, ask(7, chat(LONG, " a"))) == 1408


def test_openai_has_tools_and_the_output_format_before_the_messages() -> None:
    cache = IntervalCache()
    tool = {"type": "function", "function": {"name": "a", "description": LONG}}
    assert cached(cache, ask(0, chat(" s", " q", tools=[tool]))) == 0
    assert cached(cache, ask(2, chat(" t", " q", tools=[tool]))) == 1408
    form = {"type": "json_schema", "json_schema": {"name": LONG}}
    assert cached(cache, ask(4, chat(LONG, " q", response_format=form))) == 0
    assert cached(cache, ask(6, chat(LONG, " q", response_format={"type": "text"}))) == 0
    assert cached(cache, ask(8, chat(LONG, " r"))) == 1408  # plain text is no format


def marked_input(text: str, question: str, marker: bool) -> Body:
    part: Body = {"type": "input_text", "text": text}
    if marker:
        part["prompt_cache_breakpoint"] = {"mode": "explicit"}
    developer = {"role": "developer", "content": [part]}
    user = {"role": "user", "content": [{"type": "input_text", "text": question}]}
    return {"model": "gpt-5.6", "input": [developer, user]}


def test_newer_openai_models_read_only_what_was_written_at_a_breakpoint() -> None:
    cache = BreakpointCache()
    first = cache.serve(ask(0, marked_input(LONG, " one", False)))
    assert first["input_tokens_details"] == {"cached_tokens": 0, "cache_write_tokens": 1504 + 5}
    assert cache.serve(ask(10, marked_input(LONG, " two", False)))["input_tokens_details"]["cached_tokens"] == 0
    assert cache.serve(ask(20, marked_input(LONG, " one", False)))["input_tokens_details"]["cached_tokens"] == 1509
    cache = BreakpointCache()
    assert cache.serve(ask(0, marked_input(LONG, " one", True)))["input_tokens_details"]["cached_tokens"] == 0
    second = cache.serve(ask(10, marked_input(LONG, " two", True)))
    assert second["input_tokens_details"] == {"cached_tokens": 1504, "cache_write_tokens": 5}


def block(text: str, marker: str | None = None) -> Body:
    control = {"cache_control": {"type": "ephemeral", "ttl": marker}} if marker else {}
    return {"type": "text", "text": text, **control}


def messages(system: list[Body], *contents: list[Body], **more: Any) -> Body:
    turns = [{"role": ("user", "assistant")[n % 2], "content": content} for n, content in enumerate(contents)]
    return {"model": "claude-sonnet-4-5", "system": system, "messages": turns, **more}


def counters(cache: AnthropicCache, exchange: Exchange) -> tuple[int, int, int]:
    usage = cache.serve(exchange)
    assert usage is not None
    return usage["cache_read_input_tokens"], usage["cache_creation_input_tokens"], usage["input_tokens"]


def test_anthropic_writes_at_a_marker_and_reads_the_same_prefix() -> None:
    cache = AnthropicCache()
    assert counters(cache, ask(0, messages([block(LONG, "5m")], [block(" one")]))) == (0, 1502, 3)
    assert counters(cache, ask(10, messages([block(LONG, "5m")], [block(" two")]))) == (1502, 0, 3)
    assert counters(cache, ask(20, messages([block(LONG)], [block(" two")]))) == (0, 0, 1505)
    assert counters(cache, ask(30, messages([block(LONG + " cat", "5m")], [block(" two")]))) == (0, 1503, 3)


def test_anthropic_needs_the_minimum_of_the_model() -> None:
    cache = AnthropicCache()
    short = messages([block(" dog" * 1021, "5m")], [block(" one")])
    assert counters(cache, ask(0, short)) == (0, 0, 1026)
    enough = messages([block(" dog" * 1022, "5m")], [block(" one")])
    assert counters(cache, ask(1, enough)) == (0, 1024, 3)
    assert counters(cache, ask(2, {**enough, "model": "claude-haiku-4-5"})) == (0, 0, 1027)


def test_anthropic_lifetimes_slide_from_the_start_of_a_request() -> None:
    cache = AnthropicCache()
    body = messages([block(LONG, "5m")], [block(" one")])
    assert [counters(cache, ask(at, body))[0] for at in (0, 299, 598, 899)] == [0, 1502, 1502, 0]
    hour = messages([block(LONG, "1h")], [block(" one")], tool_choice={"type": "none"})
    cache = AnthropicCache()
    assert [counters(cache, ask(at, hour))[0] for at in (0, 3599, 7000, 10_700)] == [0, 1502, 1502, 0]


def test_anthropic_entries_are_not_there_before_the_first_token() -> None:
    cache = AnthropicCache()
    body = messages([block(LONG, "5m")], [block(" one")])
    assert [counters(cache, ask(at, body))[0] for at in (0, 0.1, 0.7, 0.9)] == [0, 0, 0, 1502]


def test_anthropic_looks_back_twenty_positions() -> None:
    system = [block(LONG, "5m")]

    def grown(blocks: int) -> Body:
        return messages(system, [block(" w")] * (blocks - 1) + [block(" w", "5m")])

    cache = AnthropicCache()
    assert counters(cache, ask(0, grown(5))) == (0, 1502 + 15, 0)
    # from position 24 back to 5 are 20 positions; from 25 on, only the system's own marker finds something
    assert counters(cache, ask(1, grown(24)))[0] == 1502 + 15
    cache = AnthropicCache()
    assert counters(cache, ask(0, grown(5)))[0] == 0
    assert counters(cache, ask(1, grown(25)))[0] == 1502


def test_anthropic_counts_a_run_of_tool_results_as_one_position() -> None:
    results = [{"type": "tool_result", "tool_use_id": str(n), "content": "x"} for n in range(25)]
    cache = AnthropicCache()
    first = messages([block(LONG, "5m")], [block(" q", "5m")])
    end = {**results[-1], "cache_control": {"type": "ephemeral"}}
    later = messages([block(LONG, "5m")], [block(" q")], [block(" a")], [*results[:-1], end])
    counters(cache, ask(0, first))
    assert counters(cache, ask(1, later))[0] == 1505


def test_anthropic_parameters_cost_the_messages_only() -> None:
    cache = AnthropicCache()
    system = [block(LONG, "5m")]
    counters(cache, ask(0, messages(system, [block(" q", "5m")])))
    assert counters(cache, ask(1, messages(system, [block(" q", "5m")])))[0] == 1505
    thinking = {"type": "enabled", "budget_tokens": 1024}
    assert counters(cache, ask(2, messages(system, [block(" q", "5m")], thinking=thinking)))[0] == 1502
    assert counters(cache, ask(3, messages(system, [block(" q", "5m")], tool_choice={"type": "any"})))[0] == 1502
    tools = [{"name": "a", "description": "b", "input_schema": {}}]
    assert counters(cache, ask(4, messages(system, [block(" q", "5m")], tools=tools)))[0] == 0


def test_anthropic_refuses_a_fifth_marker_and_a_longer_lifetime_behind_a_shorter() -> None:
    marks = [block(" a", "5m")] * 4
    assert not refusal(messages(marks, [block(" q")]))
    assert "5 found" in refusal(messages(marks, [block(" q", "5m")]))
    assert not refusal(messages([block(" a", "1h"), block(" b", "5m")], [block(" q")]))
    assert "longer" in refusal(messages([block(" a", "5m"), block(" b", "1h")], [block(" q")]))
    assert AnthropicCache().serve(ask(0, messages(marks, []), rejected="no")) is None


def test_an_engine_serves_whole_blocks_and_never_the_whole_prompt() -> None:
    cache = EngineCache(16)
    body = {"model": "m", "prompt": " dog" * 64}
    assert cached(cache, ask(0, body)) == 0
    assert cached(cache, ask(1, body)) == 48  # the last block would leave nothing to compute
    assert cached(cache, ask(2, {**body, "prompt": " dog" * 65})) == 64
    assert cached(cache, ask(3, {**body, "prompt": " dog" * 40 + " cat" * 40})) == 32
    assert cached(cache, ask(4, {**body, "cache_salt": "s"})) == 0
    assert cached(cache, ask(5, {**body, "lora_path": "l"})) == 0
    assert cached(cache, ask(6, {**body, "model": "n"})) == 0


def test_an_engine_keeps_what_it_generated() -> None:
    cache = EngineCache(16)
    answer = Said("assistant", " cat" * 32)
    cache.serve(Exchange(0, {"model": "m", "prompt": " dog" * 32}, answer))
    grown = {"model": "m", "prompt": " dog" * 32 + " cat" * 32 + " cow" * 8}
    assert cached(cache, Exchange(1, grown, answer)) == 64
    trimmed = EngineCache(16)
    trimmed.serve(Exchange(0, {"model": "m", "prompt": " dog" * 32}, answer, raw_text=" cow" + " cat" * 32))
    assert cached(trimmed, Exchange(1, grown, answer)) == 32


def test_an_engine_takes_ids_as_they_are() -> None:
    cache = EngineCache(16)
    body = {"model": "m", "prompt_token_ids": list(range(40))}
    cache.serve(ask(0, body, answer_ids=tuple(range(40, 60))))
    assert cached(cache, ask(1, {**body, "prompt_token_ids": list(range(58))})) == 48
    assert cached(cache, ask(2, {**body, "prompt_token_ids": [*range(40), *range(99, 120)]})) == 32


def test_a_relay_tells_a_string_from_a_list_of_one_block() -> None:
    cache = EngineCache(16, by_bytes=True)
    text, blocks = chat(" hi", LONG), chat(" hi", LONG)
    blocks["messages"][1]["content"] = [{"type": "text", "text": LONG}]
    cache.serve(ask(0, text))
    assert cached(cache, ask(1, text)) > 1400
    assert cached(cache, ask(2, blocks)) < 32
    marked = chat(" hi", LONG)
    marked["messages"][1]["content"] = [{"type": "text", "text": LONG, "cache_control": {"type": "ephemeral"}}]
    assert cached(cache, ask(3, marked)) > 1400
