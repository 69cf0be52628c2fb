"""Faults that a review found, each with its right value."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.reading import corpus_of

from prefixwise.caches.policy import parse_policy
from prefixwise.corpus.corpus import read_corpus
from prefixwise.corpus.parquet import trace_bytes

KEY = b"k" * 32


def _lines(*records: Any) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


@pytest.mark.parametrize("blocks", [[], [{"type": "thinking"}], [{"type": "tool_result", "content": []}]])
def test_an_odd_system_block_costs_no_more_than_its_record(blocks: list[Any]) -> None:
    body = {"model": "claude-opus-5", "system": blocks, "messages": [{"role": "user", "content": "Hi"}]}
    corpus = corpus_of(_lines(body, {**body, "system": "Be kind."}))
    assert len(corpus.rows) + sum(file.broken for file in corpus.inputs) == 2
    assert len(corpus.rows) >= 1


def test_a_log_with_end_times_only_keeps_its_answers() -> None:
    said = "It leaves at nine from the east pier, every day but Sunday, until October."
    ask, more = {"role": "user", "content": "When?"}, {"role": "user", "content": "And on Sunday?"}
    reply = {"role": "assistant", "content": said}
    records = [
        {
            "end_time": 10,
            "request": {"model": "gpt-4o", "messages": [ask]},
            "response": {"choices": [{"message": reply}]},
        },
        {"end_time": 20, "request": {"model": "gpt-4o", "messages": [ask, reply, more]}},
    ]
    rows = corpus_of(_lines(*records)).rows
    assert parse_policy("sglang").replay(rows).matched[1] == rows.prompt_tokens[0] + rows.output[0]


def test_the_order_of_trace_files_changes_no_figure(tmp_path: Path) -> None:
    ids = [list(range(32)), [*range(32), 40, 41]]
    corpora = [corpus_of(_lines({"model": "m", "prompt": prompt})) for prompt in ids]
    paths = []
    for name, corpus, share in (("a", corpora[0], False), ("b", corpora[1], False), ("s", corpora[0], True)):
        assert corpus.index is not None
        path = tmp_path / f"{name}.parquet"
        path.write_bytes(trace_bytes(corpus.index, KEY, 16, share))
        paths.append(str(path))
    joined, apart, shared = paths
    totals = {
        sum(parse_policy("vllm:block=16").replay(read_corpus(order).rows).matched)
        for order in ([joined, apart, shared], [joined, shared, apart], [shared, joined, apart])
    }
    assert totals == {32}
