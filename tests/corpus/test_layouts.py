"""The blocks of prompts: where they end, what they are, and that a conversation shares those of its earlier turns."""

from __future__ import annotations

from typing import Any

import pytest
from support.reading import corpus_of

from prefixwise.corpus.corpus import Corpus
from prefixwise.corpus.index import CorpusIndex
from prefixwise.corpus.layouts import Block, Layouts, Speaker

TOOL = {"name": "f", "description": "Says hello.", "input_schema": {"type": "object"}}
MARK = {"cache_control": {"type": "ephemeral"}}


def laid(*bodies: Any) -> Corpus:
    return corpus_of(*bodies, index=CorpusIndex(layouts=Layouts()))


def blocks_of(corpus: Corpus, row: int) -> list[tuple[int, str, str]]:
    """Return (tokens up to its end, kind, speaker) of every block of a row, in order."""
    layouts = corpus.rows.layouts
    assert layouts is not None
    found = []
    for layout in reversed(list(layouts.path(layouts.of_row[row]))):
        for block in range(layouts.first[layout], layouts.first[layout + 1]):
            kind, speaker = Block(layouts.kinds[block]).name, Speaker(layouts.speaker[layout]).name
            found.append((layouts.ends[block], kind, speaker))
    return found


def claude(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"model": "claude-opus-5", "system": "Be kind.", "max_tokens": 9, "messages": list(messages), **more}


def test_blocks_of_a_messages_body_are_told_apart() -> None:
    call = {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "ok"}]}
    body = claude(
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": [{"type": "text", "text": "I look."}, call, {**call, "id": "t2"}]},
        {"role": "user", "content": [result, {"type": "text", "text": "go on"}]},
        tools=[TOOL],
    )
    kinds = [(kind, speaker) for _, kind, speaker in blocks_of(laid(body), 0)]
    assert kinds == [
        *[("TOOL", "DEFINITION"), ("TEXT", "HEAD"), ("TEXT", "USER")],
        *[("TEXT", "MODEL"), ("CALL", "MODEL"), ("CALL", "MODEL"), ("RESULT", "USER"), ("TEXT", "USER")],
    ]


def test_a_marker_moves_no_block_and_stands_at_the_end_of_one() -> None:
    plain = claude({"role": "user", "content": "hello there"}, {"role": "assistant", "content": "hi"})
    marked = claude({"role": "user", "content": [{"type": "text", "text": "hello there", **MARK}]})
    corpus = laid(plain, marked)
    plain_ends, marked_ends = ([end for end, _, _ in blocks_of(corpus, row)] for row in (0, 1))
    assert plain_ends[:2] == marked_ends
    assert [depth for depth, _ in corpus.rows.markers[1]] == marked_ends[-1:]


def test_a_conversation_adds_only_what_is_new() -> None:
    first = claude({"role": "user", "content": "one"})
    second = claude(*first["messages"], {"role": "assistant", "content": "1"}, {"role": "user", "content": "two"})
    corpus = laid(first, second, second)
    layouts = corpus.rows.layouts
    assert layouts is not None
    assert blocks_of(corpus, 1)[:2] == blocks_of(corpus, 0)
    assert layouts.of_row[1] == layouts.of_row[2]
    assert len(layouts.ends) == 4


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_calls_and_results_of_openai_are_blocks_of_their_own(api: str) -> None:
    if api == "chat":
        calls = [{"id": n, "type": "function", "function": {"name": "f", "arguments": "{}"}} for n in "ab"]
        said = [{"role": "assistant", "content": None, "tool_calls": calls}]
        said += [{"role": "tool", "tool_call_id": n, "content": "ok"} for n in "ab"]
        body = {"model": "gpt-5.6", "messages": [{"role": "user", "content": "hi"}, *said]}
    else:
        items = [{"type": "function_call", "call_id": n, "name": "f", "arguments": "{}"} for n in "ab"]
        items += [{"type": "function_call_output", "call_id": n, "output": "ok"} for n in "ab"]
        body = {"model": "gpt-5.6", "input": [{"role": "user", "content": "hi"}, *items]}
    kinds = [(kind, speaker) for _, kind, speaker in blocks_of(laid(body), 0)]
    assert kinds == [("TEXT", "USER"), *[("CALL", "MODEL")] * 2, *[("RESULT", "TOOL")] * 2]


def test_wishes_to_the_cache_are_kept_apart_from_what_enters_its_key() -> None:
    options = {"mode": "explicit", "ttl": "12h"}
    body = {"model": "gpt-5.6", "input": "hi", "prompt_cache_options": options, "prompt_cache_retention": "24h"}
    rows = laid(body, {"model": "gpt-5.6", "input": "hi"}).rows
    assert dict(rows.control_sets[rows.control_set[0]]) == {
        "prompt_cache_options": b'{"mode":"explicit","ttl":"12h"}',
        "prompt_cache_retention": b'"24h"',
    }
    assert rows.control_sets[rows.control_set[1]] == ()
    assert rows.param_set[0] == rows.param_set[1]
