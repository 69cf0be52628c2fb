"""Rules for histories: what each finds in the formats it occurs in, and which twins it is silent on."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import tokenizers
import tokenizers.models

from prefixwise.analyzers.lint.run import lint_log
from prefixwise.analyzers.rule import RULES as lint_rules
from prefixwise.cli.tokenizing import chooser
from prefixwise.core.finding import Finding, Level, Severity
from prefixwise.corpus.again import requests_again
from prefixwise.corpus.corpus import read_corpus
from prefixwise.corpus.index import CorpusIndex
from prefixwise.corpus.outlines import Outlines
from prefixwise.corpus.reader import ReadOptions
from tests.support.linting import finding as finding_of
from tests.support.linting import found, lint_records, pairs_of

Json = dict[str, Any]

RULES = "You answer questions on the ferry timetable, and you name the quay in every answer that you give."
TOOL = {"type": "function", "function": {"name": "departures", "parameters": {"type": "object", "properties": {}}}}
LONG = "; ".join(f"{5 + at // 4:02}:{at % 4 * 15:02} quay {1 + at % 3}" for at in range(40))


def openai(*messages: Json, model: str = "gpt-4.1", **more: Any) -> Json:
    return {"model": model, "tools": [TOOL], "messages": [{"role": "system", "content": RULES}, *messages], **more}


def anthropic(*messages: Json, model: str = "claude-sonnet-4-5", **more: Any) -> Json:
    tool = {"name": "departures", "input_schema": {"type": "object", "properties": {}}}
    return {"model": model, "max_tokens": 900, "tools": [tool], "system": RULES, "messages": list(messages), **more}


def responses(*items: Json) -> Json:
    tool = {"type": "function", "name": "departures", "parameters": {"type": "object", "properties": {}}}
    return {"model": "gpt-5.1", "instructions": RULES, "tools": [tool], "input": list(items)}


def gemini(*contents: Json) -> Json:
    tools = [{"functionDeclarations": [{"name": "departures"}]}]
    body = {"tools": tools, "systemInstruction": {"parts": [{"text": RULES}]}, "contents": list(contents)}
    return {"model": "gemini-2.5-pro", "request": body}


def bedrock(*messages: Json) -> Json:
    tools = [{"toolSpec": {"name": "departures", "inputSchema": {"json": {}}}}]
    body = {"modelId": "anthropic.claude-sonnet-4-5", "system": [{"text": RULES}], "messages": list(messages)}
    return {**body, "toolConfig": {"tools": tools}}


def user(text: Any) -> Json:
    return {"role": "user", "content": text}


def said(text: Any, **more: Any) -> Json:
    return {"role": "assistant", "content": text, **more}


def text(*texts: str) -> list[Json]:
    return [{"type": "text", "text": one} for one in texts]


def calls(number: str, arguments: str = '{"day": 1}', **more: Any) -> Json:
    function = {"name": "departures", "arguments": arguments}
    return said(None, tool_calls=[{"id": number, "type": "function", "function": function}], **more)


def tool(number: str, result: str = LONG) -> Json:
    return {"role": "tool", "tool_call_id": number, "content": result}


def use(number: str, given: Any = None, *before: Json) -> Json:
    return said([*before, {"type": "tool_use", "id": number, "name": "departures", "input": given or {"day": 1}}])


def used(number: str, result: Any = LONG) -> Json:
    return user([{"type": "tool_result", "tool_use_id": number, "content": result}])


Q1, Q2, Q3 = "When does the first ferry leave on Sunday?", "Does that one take bicycles?", "How about dogs and cats?"
A1, A2, A3 = "At 07:10 from quay 1, as on every Sunday.", "Twelve of them, at the bow.", "On a lead, in the saloon."
REMINDER = "<reminder>\nThe plan is empty. Write one before you answer.\n</reminder>"
THOUGHT = {"type": "thinking", "thinking": "The table has it, on the second page.", "signature": "c2lnbmF0dXJl"}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "Z2VoZWlt"}


def input_text(said_text: str) -> Json:
    return {"role": "user", "content": [{"type": "input_text", "text": said_text}]}


def function_call(number: str, arguments: str = '{"day": 1}') -> Json:
    return {"type": "function_call", "call_id": number, "name": "departures", "arguments": arguments}


def function_output(number: str, output: str = LONG) -> Json:
    return {"type": "function_call_output", "call_id": number, "output": output}


def answer_text(said_text: str) -> Json:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": said_text}]}


def part(role: str, *parts: Json) -> Json:
    return {"role": role, "parts": list(parts)}


def png(shade: int, width: int = 8, level: int = 9, note: bytes = b"", kind: int = 0) -> str:
    """Return a grey PNG in base64; `level`, `note` and the filter `kind` change its bytes and not its pixels."""

    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    row = bytes([kind]) + (bytes([shade] * width) if kind == 0 else bytes([shade] + [0] * (width - 1)))
    header = struct.pack(">IIBBBBB", width, 8, 8, 0, 0, 0, 0)
    notes = chunk(b"tEXt", note) if note else b""
    body = chunk(b"IHDR", header) + notes + chunk(b"IDAT", zlib.compress(row * 8, level)) + chunk(b"IEND", b"")
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + body).decode()


def picture(data: str, media_type: str = "image/png") -> Json:
    return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}}


def linked(url: str) -> Json:
    return {"type": "image_url", "image_url": {"url": url}}


SEEN = "What does the sign on the quay say?"

# rule, name of the case, requests, expected field, expected offset
FOUND: list[tuple[str, str, list[Json], str, int | None]] = [
    (
        "ephemeral-injection-moved",
        "a stretch in front of a string",
        [openai(user(f"{REMINDER}\n{Q1}")), openai(user(Q1), said(A1), user(f"{REMINDER}\n{Q2}"))],
        "/messages/1/content",
        0,
    ),
    (
        "ephemeral-injection-moved",
        "a stretch behind a string",
        [openai(user(f"{Q1}\n\n{REMINDER}")), openai(user(Q1), said(A1), user(f"{Q2}\n\n{REMINDER}"))],
        "/messages/1/content",
        len(Q1),
    ),
    (
        "ephemeral-injection-moved",
        "a block in front of a text",
        [anthropic(user(text(REMINDER, Q1))), anthropic(user(text(Q1)), said(text(A1)), user(text(REMINDER, Q2)))],
        "/messages/0/content/0/text",
        0,
    ),
    (
        "ephemeral-injection-moved",
        "a block behind a text",
        [anthropic(user(text(Q1, REMINDER))), anthropic(user(text(Q1)), said(text(A1)), user(text(Q2, REMINDER)))],
        "/messages/0/content/1/text",
        None,
    ),
    (
        "ephemeral-injection-moved",
        "a block beside a tool's result",
        [
            anthropic(user(Q1), use("toolu_1"), user([*used("toolu_1")["content"], *text(REMINDER)])),
            anthropic(user(Q1), use("toolu_1"), used("toolu_1"), said(A1), user(text(Q2, REMINDER))),
        ],
        "/messages/2/content/1/text",
        None,
    ),
    (
        "ephemeral-injection-moved",
        "two stretches, of which the first goes",
        [
            openai(user(f"<todo>two open items</todo><place>quay 1</place>{Q1}")),
            openai(user(f"<place>quay 1</place>{Q1}"), said(A1), user(f"<todo>one open item</todo>{Q2}")),
        ],
        "/messages/1/content",
        1,
    ),
    (
        "ephemeral-injection-moved",
        "a message of its own at the end",
        [openai(user(Q1), user(REMINDER)), openai(user(Q1), said(A1), user(Q2), user(REMINDER))],
        "/messages/2/content",
        0,
    ),
    (
        "ephemeral-injection-moved",
        "a system message in front of the newest",
        [
            openai(user(Q1), said(A1), {"role": "system", "content": "Be brief, and name no names."}, user(Q2)),
            openai(
                user(Q1),
                said(A1),
                user(Q2),
                said(A2),
                {"role": "system", "content": "Be brief, and name no names."},
                user(Q3),
            ),
        ],
        "/messages/3",
        None,
    ),
    (
        "ephemeral-injection-moved",
        "added only when it is sent again",
        [anthropic(user(text(Q1))), anthropic(user(text(REMINDER, Q1)), said(text(A1)), user(text(Q2)))],
        "/messages/0/content/0/text",
        0,
    ),
    (
        "ephemeral-injection-moved",
        "in Gemini's parts",
        [
            gemini(part("user", {"text": REMINDER}, {"text": Q1})),
            gemini(
                part("user", {"text": Q1}), part("model", {"text": A1}), part("user", {"text": REMINDER}, {"text": Q2})
            ),
        ],
        "/contents/0/parts/0/text",
        0,
    ),
    (
        "ephemeral-injection-moved",
        "in Converse blocks",
        [
            bedrock(user([{"text": REMINDER}, {"text": Q1}])),
            bedrock(user([{"text": Q1}]), said([{"text": A1}]), user([{"text": REMINDER}, {"text": Q2}])),
        ],
        "/messages/0/content/0/text",
        0,
    ),
    (
        "history-rewritten",
        "wrapped live, bare on replay",
        [
            openai(user(f"<passages>\nClause 4.1, clause 9.1\n</passages>\n<question>{Q1}</question>")),
            openai(user(Q1), said(A1), user(f"<passages>\nClause 4.2\n</passages>\n<question>{Q2}</question>")),
        ],
        "/messages/1/content",
        0,
    ),
    (
        "history-rewritten",
        "passages and a label in front of the question",
        [
            responses(input_text(f"Context:\nquay 1 is closed.\n\nQuestion: {Q1}")),
            responses(
                input_text(Q1), answer_text(A1), input_text(f"Context:\nquay 2 takes bicycles.\n\nQuestion: {Q2}")
            ),
        ],
        "/input/0/content/0/text",
        0,
    ),
    (
        "history-rewritten",
        "bare live, wrapped on replay",
        [
            openai(user(Q1)),
            openai(user(f"The traveller wrote:\n{Q1}\nAnswer was given."), said(A1), user(Q2)),
        ],
        "/messages/1/content",
        0,
    ),
    (
        "history-rewritten",
        "an answer that was cut",
        [
            openai(user(Q1), said(f"{A1} {LONG}"), user(Q2)),
            openai(user(Q1), said(A1), user(Q2), said(A2), user(Q3)),
        ],
        "/messages/2/content",
        len(A1),
    ),
    (
        "history-rewritten",
        "a question with its spelling put right",
        [
            openai(user("when dos the first fery leave on sunday"), session_id="s1"),
            openai(user("When does the first ferry leave on Sunday?"), said(A1), user(Q2), session_id="s1"),
        ],
        "/messages/1/content",
        0,
    ),
    (
        "history-window-slides",
        "two messages a turn",
        [
            openai(user(Q1), said(A1), user(Q2), said(A2), user(Q3)),
            openai(user(Q2), said(A2), user(Q3), said(A3), user(Q1)),
        ],
        "/messages/1/content",
        0,
    ),
    (
        "history-window-slides",
        "the first message stays",
        [
            anthropic(user(Q1), said(A1), user(Q2), said(A2), user(Q3)),
            anthropic(user(Q1), said(A2), user(Q3), said(A3), user("Where do I pay?")),
        ],
        "/messages/1/content",
        None,
    ),
    (
        "history-window-slides",
        "three messages a turn, so that the speaker changes",
        [
            openai(user(Q1), calls("c1"), tool("c1"), said(A1), user(Q2)),
            openai(said(A1), user(Q2), said(A2), user(Q3)),
        ],
        "/messages/1",
        None,
    ),
    (
        "history-window-slides",
        "in Responses items",
        [
            responses(input_text(Q1), answer_text(A1), input_text(Q2)),
            responses(input_text(Q2), answer_text(A2), input_text(Q3)),
        ],
        "/input/0/content/0/text",
        0,
    ),
    (
        "tool-result-pruned",
        "a placeholder",
        [
            openai(user(Q1), calls("c1"), tool("c1")),
            openai(user(Q1), calls("c1"), tool("c1", "[result removed]"), said(A1), user(Q2)),
        ],
        "/messages/3/content",
        0,
    ),
    (
        "tool-result-pruned",
        "cut to its beginning",
        [
            anthropic(user(Q1), use("toolu_1"), used("toolu_1")),
            anthropic(user(Q1), use("toolu_1"), used("toolu_1", LONG[:120]), said(A1), user(Q2)),
        ],
        "/messages/2/content/0/content",
        120,
    ),
    (
        "tool-result-pruned",
        "in Responses items",
        [
            responses(input_text(Q1), function_call("call_1"), function_output("call_1")),
            responses(
                input_text(Q1),
                function_call("call_1"),
                function_output("call_1", "cleared"),
                answer_text(A1),
                input_text(Q2),
            ),
        ],
        "/input/2/output",
        0,
    ),
    (
        "tool-result-pruned",
        "a call and its result are gone",
        [
            openai(user(Q1), said(A1), user(Q2), said("I look."), user("Yes."), calls("c1"), tool("c1"), said(A2)),
            openai(user(Q1), said(A1), user(Q2), said("I look."), user("Yes."), said(A2), user(Q3)),
        ],
        "/messages/6",
        None,
    ),
    (
        "reasoning-stripped",
        "thinking blocks",
        [
            anthropic(user(Q1), use("toolu_1", None, THOUGHT), used("toolu_1"), model="claude-opus-4-5"),
            anthropic(user(Q1), use("toolu_1"), used("toolu_1"), said(A1), user(Q2), model="claude-opus-4-5"),
        ],
        "/messages/1/content/0",
        None,
    ),
    (
        "reasoning-stripped",
        "reasoning_content",
        [
            openai(user(Q1), calls("c1", reasoning_content="The table has it."), tool("c1"), model="kimi-k2-thinking"),
            openai(user(Q1), calls("c1"), tool("c1"), said(A1), user(Q2), model="kimi-k2-thinking"),
        ],
        "/messages/2/reasoning_content",
        None,
    ),
    (
        "reasoning-stripped",
        "reasoning items",
        [
            responses(input_text(Q1), REASONING, function_call("call_1"), function_output("call_1")),
            responses(
                input_text(Q1), function_call("call_1"), function_output("call_1"), answer_text(A1), input_text(Q2)
            ),
        ],
        "/input/1",
        None,
    ),
    (
        "reasoning-stripped",
        "between tags in the text",
        [
            openai(user(Q1), said(f"<think>\nThe table has it.\n</think>\n\n{A1}"), user(Q2), model="minimax-m2"),
            openai(user(Q1), said(A1), user(Q2), said(A2), user(Q3), model="minimax-m2"),
        ],
        "/messages/2/content",
        None,
    ),
    (
        "reasoning-stripped",
        "added when it is sent again",
        [
            anthropic(user(Q1), use("toolu_1"), used("toolu_1"), model="claude-opus-4-5"),
            anthropic(
                user(Q1), use("toolu_1", None, THOUGHT), used("toolu_1"), said(A1), user(Q2), model="claude-opus-4-5"
            ),
        ],
        "/messages/1/content/0",
        None,
    ),
    (
        "reasoning-stripped",
        "in Converse blocks",
        [
            bedrock(
                user([{"text": Q1}]),
                said(
                    [{"reasoningContent": {"reasoningText": {"text": "The table.", "signature": "c2ln"}}}, {"text": A1}]
                ),
                user([{"text": Q2}]),
            ),
            bedrock(
                user([{"text": Q1}]),
                said([{"text": A1}]),
                user([{"text": Q2}]),
                said([{"text": A2}]),
                user([{"text": Q3}]),
            ),
        ],
        "/messages/1/content/0",
        None,
    ),
    (
        "tool-call-id-regenerated",
        "Chat Completions",
        [
            openai(user(Q1), calls("call_aaaa1111"), tool("call_aaaa1111")),
            openai(user(Q1), calls("call_bbbb2222"), tool("call_bbbb2222"), said(A1), user(Q2)),
        ],
        "/messages/2/tool_calls/0/id",
        5,
    ),
    (
        "tool-call-id-regenerated",
        "tool_use blocks",
        [
            anthropic(user(Q1), use("toolu_aaaa1111"), used("toolu_aaaa1111")),
            anthropic(user(Q1), use("toolu_bbbb2222"), used("toolu_bbbb2222"), said(A1), user(Q2)),
        ],
        "/messages/1/content/0/id",
        6,
    ),
    (
        "tool-call-id-regenerated",
        "Responses items",
        [
            responses(input_text(Q1), function_call("call_aaaa"), function_output("call_aaaa")),
            responses(
                input_text(Q1),
                function_call("call_bbbb"),
                function_output("call_bbbb"),
                answer_text(A1),
                input_text(Q2),
            ),
        ],
        "/input/1/call_id",
        5,
    ),
    (
        "tool-call-id-regenerated",
        "Converse blocks",
        [
            bedrock(
                user([{"text": Q1}]),
                said([{"toolUse": {"toolUseId": "tooluse_aaaa", "name": "departures", "input": {"day": 1}}}]),
                user([{"toolResult": {"toolUseId": "tooluse_aaaa", "content": [{"text": LONG}]}}]),
            ),
            bedrock(
                user([{"text": Q1}]),
                said([{"toolUse": {"toolUseId": "tooluse_bbbb", "name": "departures", "input": {"day": 1}}}]),
                user([{"toolResult": {"toolUseId": "tooluse_bbbb", "content": [{"text": LONG}]}}]),
                said([{"text": A1}]),
                user([{"text": Q2}]),
            ),
        ],
        "/messages/1/content/0/toolUse/toolUseId",
        8,
    ),
    (
        "tool-args-reserialised",
        "other key order and spacing",
        [
            openai(user(Q1), calls("c1", '{"quay": 2, "day": 1}'), tool("c1")),
            openai(user(Q1), calls("c1", '{"day":1,"quay":2}'), tool("c1"), said(A1), user(Q2)),
        ],
        "/messages/2/tool_calls/0/function/arguments",
        2,
    ),
    (
        "tool-args-reserialised",
        "spacing alone",
        [
            openai(user(Q1), calls("c1", '{"quay": 2, "day": 1}'), tool("c1")),
            openai(user(Q1), calls("c1", '{"quay":2,"day":1}'), tool("c1"), said(A1), user(Q2)),
        ],
        "/messages/2/tool_calls/0/function/arguments",
        8,
    ),
    (
        "tool-args-reserialised",
        "escapes and 2.0",
        [
            responses(input_text(Q1), function_call("call_1", '{"to": "Ösa", "n": 2.0}'), function_output("call_1")),
            responses(
                input_text(Q1),
                function_call("call_1", '{"to": "\\u00d6sa", "n": 2}'),
                function_output("call_1"),
                answer_text(A1),
                input_text(Q2),
            ),
        ],
        "/input/1/arguments",
        8,
    ),
    (
        "tool-args-reserialised",
        "an object with other key order",
        [
            anthropic(user(Q1), use("toolu_1", {"quay": 2, "day": 1}), used("toolu_1")),
            anthropic(user(Q1), use("toolu_1", {"day": 1, "quay": 2}), used("toolu_1"), said(A1), user(Q2)),
        ],
        "/messages/1/content/0/input",
        None,
    ),
    (
        "tool-args-reserialised",
        "an object with other key order, for Gemini",
        [
            gemini(
                part("user", {"text": Q1}),
                part("model", {"functionCall": {"name": "departures", "args": {"quay": 2, "day": 1}}}),
                part("user", {"functionResponse": {"name": "departures", "response": {"said": LONG}}}),
            ),
            gemini(
                part("user", {"text": Q1}),
                part("model", {"functionCall": {"name": "departures", "args": {"day": 1, "quay": 2}}}),
                part("user", {"functionResponse": {"name": "departures", "response": {"said": LONG}}}),
                part("model", {"text": A1}),
                part("user", {"text": Q2}),
            ),
        ],
        "/contents/1/parts/0/functionCall",
        None,
    ),
    (
        "image-reencoded",
        "replaced by words",
        [
            anthropic(user([*text(SEEN), picture(png(10))])),
            anthropic(user(text(SEEN, "[image kept at cache/1.png]")), said(A1), user(Q2)),
        ],
        "/messages/0/content/1",
        None,
    ),
    (
        "image-reencoded",
        "gone",
        [anthropic(user([*text(SEEN), picture(png(10))])), anthropic(user(text(SEEN)), said(A1), user(Q2))],
        "/messages/0/content/1",
        None,
    ),
    (
        "image-reencoded",
        "other pixels",
        [
            openai(user([*text(SEEN), linked(f"data:image/png;base64,{png(10)}")])),
            openai(user([*text(SEEN), linked(f"data:image/png;base64,{png(11)}")]), said(A1), user(Q2)),
        ],
        "/messages/1/content/1",
        None,
    ),
    (
        "image-reencoded",
        "resized",
        [
            gemini(part("user", {"text": SEEN}, {"inlineData": {"mimeType": "image/png", "data": png(10, width=16)}})),
            gemini(
                part("user", {"text": SEEN}, {"inlineData": {"mimeType": "image/png", "data": png(10, width=8)}}),
                part("model", {"text": A1}),
                part("user", {"text": Q2}),
            ),
        ],
        "/contents/0/parts/1",
        None,
    ),
    (
        "image-reencoded",
        "moved to the newest message",
        [
            anthropic(user([*text(SEEN), picture(png(10))])),
            anthropic(user(text(SEEN)), said(A1), user([*text(Q2), picture(png(10))])),
        ],
        "/messages/0/content/1",
        None,
    ),
    (
        "image-reencoded",
        "bytes, then an address",
        [
            openai(user([*text(SEEN), linked(f"data:image/png;base64,{png(10)}")])),
            openai(user([*text(SEEN), linked("https://pictures.test/1.png")]), said(A1), user(Q2)),
        ],
        "/messages/1/content/1",
        None,
    ),
    (
        "image-reencoded",
        "in a tool's result",
        [
            anthropic(user(Q1), use("toolu_1"), used("toolu_1", [*text("The sign:"), picture(png(10))])),
            anthropic(user(Q1), use("toolu_1"), used("toolu_1", text("The sign:", "[gone]")), said(A1), user(Q2)),
        ],
        "/messages/2/content/0",
        None,
    ),
    (
        "content-shape-flip",
        "a list, then a string, at a relay",
        [
            openai(user(text(Q1)), model="anthropic/claude-sonnet-4.5"),
            openai(user(Q1), said(A1), user(text(Q2)), model="anthropic/claude-sonnet-4.5"),
        ],
        "/messages/1/content",
        None,
    ),
    (
        "content-shape-flip",
        "a string, then a list, at an unknown gateway",
        [openai(user(Q1), model="glm-4.7"), openai(user(text(Q1)), said(A1), user(Q2), model="glm-4.7")],
        "/messages/1/content",
        None,
    ),
]


def occurrence(finding: Finding) -> tuple[str | None, int | None]:
    first = finding.occurrences[0]
    return first.field, first.char_offset


@pytest.mark.parametrize(("rule", "case", "bodies", "field", "offset"), FOUND, ids=[f"{c[0]}: {c[1]}" for c in FOUND])
def test_found(rule: str, case: str, bodies: list[Json], field: str, offset: int | None, tmp_path: Path) -> None:
    linted = lint_records(tmp_path, bodies)
    assert linted.values.inputs[0].broken == 0
    assert found(linted) == [rule]
    finding = finding_of(linted, rule)
    assert pairs_of(finding) == [(0, 1)]
    place, start = occurrence(finding)
    assert place is not None
    assert place == field or place.startswith(f"{field}/") or (field.startswith(f"{place}/") and place.count("/") > 1)
    assert start is None or offset is None or start == offset
    assert finding.message
    assert not finding.message.endswith("..")


SILENT: dict[str, list[Json]] = {
    "a reminder that stays": [
        openai(user(f"{REMINDER}\n{Q1}")),
        openai(user(f"{REMINDER}\n{Q1}"), said(A1), user(f"{REMINDER}\n{Q2}")),
    ],
    "a reminder only in the newest message of a single call": [openai(user(Q1)), openai(user(f"{REMINDER}\n{Q2}"))],
    "a wrapper that stays": [
        openai(user(f"<question>{Q1}</question>")),
        openai(user(f"<question>{Q1}</question>"), said(A1), user(f"<question>{Q2}</question>")),
    ],
    "a window that is not full yet": [openai(user(Q1)), openai(user(Q1), said(A1), user(Q2))],
    "an edited question": [openai(user(Q1), said(A1), user(Q2)), openai(user(Q1), said(A1), user(Q3))],
    "an edited question, with what follows": [
        openai(user(Q1), said(A1), user(Q2)),
        openai(user(Q1), said(A1), user(Q3), said(A3), user("Where do I pay?")),
    ],
    "an answer written anew": [
        openai(user(Q1), said(A1), user(Q2)),
        openai(user(Q1), said("On Sundays the first one leaves at ten past seven."), user(Q3)),
    ],
    "back to an earlier point": [openai(user(Q1), said(A1), user(Q2), said(A2), user(Q3)), openai(user(Q1))],
    "back to an earlier point, and cut": [
        openai(user(Q1), said(A1), user(Q2), said(A2), user(Q3)),
        openai(user(Q2)),
    ],
    "a retry": [openai(user(Q1), said(A1), user(Q2)), openai(user(Q1), said(A1), user(Q2))],
    "clocks in results that stay": [
        openai(user(Q1), calls("c1"), tool("c1", f"run at 13:01\n{LONG}")),
        openai(
            user(Q1), calls("c1"), tool("c1", f"run at 13:01\n{LONG}"), calls("c2"), tool("c2", f"run at 13:02\n{LONG}")
        ),
    ],
    "thoughts that stay": [
        anthropic(user(Q1), use("toolu_1", None, THOUGHT), used("toolu_1")),
        anthropic(user(Q1), use("toolu_1", None, THOUGHT), used("toolu_1"), said(A1), user(Q2)),
    ],
    "a list for the marker on the maker's own API": [
        anthropic(user([{**text(Q1)[0], "cache_control": {"type": "ephemeral"}}])),
        anthropic(user(Q1), said(A1), user([{**text(Q2)[0], "cache_control": {"type": "ephemeral"}}])),
    ],
    "a list, then a string, at OpenAI": [openai(user(text(Q1))), openai(user(Q1), said(A1), user(text(Q2)))],
    "a list, then a string, on an engine": [
        openai(user(text(Q1)), model="Qwen/Qwen3-8B"),
        openai(user(Q1), said(A1), user(text(Q2)), model="Qwen/Qwen3-8B"),
    ],
    "a signed address": [
        openai(user([*text(SEEN), linked("https://pictures.test/1.png?sig=aaaa&exp=1")])),
        openai(user([*text(SEEN), linked("https://pictures.test/1.png?sig=bbbb&exp=2")]), said(A1), user(Q2)),
    ],
    "the same pixels, packed otherwise": [
        anthropic(user([*text(SEEN), picture(png(10))])),
        anthropic(user([*text(SEEN), picture(png(10, level=1, note=b"made by hand"))]), said(A1), user(Q2)),
    ],
    "the same pixels, filtered otherwise": [
        anthropic(user([*text(SEEN), picture(png(10))])),
        anthropic(user([*text(SEEN), picture(png(10, kind=1))]), said(A1), user(Q2)),
    ],
    "the same image": [
        anthropic(user([*text(SEEN), picture(png(10))])),
        anthropic(user([*text(SEEN), picture(png(10))]), said(A1), user(Q2)),
    ],
    "the same bytes as a data address": [
        openai(user([*text(SEEN), linked(f"data:image/png;base64,{png(10)}")])),
        openai(user([*text(SEEN), linked(f"data:image/png;base64,{png(10)}")]), said(A1), user(Q2)),
    ],
}


@pytest.mark.parametrize("case", SILENT)
def test_silent(case: str, tmp_path: Path) -> None:
    linted = lint_records(tmp_path, SILENT[case])
    assert linted.values.inputs[0].broken == 0
    assert found(linted) == []


def test_hits_silence_a_flip_of_shapes(tmp_path: Path) -> None:
    def record(body: Json, cached: int) -> Json:
        usage = {"prompt_tokens": 4000 + cached // 10, "completion_tokens": 9}
        return {"request": body, "response": {"usage": {**usage, "prompt_tokens_details": {"cached_tokens": cached}}}}

    model = "anthropic/claude-sonnet-4.5"
    first = openai(user(text(Q1 + LONG * 8)), model=model)
    second = openai(user(Q1 + LONG * 8), said(A1), user(text(Q2)), model=model)
    assert found(lint_records(tmp_path, [record(first, 0), record(second, 4000)])) == []
    missed = lint_records(tmp_path, [record(first, 0), record(second, 0)])
    assert found(missed) == ["content-shape-flip"]
    assert "usage shows that the history was not served" in finding_of(missed, "content-shape-flip").evidence


def test_ids_and_arguments_that_change_together_are_one_finding(tmp_path: Path) -> None:
    bodies = [
        openai(user(Q1), calls("call_a", '{"quay": 2, "day": 1}'), tool("call_a")),
        openai(user(Q1), calls("call_b", '{"day":1,"quay":2}'), tool("call_b"), said(A1), user(Q2)),
    ]
    linted = lint_records(tmp_path, bodies)
    assert found(linted) == ["tool-call-id-regenerated"]
    assert finding_of(linted, "tool-call-id-regenerated").also_rules == ("tool-args-reserialised",)


def test_several_results_are_one_finding_at_the_first(tmp_path: Path) -> None:
    before = openai(user(Q1), calls("c1"), tool("c1"), calls("c2"), tool("c2", LONG[::-1]))
    after = openai(user(Q1), calls("c1"), tool("c1", "[cut]"), calls("c2"), tool("c2", "[cut]"), said(A1), user(Q2))
    finding = finding_of(lint_records(tmp_path, [before, after]), "tool-result-pruned")
    assert occurrence(finding)[0] == "/messages/3/content"
    assert finding.evidence == ("2 results were cut in this request",)


def test_cutting_after_the_cache_has_gone_costs_nothing(tmp_path: Path) -> None:
    records = [
        {"ts": "2026-03-02T08:00:00Z", "request": anthropic(user(Q1), use("toolu_1"), used("toolu_1"))},
        {
            "ts": "2026-03-02T08:20:00Z",
            "request": anthropic(user(Q1), use("toolu_1"), used("toolu_1", "[cut]"), said(A1), user(Q2)),
        },
    ]
    assert finding_of(lint_records(tmp_path, records), "tool-result-pruned").severity is Severity.INFO


def test_a_model_that_drops_old_thoughts_itself_is_no_great_loss(tmp_path: Path) -> None:
    def severity(model: str) -> Severity:
        bodies = [
            anthropic(user(Q1), use("toolu_1", None, THOUGHT), used("toolu_1"), model=model),
            anthropic(user(Q1), use("toolu_1"), used("toolu_1"), said(A1), user(Q2), model=model),
        ]
        return finding_of(lint_records(tmp_path, bodies), "reasoning-stripped").severity

    assert severity("claude-3-7-sonnet-20250219") is Severity.LOW
    assert severity("claude-sonnet-4-20250514") is Severity.LOW
    assert severity("claude-opus-4-5-20251101") is Severity.MEDIUM
    assert severity("claude-sonnet-4-6") is Severity.MEDIUM


def chat(turns: int, keep: int, drop: int) -> list[Json]:
    """Return a chat that is cut by `drop` messages each time that more than `keep` are there."""
    history: list[Json] = []
    bodies = []
    for turn in range(turns):
        history.append(user(f"Question number {turn}: when does ferry {turn * 7} leave from quay {turn}?"))
        while len(history) > keep:
            del history[:drop]
        bodies.append(openai(*history))
        history.append(said(f"Answer number {turn}: at {turn % 24:02}:10, as on every day of the week."))
    return bodies


@pytest.mark.parametrize(
    ("keep", "drop", "severity"), [(7, 2, Severity.HIGH), (9, 6, Severity.LOW), (21, 16, Severity.INFO)]
)
def test_a_window_that_moves_on_a_grid_is_no_fault(keep: int, drop: int, severity: Severity, tmp_path: Path) -> None:
    linted = lint_records(tmp_path, chat(30, keep, drop))
    assert finding_of(linted, "history-window-slides").severity is severity
    assert len(linted.values.findings) == 1


@pytest.mark.parametrize(("every", "level"), [(4, Level.WARNING), (15, Level.INFO)])
def test_compaction_counts_when_it_is_frequent(every: int, level: Level, tmp_path: Path) -> None:
    history: list[Json] = []
    records = []
    for turn in range(40):
        history.append(user(f"Question number {turn}: when does ferry {turn * 7} leave from quay {turn}?"))
        records.append({"session": "s1", "request": openai(*history)})
        history.append(said(f"Answer number {turn}: at {turn % 24:02}:10, as on every day of the week."))
        if turn % every == every - 1:
            history = [
                user(f"Summary of the conversation so far: {turn} questions on ferries were answered."),
                said("Yes."),
            ]
    linted = lint_records(tmp_path, records)
    assert [finding.rule for finding in linted.values.findings] == ["compaction"]
    finding = linted.values.findings[0]
    assert finding.level is level
    assert len(finding.occurrences) == 40 // every - (40 % every == 0)
    verdicts = [pair.verdict for pair in linted.values.pairs if pair.verdict == "compaction"]
    assert len(verdicts) == len(finding.occurrences)


def test_a_history_that_keeps_its_end_is_compacted_too(tmp_path: Path) -> None:
    summary = user("Earlier messages, summed up: ferries 1 to 9 and their quays.")
    before = [
        message for turn in range(5) for message in (user(f"Where does ferry {turn} land?"), said(f"At quay {turn}."))
    ]
    bodies = [openai(*before, user(Q1)), openai(summary, *before[-2:], user(Q1), said(A1), user(Q2))]
    linted = lint_records(tmp_path, bodies)
    assert [finding.rule for finding in linted.values.findings] == ["compaction"]
    assert found(linted) == []


def test_a_system_prompt_rewritten_inside_a_conversation(tmp_path: Path) -> None:
    def body(system: str, *messages: Json) -> Json:
        return {"model": "gpt-4.1", "messages": [{"role": "system", "content": system}, *messages]}

    calm = "You are patient and explain every step of the way to the quay in full sentences."
    curt = "Stay below ten words whatever the traveller wants, and skip the greeting altogether."
    bodies = [body(calm, user(Q1)), body(curt, user(Q1), said(A1), user(Q2))]
    linted = lint_records(tmp_path, bodies)
    rules = {finding.rule: finding.where for finding in linted.values.findings}
    assert rules.get("history-rewritten", "system") == "system"
    assert found(linted)


def test_helper_requests(tmp_path: Path) -> None:
    questions = [f"When does the ferry number {n} leave for island number {n}?" for n in range(5)]
    answers = [f"Number {n}: {LONG}" for n in range(5)]
    history: list[Json] = []
    bodies = []
    for question, answer in zip(questions, answers, strict=True):
        history.append(user(question))
        bodies.append(openai(*history))
        history.append(said(answer))
    recital = "\n".join(f"{message['role']}: {message['content']}" for message in history)

    def helper(content: str) -> Json:
        system = {"role": "system", "content": "Sum up what was said, in six lines, for whoever is on duty next."}
        return {"model": "gpt-4.1", "messages": [system, user(content)]}

    linted = lint_records(tmp_path, [*bodies, helper(recital)])
    assert found(linted) == ["aux-request-different-prefix"]
    finding = finding_of(linted, "aux-request-different-prefix")
    assert (pairs_of(finding), finding.field) == ([(4, 5)], "/messages/1/content")
    as_json = lint_records(tmp_path, [*bodies, helper(json.dumps(history, ensure_ascii=False))])
    assert found(as_json) == ["aux-request-different-prefix"]
    title = lint_records(tmp_path, [*bodies, helper(f"user: {questions[0]}")])
    assert found(title) == []
    stranger = lint_records(tmp_path, [*bodies, helper("\n".join(f"Line {n} of a report on {LONG}" for n in range(9)))])
    assert found(stranger) == []


def test_start_tokens(tmp_path: Path) -> None:
    def prompt(count: int, *turns: str) -> Json:
        shown = "".join(f"<|start_header_id|>user<|end_header_id|>\n\n{turn}<|eot_id|>" for turn in turns)
        opening = "<|start_header_id|>assistant<|end_header_id|>\n\n"
        return {"model": "llama-3-8b", "prompt": "<|begin_of_text|>" * count + shown + opening}

    mixed = lint_records(tmp_path, [prompt(1, Q1), prompt(2, Q1, Q2), prompt(2, Q1, Q2, Q3)])
    assert found(mixed) == ["double-bos"]
    assert pairs_of(finding_of(mixed, "double-bos")) == [(0, 1)]
    always = lint_records(tmp_path, [prompt(2, Q1), prompt(2, Q1, Q2)])
    assert [finding.severity for finding in always.values.findings] == [Severity.INFO]
    ids = [
        {"model": "m", "prompt_token_ids": [1, *range(9, 40)]},
        {"model": "m", "prompt_token_ids": [1, 1, *range(9, 50)]},
    ]
    assert found(lint_records(tmp_path, ids)) == ["double-bos"]


def test_answers_by_ids(tmp_path: Path) -> None:
    prompt, answer = list(range(100, 130)), [201, 202, 203, *range(31, 45), 2]

    def records(sent: list[int]) -> list[Json]:
        body = {"model": "m", "prompt_token_ids": prompt}
        later = {"model": "m", "prompt_token_ids": [*prompt, *sent, 51, 52, 53]}
        return [{"request": body, "response": {"choices": [{"text": "x", "token_ids": answer}]}}, {"request": later}]

    drifted = lint_records(tmp_path, records([250, 251, *answer[3:]]))
    assert found(drifted) == ["retokenisation-drift"]
    assert finding_of(drifted, "retokenisation-drift").severity is Severity.LOW
    assert found(lint_records(tmp_path, records(answer))) == []
    assert found(lint_records(tmp_path, records(answer[:5]))) == []  # cut
    assert found(lint_records(tmp_path, records(list(range(900, 920))))) == []  # replaced


CLEARS_THOUGHTS = (
    "{% set last = namespace(at=0) %}{% for m in messages %}{% if m.role == 'user' %}{% set last.at = loop.index0 %}"
    "{% endif %}{% endfor %}{% for m in messages %}<|im_start|>{{ m.role }}\n"
    "{% if m.reasoning_content and loop.index0 > last.at %}<think>{{ m.reasoning_content }}</think>\n{% endif %}"
    "{{ m.content }}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
KEEPS_THOUGHTS = CLEARS_THOUGHTS.replace(" and loop.index0 > last.at", "")


@pytest.mark.parametrize(
    ("template", "rules"), [(CLEARS_THOUGHTS, ["template-history-dependent"]), (KEEPS_THOUGHTS, [])]
)
def test_a_template_of_ones_own(template: str, rules: list[str], tmp_path: Path) -> None:
    made = tokenizers.Tokenizer(tokenizers.models.BPE({chr(at): at for at in range(1, 256)}, []))
    made.add_special_tokens(["<|im_start|>", "<|im_end|>"])
    made.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"chat_template": template}))
    thought = said("One moment.", reasoning_content="The table has it, on the second page, in the third line.")
    history = [user(Q1), thought, tool("c1", "07:10, 08:40")]
    bodies = [{"model": "mine", "messages": history}, {"model": "mine", "messages": [*history, said(A1), user(Q2)]}]
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(body) + "\n" for body in bodies), encoding="utf-8")
    corpus = read_corpus([str(path)], index=CorpusIndex(chooser([str(tmp_path)], []), Outlines()))
    linted = lint_log(
        corpus,
        partial(requests_again, [str(path)], corpus.rows, ReadOptions()),
        lint_rules.names(),
    )
    assert found(linted) == rules
