"""Usage of every API, brought to one accounting; the right values are sums done by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from prefixwise.core.usage import Usage, from_headers, from_json, reported

# Name, what the API reports, (prompt, cached, written, output), tokens written by TTL in seconds.
EXAMPLES: list[tuple[str, Any, tuple[Any, Any, Any, Any], tuple[tuple[float, int], ...]]] = [
    (
        "OpenAI Chat",
        {
            "prompt_tokens": 2006,
            "completion_tokens": 300,
            "total_tokens": 2306,
            "prompt_tokens_details": {"cached_tokens": 1920, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 20},
        },
        (2006, 1920, None, 300),
        (),
    ),
    (
        "OpenAI Chat from GPT-5.6",
        {"prompt_tokens": 5000, "prompt_tokens_details": {"cached_tokens": 3000, "cache_write_tokens": 1500}},
        (5000, 3000, 1500, None),
        (),
    ),
    (
        "OpenAI Responses",
        {
            "input_tokens": 5000,
            "output_tokens": 7,
            "input_tokens_details": {
                "cached_tokens": 3000,
                "cache_write_tokens": 1500,
                "cache_write_tokens_details": {"ttl_30m_tokens": 1000, "ttl_12h_tokens": 500},
            },
        },
        (5000, 3000, 1500, 7),
        ((1800.0, 1000), (43200.0, 500)),
    ),
    (
        "OpenAI Realtime",
        {
            "input_tokens": 900,
            "output_tokens": 40,
            "input_token_details": {"text_tokens": 900, "cached_tokens": 640, "cached_tokens_details": {"text": 640}},
        },
        (900, 640, None, 40),
        (),
    ),
    (
        "Anthropic Messages",
        {
            "input_tokens": 21,
            "cache_read_input_tokens": 188_086,
            "cache_creation_input_tokens": 456,
            "cache_creation": {"ephemeral_5m_input_tokens": 400, "ephemeral_1h_input_tokens": 56},
            "output_tokens": 393,
        },
        (188_563, 188_086, 456, 393),
        ((300.0, 400), (3600.0, 56)),
    ),
    (
        "Bedrock Converse",
        {
            "inputTokens": 10,
            "outputTokens": 5,
            "cacheReadInputTokens": 1000,
            "cacheWriteInputTokens": 200,
            "cacheDetails": [{"ttl": "1h", "inputTokens": 50}, {"ttl": "5m", "inputTokens": 150}],
        },
        (1210, 1000, 200, 5),
        ((300.0, 150), (3600.0, 50)),
    ),
    (
        "Gemini generateContent",
        {
            "promptTokenCount": 4100,
            "cachedContentTokenCount": 4096,
            "candidatesTokenCount": 12,
            "thoughtsTokenCount": 30,
            "cacheTokensDetails": [{"modality": "TEXT", "tokenCount": 4096}],
        },
        (4100, 4096, None, 42),
        (),
    ),
    (
        "Gemini Interactions",
        {"total_input_tokens": 800, "total_cached_tokens": 512, "total_output_tokens": 9, "total_thought_tokens": 4},
        (800, 512, None, 13),
        (),
    ),
    (
        "DeepSeek",
        {"prompt_tokens": 1500, "prompt_cache_hit_tokens": 1408, "prompt_cache_miss_tokens": 92},
        (1500, 1408, None, None),
        (),
    ),
    (
        "DeepSeek without the sum",
        {"prompt_cache_hit_tokens": 64, "prompt_cache_miss_tokens": 36},
        (100, 64, None, None),
        (),
    ),
    ("xAI over gRPC", {"prompt_tokens": 300, "cached_prompt_text_tokens": 256}, (300, 256, None, None), ()),
    (
        "Groq",
        {"prompt_tokens": 4641, "completion_tokens": 1817, "prompt_tokens_details": {"cached_tokens": 4608}},
        (4641, 4608, None, 1817),
        (),
    ),
    ("Mistral", {"prompt_tokens": 200, "prompt_tokens_details": {"cached_tokens": 128}}, (200, 128, None, None), ()),
    ("Moonshot", {"prompt_tokens": 600, "cached_tokens": 512, "completion_tokens": 3}, (600, 512, None, 3), ()),
    (
        "Qwen, explicit cache",
        {
            "prompt_tokens": 3019,
            "completion_tokens": 104,
            "prompt_tokens_details": {
                "cached_tokens": 0,
                "cache_creation_input_tokens": 2048,
                "cache_creation": {"ephemeral_5m_input_tokens": 2048},
            },
        },
        (3019, 0, 2048, 104),
        ((300.0, 2048),),
    ),
    (
        "OpenRouter",
        {
            "prompt_tokens": 10_339,
            "completion_tokens": 60,
            "prompt_tokens_details": {"cached_tokens": 10_318, "cache_write_tokens": 0},
            "cache_discount": 0.01,
        },
        (10_339, 10_318, 0, 60),
        (),
    ),
    (
        "vLLM Chat",
        {"prompt_tokens": 65, "prompt_tokens_details": {"cached_tokens": 48, "created_cache_tokens": 16}},
        (65, 48, 16, None),
        (),
    ),
    (
        "vLLM Responses",
        {
            "input_tokens": 65,
            "input_tokens_details": {"cached_tokens": 48, "cache_write_tokens": 16, "cached_tokens_per_turn": [48]},
        },
        (65, 48, 16, None),
        (),
    ),
    (
        "vLLM Messages",
        {"input_tokens": 1, "cache_read_input_tokens": 48, "cache_creation_input_tokens": 16, "output_tokens": 2},
        (65, 48, 16, 2),
        (),
    ),
]


@pytest.mark.parametrize(
    ("wire", "expected", "by_ttl"), [row[1:] for row in EXAMPLES], ids=[row[0] for row in EXAMPLES]
)
def test_each_api_in_one_accounting(wire: Any, expected: tuple[Any, ...], by_ttl: Any) -> None:
    assert from_json(json.dumps(wire).encode()) == Usage(*expected, by_ttl)


@pytest.mark.parametrize(
    ("wire", "expected", "by_ttl"), [row[1:] for row in EXAMPLES], ids=[row[0] for row in EXAMPLES]
)
def test_an_odd_field_beside_takes_nothing_with_it(wire: Any, expected: tuple[Any, ...], by_ttl: Any) -> None:
    used = {name.partition("_")[0] for name in wire}
    odd = "inputTokens" if "input" in used or "total" in used else "cache_creation_input_tokens"
    if odd in wire:
        odd = "completion_tokens"
    assert from_json(json.dumps({**wire, odd: "n/a"}).encode()) == Usage(*expected, by_ttl)


@pytest.mark.parametrize(
    "wire",
    [
        {"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": -1}},
        {"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": 2**40}},
        {"prompt_tokens": 100, "prompt_tokens_details": [64]},
        {"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": 101}},
        {"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": True}},
        {"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": None}},
    ],
)
def test_a_value_that_is_no_count_is_absent_not_zero(wire: Any) -> None:
    assert from_json(json.dumps(wire).encode()) == Usage(100)


def test_stream_events_are_cumulative() -> None:
    start = {
        "type": "message_start",
        "message": {
            "usage": {
                "input_tokens": 25,
                "cache_read_input_tokens": 2000,
                "cache_creation_input_tokens": 100,
                "cache_creation": {"ephemeral_5m_input_tokens": 100, "ephemeral_1h_input_tokens": 0},
                "output_tokens": 1,
            }
        },
    }
    events = [
        start,
        {"type": "content_block_delta", "delta": {"text": "Hi"}},
        {"type": "message_delta", "usage": {"output_tokens": 15}},
        {"type": "message_delta", "usage": {"output_tokens": 90, "input_tokens": None}},
        {"type": "message_stop"},
    ]
    assert from_json(json.dumps(events).encode()) == Usage(2125, 2000, 100, 90, ((300.0, 100),))
    chunks = [{"choices": [{}], "usage": None}, {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2}}]
    assert from_json(json.dumps(chunks).encode()) == Usage(7, None, None, 2)
    done = [{"type": "response.completed", "response": {"usage": {"input_tokens": 9, "output_tokens": 1}}}]
    assert from_json(json.dumps(done).encode()) == Usage(9, None, None, 1)
    assert from_json(b"[1, null, {}]") is None


def test_fireworks_headers_complete_the_usage() -> None:
    headers = json.dumps({"Fireworks-Prompt-Tokens": "1200", "fireworks-cached-prompt-tokens": ["1024"]}).encode()
    assert from_headers(headers) == Usage(1200, 1024)
    assert reported(b'{"prompt_tokens": 1200, "completion_tokens": 5}', headers) == Usage(1200, 1024, None, 5)
    assert reported(None, headers) == Usage(1200, 1024)
    own = b'{"prompt_tokens": 1200, "prompt_tokens_details": {"cached_tokens": 0}}'
    assert reported(own, headers) == Usage(1200, 0)
    assert reported(None, b'{"date": "Mon"}') is None
    assert reported(None, b'["not headers"]') is None
    assert reported(None, None) is None


def test_written_for_longer_than_usual() -> None:
    assert Usage(written_by_ttl=((300.0, 5), (3600.0, 7))).written_long == 7
    assert Usage(written_by_ttl=((1800.0, 5), (43200.0, 2))).written_long == 2
