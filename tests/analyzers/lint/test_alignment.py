"""Where messages stand in a later request, and what they are made of."""

from __future__ import annotations

import io
import json
from array import array
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefixwise.analyzers.lint.alignment import Alignment
from prefixwise.analyzers.lint.alike import alike_letters, alike_texts
from prefixwise.analyzers.lint.blocks import Block, BlockKind, blocks_of
from prefixwise.analyzers.lint.documents import Document, Entry, TurnReader
from prefixwise.core.request import Request
from prefixwise.corpus.items import turn_of
from prefixwise.corpus.outlines import content_of
from prefixwise.corpus.reader import ReadOptions
from prefixwise.corpus.single import read_requests

Json = dict[str, Any]


def entry(api: str, item: Json) -> Entry:
    raw = json.dumps(item).encode()
    return Entry("messages", "/messages/0", raw, turn_of(api, "messages", raw))


def shown(blocks: Sequence[Block]) -> list[tuple[str, str, str, str, str]]:
    return [(block.kind, block.pointer, block.id.text if block.id else "", block.name, block.place) for block in blocks]


PICTURE = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}

MADE_OF: list[tuple[str, Json, list[tuple[str, str, str, str, str]]]] = [
    ("openai-chat", {"role": "user", "content": "Hi"}, [("text", "/content", "", "", "/content")]),
    (
        "openai-chat",
        {
            "role": "user",
            "content": [{"type": "text", "text": "Hi"}, {"type": "image_url", "image_url": {"url": "x://y"}}],
        },
        [("text", "/content/0", "", "", "/content/0/text"), ("media", "/content/1", "", "", "/content/1")],
    ),
    (
        "openai-chat",
        {
            "role": "assistant",
            "content": "I look.",
            "reasoning_content": "Hm.",
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{}"}}],
        },
        [
            ("text", "/content", "", "", "/content"),
            ("thought", "/reasoning_content", "", "", "/reasoning_content"),
            ("call", "/tool_calls/0", "c1", "find", "/tool_calls/0/function/name"),
        ],
    ),
    (
        "openai-chat",
        {"role": "tool", "tool_call_id": "c1", "content": "07:10"},
        [("result", "", "c1", "", "/content")],
    ),
    (
        "openai-chat",
        {"role": "assistant", "content": None, "function_call": {"name": "find", "arguments": "{}"}},
        [("call", "/function_call", "", "find", "/function_call/name")],
    ),
    (
        "anthropic-messages",
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
                {"type": "redacted_thinking", "data": "eHg="},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "t1", "name": "find", "input": {"day": 1}},
            ],
        },
        [
            ("thought", "/content/0", "", "", "/content/0/thinking"),
            ("thought", "/content/1", "", "", "/content/1/data"),
            ("text", "/content/2", "", "", "/content/2/text"),
            ("call", "/content/3", "t1", "find", "/content/3/name"),
        ],
    ),
    (
        "anthropic-messages",
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "t1",
                    "content": [{"type": "text", "text": "07:10"}, {"type": "image", "source": PICTURE}],
                },
                {"type": "text", "text": "Go on."},
            ],
        },
        [
            ("result", "/content/0", "t1", "", "/content/0/content/0/text"),
            ("text", "/content/1", "", "", "/content/1/text"),
        ],
    ),
    (
        "openai-responses",
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}], "encrypted_content": "eHg="},
        [("thought", "", "", "", "/encrypted_content")],
    ),
    (
        "openai-responses",
        {"type": "function_call", "call_id": "c1", "name": "find", "arguments": "{}"},
        [("call", "", "c1", "find", "/name")],
    ),
    (
        "openai-responses",
        {"type": "function_call_output", "call_id": "c1", "output": "07:10"},
        [("result", "", "c1", "", "/output")],
    ),
    (
        "gemini",
        {
            "role": "model",
            "parts": [{"text": "Hm.", "thought": True}, {"functionCall": {"name": "find", "args": {"day": 1}}}],
        },
        [
            ("thought", "/parts/0", "", "", "/parts/0/text"),
            ("call", "/parts/1", "", "find", "/parts/1/functionCall"),
        ],
    ),
    (
        "gemini",
        {"role": "user", "parts": [{"functionResponse": {"name": "find", "response": {"said": "07:10"}}}]},
        [("result", "/parts/0", "", "find", "/parts/0/functionResponse")],
    ),
    (
        "bedrock-converse",
        {
            "role": "assistant",
            "content": [
                {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "c2ln"}}},
                {"toolUse": {"toolUseId": "t1", "name": "find", "input": {"day": 1}}},
            ],
        },
        [
            ("thought", "/content/0", "", "", "/content/0/reasoningContent/text"),
            ("call", "/content/1/toolUse", "t1", "find", "/content/1/toolUse/name"),
        ],
    ),
    (
        "bedrock-converse",
        {"role": "user", "content": [{"toolResult": {"toolUseId": "t1", "content": [{"text": "07:10"}]}}]},
        [("result", "/content/0/toolResult", "t1", "", "/content/0/toolResult/content/0/text")],
    ),
    (
        "vercel-ai",
        {
            "role": "assistant",
            "content": [
                {"type": "reasoning", "text": "Hm."},
                {"type": "tool-call", "toolCallId": "t1", "toolName": "find", "args": {"day": 1}},
            ],
        },
        [
            ("thought", "/content/0", "", "", "/content/0/text"),
            ("call", "/content/1", "t1", "find", "/content/1/toolName"),
        ],
    ),
]


@pytest.mark.parametrize(
    ("api", "item", "expected"), MADE_OF, ids=[f"{case[0]}-{at}" for at, case in enumerate(MADE_OF)]
)
def test_blocks(api: str, item: Json, expected: list[tuple[str, str, str, str, str]]) -> None:
    assert shown(blocks_of(entry(api, item))) == expected


def test_a_result_holds_its_media() -> None:
    blocks = blocks_of(entry(*MADE_OF[6][:2]))
    assert [len(block.media) for block in blocks] == [1, 0]
    assert blocks[0].text == "07:10"


def messages(*items: tuple[str, str]) -> list[Json]:
    return [{"role": role, "content": text} for role, text in items]


def request_of(items: Sequence[Json]) -> Request:
    body = json.dumps({"model": "gpt-4o", "messages": [{"role": "system", "content": "Be brief."}, *items]})
    return read_requests("-", ReadOptions(), io.BufferedReader(io.BytesIO(body.encode())))[0][0]


def aligned(before: Sequence[Json], after: Sequence[Json]) -> Alignment:
    reader = TurnReader()
    documents = [Document(row, request_of(items), reader) for row, items in enumerate((before, after))]
    contents = [array("q", [content_of(e.turn) for e in document.entries(1)]) for document in documents]
    start = next((at for at, (a, b) in enumerate(zip(*contents, strict=False)) if a != b), min(map(len, contents)))
    return Alignment(documents[0], documents[1], contents[0], contents[1], 1, start)


ASKED, SAID = ("user", "When does the first ferry leave?"), ("assistant", "At 07:10 from quay 1.")
AGAIN, MORE = ("user", "Does it take bicycles?"), ("assistant", "Twelve of them, at the bow.")
LAST = ("user", "And how about dogs?")


def test_what_slides_is_dropped_and_the_rest_kept() -> None:
    found = aligned(messages(ASKED, SAID, AGAIN), messages(AGAIN, MORE, LAST))
    assert (found.start, found.dropped, found.partner, found.kept) == (0, (0, 1), {2: 0}, (2,))
    assert found.tail == (2, 0)
    assert found.inserted == ()


def test_a_summary_stands_in_front_of_the_tail() -> None:
    summary = ("user", "Summary: ferries and bicycles were asked for.")
    found = aligned(messages(ASKED, SAID, AGAIN, MORE, LAST), messages(summary, MORE, LAST))
    assert (found.tail, found.dropped, found.inserted) == ((3, 1), (0, 1, 2), (0,))


def test_a_wrapped_message_is_the_same_one() -> None:
    wrapped = ("user", f"<passages>quay 1</passages>\n<question>{ASKED[1]}</question>")
    found = aligned(messages(wrapped), messages(ASKED, SAID, AGAIN))
    assert found.partner == {0: 0}
    assert found.kept == ()


def test_another_message_between_kept_ones_takes_its_place() -> None:
    other = ("assistant", "Ten past seven it is.")
    found = aligned(messages(ASKED, SAID, AGAIN), messages(ASKED, other, AGAIN, MORE, LAST))
    assert found.partner == {1: 1, 2: 2}


def test_an_edit_leaves_nothing() -> None:
    found = aligned(messages(ASKED, SAID, AGAIN), messages(ASKED, SAID, LAST, MORE, ("user", "Where do I pay?")))
    assert (found.start, found.partner, found.dropped) == (2, {}, (2,))


@settings(max_examples=150, deadline=None)
@given(st.lists(st.integers(0, 9), max_size=9), st.lists(st.integers(0, 9), max_size=9))
def test_steps_go_through_both_histories_in_order(before: list[int], after: list[int]) -> None:
    found = aligned(*(messages(*(("user", f"Sentence number {n}") for n in numbers)) for numbers in (before, after)))
    lefts = [step.left for step in found.steps if step.left is not None]
    rights = [step.right for step in found.steps if step.right is not None]
    assert lefts == list(range(found.start, len(before)))
    assert rights == list(range(found.start, len(after)))
    assert all(before[left] == after[found.partner[left]] for left in found.kept)
    assert {*found.partner, *found.dropped} == set(lefts)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("When does it leave?", "<q>When does it leave?</q>", True),
        ("When  does it\nleave?", "When does it leave?", True),
        ("[just now] When does the first one leave?", "[2 minutes ago] When does the first one leave?", True),
        ("Ferry från Kårevik", "Ferry från Kårevik", True),
        ("when dos it leav", "When does it leave?", True),
        ("When does it leave?", "How many bicycles fit on board?", False),
        ("", "When?", False),
        ("", "", True),
    ],
)
def test_texts_that_are_one(one: str, other: str, expected: bool) -> None:
    assert alike_texts(one, other) is expected
    assert alike_texts(other, one) is expected


def test_long_texts_are_not_compared_by_letters() -> None:
    assert not alike_letters("a" * 300, "a" * 300)


def test_kinds_are_words() -> None:
    assert [kind.value for kind in BlockKind] == ["text", "thought", "call", "result", "media", "other"]
