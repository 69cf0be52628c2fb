"""Streams of answers in the shapes that the vendors document, and what they say."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from tests.support.aws_frames import frame

TEXT = "Über 40 Fähren — täglich 🌊."
WORDS = ["Über 40 ", "Fähren", " — täglich", " 🌊."]


@dataclass(frozen=True)
class Streamed:
    """A stream and what is to be read from it.

    Attributes:
        name, protocol: Which stream, in which protocol.
        events: The events as bytes, one after the other.
        text, reasoning, tool: What the answer says.
        usage: prompt tokens, cached tokens, output tokens; None where it says none.
        first: Index of the event with the first output (of any kind), None for none.
        finish: Why it ended; `error`: part of what went wrong.
        complete: Whether the answer came to its end.
    """

    name: str
    protocol: str
    events: tuple[bytes, ...]
    text: str = TEXT
    reasoning: str = ""
    tool: str = ""
    usage: tuple[int, int | None, int] | None = None
    first: int | None = 0
    finish: str = ""
    error: str = ""
    complete: bool = True
    sdk: bool = field(default=True)
    """Whether the vendor's SDK can be asked: it cannot where the stream breaks off or its events are a rival's own."""

    @property
    def data(self) -> bytes:
        return b"".join(self.events)


def sse(value: Any, kind: str = "") -> bytes:
    data = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return (f"event: {kind}\n" if kind else "").encode() + f"data: {data}\n\n".encode()


# -- OpenAI Chat ------------------------------------------------------------------------------------------

DONE = sse("[DONE]")


def chunk(delta: dict | None = None, finish: str | None = None, **more: Any) -> bytes:
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}]
    base = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1790000000, "model": "m"}
    return sse({**base, "choices": choices, **more})


CHAT_USAGE = {
    "prompt_tokens": 2006,
    "completion_tokens": 12,
    "total_tokens": 2018,
    "prompt_tokens_details": {"cached_tokens": 1920, "audio_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 0},
}
ROLE = chunk({"role": "assistant", "content": ""})
SAID = tuple(chunk({"content": word}) for word in WORDS)
STOP = chunk({}, "stop")


def call(**function: str) -> dict:
    start = {"id": "call_1", "type": "function"} if "name" in function else {}
    return {"tool_calls": [{"index": 0, **start, "function": function}]}


CHAT = [
    Streamed("plain", "openai-chat", (ROLE, *SAID, STOP, DONE), first=1, finish="stop"),
    Streamed(
        "usage in a chunk of its own",
        "openai-chat",
        (ROLE, *SAID, STOP, chunk(usage=CHAT_USAGE), DONE),
        first=1,
        finish="stop",
        usage=(2006, 1920, 12),
    ),
    Streamed(
        "usage null in every chunk",
        "openai-chat",
        (
            chunk({"role": "assistant", "content": "", "refusal": None}, usage=None),
            *(chunk({"content": word}, usage=None) for word in WORDS),
            chunk({}, "stop", usage=None),
            chunk(
                usage={"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13, "prompt_tokens_details": None}
            ),
            DONE,
        ),
        first=1,
        finish="stop",
        usage=(9, None, 4),
    ),
    Streamed(
        "empty deltas, comments and pings",
        "openai-chat",
        (b": ping\n\n", ROLE, chunk({"content": ""}), b": still here\n\n", chunk({"content": None}), *SAID, STOP, DONE),
        first=5,
        finish="stop",
    ),
    Streamed(
        "a tool is called",
        "openai-chat",
        (
            ROLE,
            chunk(call(name="departures", arguments="")),
            chunk(call(arguments='{"pier":')),
            chunk(call(arguments='"west"}')),
            chunk({}, "tool_calls"),
            DONE,
        ),
        text="",
        tool='departures{"pier":"west"}',
        first=1,
        finish="tool_calls",
    ),
    Streamed(
        "refused",
        "openai-chat",
        (ROLE, chunk({"refusal": "I cannot "}), chunk({"refusal": "help."}), STOP, DONE),
        text="",
        first=1,
        finish="stop",
    ),
    Streamed(
        "an error in the middle",
        "openai-chat",
        (ROLE, *SAID[:2], sse({"error": {"message": "The server is overloaded.", "type": "server_error"}})),
        text=TEXT[:14],
        first=1,
        error="overloaded",
        sdk=False,
    ),
    Streamed("broken off", "openai-chat", (ROLE, *SAID[:2]), text=TEXT[:14], first=1, complete=False, sdk=False),
    Streamed("the end without [DONE]", "openai-chat", (ROLE, *SAID, STOP), first=1, finish="stop"),
    Streamed(
        "reasoning, as vLLM sends it",
        "vllm",
        (
            chunk({"role": "assistant", "content": ""}),
            chunk({"reasoning": "The piers "}),
            chunk({"reasoning": "first."}),
            *SAID,
            STOP,
            chunk(usage={**CHAT_USAGE, "prompt_tokens_details": {"cached_tokens": 0, "created_cache_tokens": 2000}}),
            DONE,
        ),
        reasoning="The piers first.",
        first=1,
        finish="stop",
        usage=(2006, 0, 12),
        sdk=False,
    ),
    Streamed(
        "reasoning and hits, as DeepSeek sends them",
        "deepseek",
        (
            chunk({"role": "assistant", "content": None, "reasoning_content": ""}),
            chunk({"content": None, "reasoning_content": "Piers."}),
            *(chunk({"content": word, "reasoning_content": None}) for word in WORDS),
            chunk(
                {"content": ""},
                "stop",
                usage={
                    "prompt_tokens": 300,
                    "completion_tokens": 20,
                    "total_tokens": 320,
                    "prompt_cache_hit_tokens": 256,
                    "prompt_cache_miss_tokens": 44,
                },
            ),
            DONE,
        ),
        reasoning="Piers.",
        first=1,
        finish="stop",
        usage=(300, 256, 20),
        sdk=False,
    ),
    Streamed(
        "a router's comments, and cached tokens",
        "openrouter",
        (
            b": OPENROUTER PROCESSING\n\n",
            b": OPENROUTER PROCESSING\n\n",
            ROLE,
            *SAID,
            STOP,
            chunk(usage=CHAT_USAGE),
            DONE,
        ),
        first=3,
        finish="stop",
        usage=(2006, 1920, 12),
        sdk=False,
    ),
]


# -- OpenAI Completions -----------------------------------------------------------------------------------


def completion(text: str, finish: str | None = None, **more: Any) -> bytes:
    choice = {"index": 0, "text": text, "finish_reason": finish, "logprobs": None}
    return sse({"id": "cmpl-1", "object": "text_completion", "created": 1, "model": "m", "choices": [choice], **more})


COMPLETIONS = [
    Streamed(
        "plain",
        "openai-completions",
        (
            completion(""),
            *(completion(word) for word in WORDS),
            completion("", "stop"),
            sse(
                {
                    "id": "cmpl-1",
                    "object": "text_completion",
                    "created": 1,
                    "model": "m",
                    "choices": [],
                    "usage": CHAT_USAGE,
                }
            ),
            DONE,
        ),
        first=1,
        finish="stop",
        usage=(2006, 1920, 12),
    )
]


# -- OpenAI Responses -------------------------------------------------------------------------------------

RESPONSE = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1790000000,
    "model": "m",
    "status": "in_progress",
    "output": [],
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
}
RESPONSES_USAGE = {
    "input_tokens": 2048,
    "input_tokens_details": {"cached_tokens": 1536, "cache_write_tokens": 500},
    "output_tokens": 30,
    "output_tokens_details": {"reasoning_tokens": 10},
    "total_tokens": 2078,
}
MESSAGE = {"type": "message", "id": "msg_1", "role": "assistant", "status": "in_progress", "content": []}


class _Numbered:
    """Writes events with their running numbers."""

    def __init__(self) -> None:
        self.number = 0

    def __call__(self, type: str, **more: Any) -> bytes:
        made = sse({"type": type, "sequence_number": self.number, **more}, type)
        self.number += 1
        return made


def responses(
    name: str, middle: list[tuple[str, dict]], output: list[dict], end: str = "completed", **expected: Any
) -> Streamed:
    event = _Numbered()
    events = [event("response.created", response=RESPONSE), event("response.in_progress", response=RESPONSE)]
    events += [event(kind, **more) for kind, more in middle]
    done = {**RESPONSE, "status": end, "output": output, "usage": RESPONSES_USAGE}
    if end == "failed":
        done |= {"error": {"code": "server_error", "message": "The model fell over."}}
    events.append(event(f"response.{end}", response=done))
    return Streamed(name, "openai-responses", tuple(events), finish=end, usage=(2048, 1536, 30), **expected)


def deltas(kind: str, texts: list[str], **more: Any) -> list[tuple[str, dict]]:
    return [(f"response.{kind}.delta", {"delta": text, **more}) for text in texts]


PLACE = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
PART = {"type": "output_text", "text": "", "annotations": []}
WHOLE = {**MESSAGE, "status": "completed", "content": [{**PART, "text": TEXT}]}
OPENED = [
    ("response.output_item.added", {"output_index": 0, "item": MESSAGE}),
    ("response.content_part.added", {**PLACE, "part": PART}),
]
RESPONSES = [
    responses("plain", [*OPENED, *deltas("output_text", WORDS, **PLACE, logprobs=[])], [WHOLE], first=4),
    responses(
        "reasoning in summaries",
        [
            (
                "response.output_item.added",
                {"output_index": 0, "item": {"type": "reasoning", "id": "rs_1", "summary": []}},
            ),
            *deltas("reasoning_summary_text", ["Piers ", "first."], item_id="rs_1", output_index=0, summary_index=0),
            *OPENED,
            *deltas("output_text", WORDS, **PLACE, logprobs=[]),
        ],
        [WHOLE],
        reasoning="Piers first.",
        first=3,
    ),
    responses(
        "a function is called",
        [
            (
                "response.output_item.added",
                {
                    "output_index": 0,
                    "item": {
                        "type": "function_call",
                        "id": "fc_1",
                        "call_id": "c",
                        "name": "departures",
                        "arguments": "",
                    },
                },
            ),
            *deltas("function_call_arguments", ['{"pier":', '"west"}'], item_id="fc_1", output_index=0),
        ],
        [{"type": "function_call", "id": "fc_1", "call_id": "c", "name": "departures", "arguments": '{"pier":"west"}'}],
        text="",
        tool='departures{"pier":"west"}',
        first=2,
    ),
    responses(
        "cut short",
        [*OPENED, *deltas("output_text", WORDS, **PLACE, logprobs=[])],
        [WHOLE],
        end="incomplete",
        first=4,
    ),
    responses(
        "failed",
        [*OPENED, *deltas("output_text", WORDS, **PLACE, logprobs=[])],
        [],
        "failed",
        first=4,
        error="fell over",
    ),
]


# -- Anthropic --------------------------------------------------------------------------------------------


def said(type: str, **more: Any) -> bytes:
    return sse({"type": type, **more}, type)


def started(**usage: Any) -> bytes:
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []}
    message |= {"stop_reason": None, "stop_sequence": None, "usage": {"output_tokens": 1, **usage}}
    return said("message_start", message=message)


def block(at: int, start: dict, *parts: dict) -> tuple[bytes, ...]:
    return (
        said("content_block_start", index=at, content_block=start),
        *(said("content_block_delta", index=at, delta=part) for part in parts),
        said("content_block_stop", index=at),
    )


def ended(reason: str, output: int) -> tuple[bytes, ...]:
    delta = {"stop_reason": reason, "stop_sequence": None}
    return said("message_delta", delta=delta, usage={"output_tokens": output}), said("message_stop")


CACHED = {"input_tokens": 21, "cache_read_input_tokens": 1800, "cache_creation_input_tokens": 188}
WORDED = tuple({"type": "text_delta", "text": word} for word in WORDS)
ANTHROPIC = [
    Streamed(
        "plain",
        "anthropic",
        (started(**CACHED), *block(0, {"type": "text", "text": ""}, *WORDED), *ended("end_turn", 25)),
        first=2,
        finish="end_turn",
        usage=(2009, 1800, 25),
    ),
    Streamed(
        "pings, and nothing of caches",
        "anthropic",
        (
            started(input_tokens=21),
            said("ping"),
            *block(0, {"type": "text", "text": ""}, *WORDED),
            said("ping"),
            *ended("end_turn", 25),
        ),
        first=3,
        finish="end_turn",
        usage=(21, None, 25),
    ),
    Streamed(
        "thinking, then a tool",
        "anthropic",
        (
            started(**CACHED),
            *block(
                0,
                {"type": "thinking", "thinking": "", "signature": ""},
                {"type": "thinking_delta", "thinking": "Piers "},
                {"type": "thinking_delta", "thinking": "first."},
                {"type": "signature_delta", "signature": "c2ln"},
            ),
            *block(1, {"type": "text", "text": ""}, *WORDED),
            *block(
                2,
                {"type": "tool_use", "id": "toolu_1", "name": "departures", "input": {}},
                {"type": "input_json_delta", "partial_json": ""},
                {"type": "input_json_delta", "partial_json": '{"pier":'},
                {"type": "input_json_delta", "partial_json": '"west"}'},
            ),
            *ended("tool_use", 60),
        ),
        reasoning="Piers first.",
        tool='departures{"pier":"west"}',
        first=2,
        finish="tool_use",
        usage=(2009, 1800, 60),
    ),
    Streamed(
        "overloaded in the middle",
        "anthropic",
        (
            started(**CACHED),
            *block(0, {"type": "text", "text": ""}, *WORDED)[:3],
            said("error", error={"type": "overloaded_error", "message": "Overloaded"}),
        ),
        text=TEXT[:14],
        first=2,
        usage=(2009, 1800, 1),
        error="Overloaded",
        sdk=False,
    ),
    Streamed(
        "broken off",
        "anthropic",
        (started(**CACHED), *block(0, {"type": "text", "text": ""}, *WORDED)[:3]),
        text=TEXT[:14],
        first=2,
        usage=(2009, 1800, 1),
        complete=False,
        sdk=False,
    ),
]


# -- Gemini -----------------------------------------------------------------------------------------------


def candidate(*parts: dict, finish: str = "", **more: Any) -> bytes:
    content: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    if finish:
        content["finishReason"] = finish
    return sse({"candidates": [content], "modelVersion": "m", "responseId": "r1", **more})


GEMINI_USAGE = {
    "promptTokenCount": 2100,
    "cachedContentTokenCount": 2048,
    "candidatesTokenCount": 9,
    "totalTokenCount": 2119,
}
GEMINI = [
    Streamed(
        "plain, usage growing",
        "gemini",
        (
            candidate({"text": WORDS[0]}, usageMetadata={"promptTokenCount": 2100, "totalTokenCount": 2100}),
            *(candidate({"text": word}) for word in WORDS[1:]),
            candidate({"text": ""}, finish="STOP", usageMetadata={**GEMINI_USAGE, "thoughtsTokenCount": 10}),
        ),
        first=0,
        finish="STOP",
        usage=(2100, 2048, 19),
    ),
    Streamed(
        "a thought, and a call",
        "gemini",
        (
            candidate({"text": "Piers first.", "thought": True}),
            *(candidate({"text": word}) for word in WORDS),
            candidate(
                {"functionCall": {"name": "departures", "args": {"pier": "west"}}},
                finish="STOP",
                usageMetadata=GEMINI_USAGE,
            ),
        ),
        reasoning="Piers first.",
        tool='{"name":"departures","args":{"pier":"west"}}',
        first=0,
        finish="STOP",
        usage=(2100, 2048, 9),
    ),
    Streamed(
        "an error in the middle",
        "gemini",
        (candidate({"text": WORDS[0]}), sse({"error": {"code": 503, "message": "The model is overloaded."}})),
        text=WORDS[0],
        first=0,
        error="overloaded",
        sdk=False,
    ),
]


# -- Bedrock ----------------------------------------------------------------------------------------------


def framed(kind: str, value: Any) -> bytes:
    return frame(kind, json.dumps(value, ensure_ascii=False))


def spoken(at: int, **delta: Any) -> bytes:
    return framed("contentBlockDelta", {"contentBlockIndex": at, "delta": delta})


BEDROCK_USAGE = {
    "inputTokens": 30,
    "outputTokens": 11,
    "totalTokens": 1241,
    "cacheReadInputTokens": 1200,
    "cacheWriteInputTokens": 0,
}
METADATA = framed("metadata", {"usage": BEDROCK_USAGE, "metrics": {"latencyMs": 812}})
BEGUN = framed("messageStart", {"role": "assistant"})
BEDROCK = [
    Streamed(
        "plain",
        "bedrock",
        (
            BEGUN,
            *(spoken(0, text=word) for word in WORDS),
            framed("contentBlockStop", {"contentBlockIndex": 0}),
            framed("messageStop", {"stopReason": "end_turn"}),
            METADATA,
        ),
        first=1,
        finish="end_turn",
        usage=(1230, 1200, 11),
    ),
    Streamed(
        "reasoning, then a tool",
        "bedrock",
        (
            BEGUN,
            spoken(0, reasoningContent={"text": "Piers first."}),
            *(spoken(1, text=word) for word in WORDS),
            framed(
                "contentBlockStart",
                {"contentBlockIndex": 2, "start": {"toolUse": {"toolUseId": "t", "name": "departures"}}},
            ),
            spoken(2, toolUse={"input": '{"pier":"west"}'}),
            framed("messageStop", {"stopReason": "tool_use"}),
            METADATA,
        ),
        reasoning="Piers first.",
        tool='departures{"pier":"west"}',
        first=1,
        finish="tool_use",
        usage=(1230, 1200, 11),
    ),
    Streamed(
        "throttled in the middle",
        "bedrock",
        (
            BEGUN,
            spoken(0, text=WORDS[0]),
            frame("throttlingException", '{"message":"Too many tokens."}', ":exception-type"),
        ),
        text=WORDS[0],
        first=1,
        error="Too many tokens",
        sdk=False,
    ),
]

STREAMS = [*CHAT, *COMPLETIONS, *RESPONSES, *ANTHROPIC, *GEMINI, *BEDROCK]
