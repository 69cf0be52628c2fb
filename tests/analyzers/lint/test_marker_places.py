"""Where cache markers stand in the bodies of each API, and how blocks are counted up to them."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from prefixwise.analyzers.lint.marker_places import MarkerPlace, MarkerReader, seconds_of
from prefixwise.core.request import Request
from prefixwise.corpus.dialect import DIALECTS

MARKER = {"cache_control": {"type": "ephemeral"}}
HOUR = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
POINT = {"cachePoint": {"type": "default"}}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def places(api: str, body: dict[str, Any], reader: MarkerReader | None = None) -> tuple[tuple[MarkerPlace, ...], int]:
    dialect = DIALECTS.get(api)
    draft = dialect.draft(msgspec.json.decode(json.dumps(body).encode(), type=dialect.body))
    request = Request("log", 0, 1, api, dialect.provider, draft.model, draft.sections, automatic=draft.automatic)
    return (reader or MarkerReader()).places(request)


def shown(found: tuple[MarkerPlace, ...]) -> list[tuple[str, str, int, int]]:
    return [(place.pointer, place.kind, place.position, place.block) for place in found]


def test_messages_of_anthropic() -> None:
    body = {
        "model": "claude-sonnet-4-5",
        "tools": [{"name": "a", "input_schema": {"cache_control": {}}}, {"name": "b", "input_schema": {}, **HOUR}],
        "system": [text("One."), text("Two.", **MARKER)],
        "messages": [
            {"role": "user", "content": "Look."},
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": f"t{n}", "name": "a", "input": {}} for n in range(3)],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "t0", "content": "x"},
                    {"type": "tool_result", "tool_use_id": "t1", "content": [text("y", **MARKER)]},
                    {"type": "tool_result", "tool_use_id": "t2", "content": "z"},
                    text("Go on.", **MARKER),
                ],
            },
        ],
    }
    found, positions = places("anthropic-messages", body)
    assert shown(found) == [
        ("/tools/1/cache_control", "tools", 1, 1),
        ("/system/1/cache_control", "system", 3, 3),
        ("/messages/2/content/1/content/0/cache_control", "messages", 6, 9),
        ("/messages/2/content/3/cache_control", "messages", 7, 11),
    ]
    assert positions == 8
    assert [place.ttl for place in found] == [3600.0, None, None, None]
    assert [place.on for place in found] == ["tool", "text", "result", "text"]


def test_an_automatic_marker_stands_at_the_end() -> None:
    body: dict[str, Any] = {
        "model": "claude-sonnet-4-5",
        "system": "Be kind.",
        "messages": [{"role": "user", "content": "Hi."}],
    }
    found, _ = places("anthropic-messages", body | HOUR)
    assert shown(found) == [("/cache_control", "messages", 1, 1)]
    body["messages"][0]["content"] = [text("Hi.", **HOUR)]
    found, _ = places("anthropic-messages", body | HOUR)
    assert shown(found) == [("/messages/0/content/0/cache_control", "messages", 1, 1)]


def test_cache_points_end_the_block_before_them() -> None:
    body = {
        "modelId": "anthropic.claude-sonnet-4-5-20250929-v1:0",
        "toolConfig": {"tools": [{"toolSpec": {"name": "a"}}, POINT]},
        "system": [{"text": "One."}, POINT, {"text": "Two."}],
        "messages": [
            {"role": "user", "content": [{"text": "Look."}]},
            {
                "role": "assistant",
                "content": [{"toolUse": {"toolUseId": f"t{n}", "name": "a", "input": {}}} for n in range(2)],
            },
            {
                "role": "user",
                "content": [{"toolResult": {"toolUseId": f"t{n}", "content": []}} for n in range(2)] + [POINT],
            },
        ],
    }
    found, positions = places("bedrock-converse", body)
    assert shown(found) == [
        ("/toolConfig/tools/1/cachePoint", "tools", 0, 0),
        ("/system/1/cachePoint", "system", 1, 1),
        ("/messages/2/content/2/cachePoint", "messages", 5, 7),
    ]
    assert positions == 6


def test_chat_completions_as_gateways_take_markers() -> None:
    body = {
        "model": "anthropic/claude-sonnet-4.5",
        "tools": [{"type": "function", "function": {"name": "a", "parameters": {}, **MARKER}}],
        "messages": [
            {"role": "system", "content": [text("Be kind.", **MARKER)]},
            {"role": "user", "content": "Look."},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c0", "function": {"name": "a", "arguments": "{}"}}] * 2,
            },
            {"role": "tool", "tool_call_id": "c0", "content": "x"},
            {"role": "tool", "tool_call_id": "c1", "content": "y", **MARKER},
        ],
    }
    found, positions = places("openai-chat", body)
    assert shown(found) == [
        ("/tools/0/function/cache_control", "tools", 0, 0),
        ("/messages/0/content/0/cache_control", "system", 1, 1),
        ("/messages/4/cache_control", "messages", 4, 6),
    ]
    assert positions == 5


def test_breakpoints_of_openai() -> None:
    marked = {"prompt_cache_breakpoint": {"mode": "explicit", "ttl": "12h"}}
    body = {
        "model": "gpt-5.6",
        "instructions": "Be kind.",
        "input": [
            {"role": "developer", "content": [{"type": "input_text", "text": "Rules.", **marked}]},
            {"role": "user", "content": "Hi."},
            {"type": "function_call", "call_id": "c", "name": "a", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c", "output": "x"},
        ],
    }
    found, positions = places("openai-responses", body)
    assert shown(found) == [("/input/0/content/0/prompt_cache_breakpoint", "system", 1, 1)]
    assert (found[0].ttl, positions) == (43_200.0, 5)


def test_markers_as_options_of_a_provider_and_in_constructors() -> None:
    options = {"providerOptions": {"anthropic": {"cacheControl": {"type": "ephemeral"}}}}
    body = {
        "messages": [
            {"role": "system", "content": "Be kind.", **options},
            {"role": "user", "content": [text("Hi.", **options)]},
        ]
    }
    found, _ = places("vercel-ai", body)
    assert [place.pointer for place in found] == [
        "/messages/0/providerOptions/anthropic/cacheControl",
        "/messages/1/content/0/providerOptions/anthropic/cacheControl",
    ]
    made = {"messages": [{"lc": 1, "id": ["SystemMessage"], "kwargs": {"content": [text("Be kind.", **MARKER)]}}]}
    found, _ = places("langchain", made)
    assert [place.pointer for place in found] == ["/messages/0/kwargs/content/0/cache_control"]


def test_what_is_read_closely_and_what_in_passing_counts_alike() -> None:
    messages = [
        {"role": "user", "content": [text("a"), {"type": "image", "source": {}}, text("b")]},
        {
            "role": "assistant",
            "content": [{"type": "thinking", "thinking": "hm"}, *[{"type": "tool_use", "id": "1"}] * 3],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "c"}] * 3},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "c"}]},
        {"role": "assistant", "content": ""},
        {"role": "user", "content": [text("end", **MARKER)]},
    ]
    plain = places("anthropic-messages", {"model": "claude-x", "messages": messages})
    for message in messages:
        message["note"] = "the word cache makes the reader look closely"
    assert places("anthropic-messages", {"model": "claude-x", "messages": messages}) == plain
    assert shown(plain[0]) == [("/messages/5/content/0/cache_control", "messages", 6, 11)]


def test_items_that_come_again_are_known() -> None:
    reader = MarkerReader()
    body = {"model": "claude-x", "messages": [{"role": "user", "content": [text("a", **MARKER)]}]}
    first = places("anthropic-messages", body, reader)
    assert places("anthropic-messages", body, reader) == first
    body["messages"].insert(0, {"role": "user", "content": "before"})  # type: ignore[attr-defined]
    found, _ = places("anthropic-messages", body, reader)
    assert shown(found) == [("/messages/1/content/0/cache_control", "messages", 1, 1)]


def test_odd_markers_are_none() -> None:
    content = [text("a", cache_control=None), text("b", cache_control="yes"), text("c", cache_control=[1])]
    body = {"model": "claude-x", "messages": [{"role": "user", "content": content}]}
    assert places("anthropic-messages", body)[0] == ()


@pytest.mark.parametrize(
    ("ttl", "seconds"), [("5m", 300.0), ("1h", 3600.0), ("90s", 90.0), ("1d", 86_400.0), ("ever", None), (300, None)]
)
def test_lifetimes_as_requests_write_them(ttl: Any, seconds: float | None) -> None:
    assert seconds_of(ttl) == seconds
