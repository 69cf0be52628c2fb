"""What each API's body says, in its provider's cache order."""

from __future__ import annotations

import base64
import json
import struct
from pathlib import Path
from typing import Any

import pytest
from support.bodies import ANTHROPIC, BODIES, CHAT, COMPLETION, EXPECTED, GEMINI, RESPONSES, TOKEN_IDS
from support.reading import corpus_of, pointers, read_one, said, turns

from prefixwise.core.namespace import Namespace
from prefixwise.core.pointer import parse_pointer, resolve


@pytest.mark.parametrize("api", BODIES)
def test_a_body_is_read_in_cache_order_whatever_order_its_keys_have(tmp_path: Path, api: str) -> None:
    body = BODIES[api]
    for keys in (list(body), list(reversed(body)), sorted(body)):
        request = read_one(tmp_path, {key: body[key] for key in keys})
        assert request.api == api
        assert said(request) == EXPECTED[api]


@pytest.mark.parametrize("api", BODIES)
def test_pointers_lead_to_the_values_in_the_body(tmp_path: Path, api: str) -> None:
    """Resolved by core's own walker; what is found must hold the part's text."""
    body = BODIES[api]
    request = read_one(tmp_path, body)
    texts = [text for _, _, parts in said(request) for text in parts]
    for pointer, text in zip(pointers(request), texts, strict=True):
        (value,) = resolve(body, parse_pointer(pointer))
        if isinstance(value, str):
            assert text == value
        else:
            plain = {key: item for key, item in value.items() if key != "cache_control"}
            assert json.loads(text) == plain


def test_token_ids_are_handed_on_as_they_are(tmp_path: Path) -> None:
    for body in (TOKEN_IDS, {"model": "m", "prompt": [5, 6, 7]}, {"model": "m", "token_ids": [5, 6, 7]}, [5, 6, 7]):
        assert said(read_one(tmp_path, body)) == [("tokens", None, ["[5, 6, 7]"])]


@pytest.mark.parametrize("ids", [[-1], [2**31], [2**40], [1, -5]])
def test_impossible_token_ids_are_a_broken_record_of_the_corpus(tmp_path: Path, ids: list[int]) -> None:
    data = f'{{"prompt": [1]}}\n{json.dumps({"prompt": ids})}\n'.encode()
    corpus = corpus_of(data)
    assert len(corpus.rows) == 1
    assert corpus.inputs[0].broken == 1


def test_what_a_body_says_around_its_prompt(tmp_path: Path) -> None:
    chat = read_one(tmp_path, CHAT)
    assert chat.model == "gpt-4o"
    assert chat.namespace == Namespace(salt="salt", cache_key="key")
    assert chat.tenant == "ann-co"
    assert dict(chat.params) == {"reasoning_effort": b'"low"'}
    assert read_one(tmp_path, RESPONSES).session == "conv_1"
    assert read_one(tmp_path, ANTHROPIC).tenant == "ann"
    assert read_one(tmp_path, GEMINI).tenant == "ann-co"
    assert read_one(tmp_path, COMPLETION).namespace == Namespace(salt="s")


def test_an_absent_salt_is_not_an_empty_one(tmp_path: Path) -> None:
    assert (
        read_one(tmp_path, {"prompt": "x"}).namespace != read_one(tmp_path, {"prompt": "x", "cache_salt": ""}).namespace
    )


def test_markers_stand_behind_what_they_end(tmp_path: Path) -> None:
    request = read_one(tmp_path, ANTHROPIC)
    marked = [
        (shown, part.marker)
        for _, turn in turns(request)
        for part in turn.parts
        if (shown := part.text) and part.marker
    ]
    assert marked == [('{"name":"find","input_schema":{"b":1,"a":2}}', 300.0), ("Be kind.", 3600.0), ("go on", 300.0)]
    rows = corpus_of(ANTHROPIC).rows
    depths = [depth for depth, _ in rows.markers[0]]
    assert [ttl for _, ttl in rows.markers[0]] == [300.0, 3600.0, 300.0]
    assert depths[0] == rows.tools_end[0]  # the end of the tool itself: tools have no framing
    assert depths[1] == rows.system_end[0] - 1  # the end of a turn is framing behind the text
    reply = 3  # start, role, message
    assert depths[2] == rows.prompt_tokens[0] - reply - 1


def test_a_marker_that_moves_changes_no_token(tmp_path: Path) -> None:
    plain = json.loads(json.dumps(ANTHROPIC))
    for item in (*plain["tools"], *plain["system"], plain["messages"][2]["content"][1]):
        item.pop("cache_control", None)
    data = f"{json.dumps(ANTHROPIC)}\n{json.dumps(plain)}\n".encode()
    rows = corpus_of(data).rows
    assert rows.node[0] == rows.node[1]
    assert list(rows.markers) == [0]


def test_markers_of_other_providers_are_seen(tmp_path: Path) -> None:
    part = {"type": "text", "text": "a", "prompt_cache_breakpoint": {"mode": "explicit", "ttl": "30m"}}
    request = read_one(tmp_path, {"model": "gpt-5.6", "messages": [{"role": "user", "content": [part]}]})
    assert [part.marker for _, turn in turns(request) for part in turn.parts] == [1800.0]


def png(width: int, height: int) -> str:
    header = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + b"IHDR" + struct.pack(">II", width, height)
    return base64.b64encode(header + b"\x08\x02\0\0\0" + b"x" * 20).decode()


@pytest.mark.parametrize(
    ("api", "width", "height", "tokens"),
    [
        ("openai-chat", 512, 512, 85 + 170),
        ("openai-chat", 1024, 1024, 85 + 4 * 170),  # short side to 768: 2 x 2 tiles
        ("openai-chat", 2048, 4096, 85 + 6 * 170),  # into 2048: 1024 x 2048, short side to 768: 768 x 1536, 2 x 3
        ("anthropic-messages", 1000, 750, 1000),
        ("anthropic-messages", 4000, 4000, 1600),
        ("gemini", 384, 300, 258),
        ("gemini", 1536, 768, 516),
    ],
)
def test_an_image_takes_the_tokens_of_its_providers_formula(
    tmp_path: Path, api: str, width: int, height: int, tokens: int
) -> None:
    data = png(width, height)
    bodies = {
        "openai-chat": {"messages": [{"role": "user", "content": [
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}]}]},
        "anthropic-messages": {"model": "claude-opus-5", "messages": [{"role": "user", "content": [
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}]}]},
        "gemini": {"contents": [{"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": data}}]}]},
    }  # fmt: skip
    request = read_one(tmp_path, bodies[api])
    ((_, turn),) = turns(request)
    (part,) = turn.parts
    assert part.tokens == (tokens, tokens)
    rows = corpus_of(bodies[api]).rows
    framing = 4 + 3  # start role message … end, start assistant message
    assert rows.prompt_tokens[0] == framing + tokens
    assert not rows.bands


def test_the_same_image_is_the_same_tokens_and_another_is_not() -> None:
    def body(url: str) -> bytes:
        part = {"type": "image_url", "image_url": {"url": url}}
        return json.dumps({"messages": [{"role": "user", "content": [part]}]}).encode()

    urls = [
        f"data:image/png;base64,{png(64, 64)}",
        f"data:image/png;base64,{png(64, 64)}",
        f"data:image/png;base64,{png(64, 65)}",
    ]
    rows = corpus_of(b"\n".join(map(body, urls))).rows
    assert rows.node[0] == rows.node[1] != rows.node[2]


def test_media_of_unknown_size_is_a_band(tmp_path: Path) -> None:
    part = {"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}}
    data = json.dumps({"messages": [{"role": "user", "content": [part]}]}).encode()
    rows = corpus_of(data).rows
    low, high = rows.bands[0]
    counted = rows.prompt_tokens[0] - 7
    assert (counted - low, counted + high) == (85, 1445)


@pytest.mark.parametrize("api", ["openai-chat", "openai-responses", "anthropic-messages", "gemini"])
def test_an_answer_is_what_the_next_turn_carries_on(api: str) -> None:
    """The next request of a conversation holds the answer as the API logs it: everything up to it is shared."""
    said = "It is the harbour, seen from the north quay."
    if api == "openai-chat":
        first = {"model": "m", "messages": [{"role": "user", "content": "Where?"}]}
        answer = {"choices": [{"message": {"role": "assistant", "content": said}}]}
        turn: list[Any] = [{"role": "assistant", "content": said}, {"role": "user", "content": "When?"}]
        second = {**first, "messages": [*first["messages"], *turn]}
    elif api == "openai-responses":
        first = {"model": "m", "input": [{"role": "user", "content": "Where?"}]}
        item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": said}]}
        answer = {"output": [item]}
        second = {**first, "input": [*first["input"], item, {"role": "user", "content": "When?"}]}
    elif api == "anthropic-messages":
        first = {"model": "claude-opus-5", "messages": [{"role": "user", "content": "Where?"}]}
        answer = {"content": [{"type": "text", "text": said}]}
        turn = [{"role": "assistant", "content": answer["content"]}, {"role": "user", "content": "When?"}]
        second = {**first, "messages": [*first["messages"], *turn]}
    else:
        first = {"model": "gemini-3-pro", "contents": [{"role": "user", "parts": [{"text": "Where?"}]}]}
        content = {"role": "model", "parts": [{"text": said}]}
        answer = {"candidates": [{"content": content}]}
        second = {**first, "contents": [*first["contents"], content, {"role": "user", "parts": [{"text": "When?"}]}]}
    data = f"{json.dumps({'request': first, 'response': answer})}\n{json.dumps({'request': second})}\n".encode()
    from prefixwise.caches.sharing import sharing

    rows = corpus_of(data).rows
    assert rows.answer_tokens[0] > 0
    assert sharing(rows).shared[1] == rows.prompt_tokens[0] + rows.answer_tokens[0]
