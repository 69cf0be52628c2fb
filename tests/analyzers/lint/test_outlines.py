"""Contents of items, and what two prompts share."""

from __future__ import annotations

import gzip
import json
from array import array
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from prefixwise.corpus.again import requests_again
from prefixwise.corpus.corpus import read_corpus
from prefixwise.corpus.index import CorpusIndex
from prefixwise.corpus.outlines import Outlines, common_tokens
from prefixwise.corpus.reader import ReadOptions
from prefixwise.corpus.tree import TokenTree


def outlines_of(folder: Path, *messages: dict[str, Any], model: str = "claude-sonnet-5") -> Outlines:
    outlines = Outlines()
    path = folder / "log.jsonl"
    bodies = ({"model": model, "system": "Be brief.", "max_tokens": 9, "messages": [message]} for message in messages)
    path.write_text("".join(json.dumps(body) + "\n" for body in bodies))
    read_corpus([str(path)], index=CorpusIndex(outlines=outlines))
    return outlines


def test_shape_and_marker_do_not_change_what_a_message_says(tmp_path: Path) -> None:
    block = {"type": "text", "text": "When does the ferry leave?"}
    outlines = outlines_of(
        tmp_path,
        {"role": "user", "content": block["text"]},
        {"role": "user", "content": [block]},
        {"role": "user", "content": [{**block, "cache_control": {"type": "ephemeral"}}]},
    )
    assert outlines.messages[0] == outlines.messages[1] == outlines.messages[2]


def test_role_and_text_do(tmp_path: Path) -> None:
    outlines = outlines_of(
        tmp_path,
        {"role": "user", "content": "Quay 4"},
        {"role": "assistant", "content": "Quay 4"},
        {"role": "user", "content": "Quay 4 "},
    )
    assert len({tuple(found) for found in outlines.messages}) == 3


@given(st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=8), min_size=2, max_size=8))
def test_common_tokens_is_the_length_of_the_common_prefix(prompts: list[list[int]]) -> None:
    tree = TokenTree()
    root = tree.add_root()
    ends = [tree.walk(root, tree.add_segment(array("I", prompt).tobytes())) for prompt in prompts]
    for one, first in zip(ends, prompts, strict=True):
        for other, second in zip(ends, prompts, strict=True):
            same = next((i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), None)
            assert common_tokens(tree, one, other) == (min(len(first), len(second)) if same is None else same)


def test_prompts_of_two_vocabularies_share_nothing() -> None:
    tree = TokenTree()
    segment = tree.add_segment(array("I", [1, 2, 3]).tobytes())
    one, other = (tree.walk(tree.add_root(), segment) for _ in range(2))
    assert common_tokens(tree, one, other) == 0


def test_a_second_reading_gives_each_row_its_request(tmp_path: Path) -> None:
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": "a"}]}
    records = [{"n": n, "request": {**body, "user": f"user-{n}"}} for n in range(5)]
    lines = [json.dumps(record) for record in records]
    lines.insert(2, "broken")
    path = tmp_path / "log.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    corpus = read_corpus([str(path)])
    again = list(requests_again([str(path)], corpus.rows, ReadOptions()))
    assert [row for row, _ in again] == [0, 1, 2, 3, 4]
    assert [request.tenant for _, request in again] == [f"user-{n}" for n in range(5)]
    assert [json.loads(request.raw)["n"] for _, request in again] == [0, 1, 2, 3, 4]
    assert [request.record for _, request in again] == [0, 1, 3, 4, 5]


def test_rows_that_nobody_wants_are_passed_over(tmp_path: Path) -> None:
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": "a"}]}
    paths = []
    for name in ("one", "two"):
        lines = [json.dumps({"n": f"{name}-{n}", "request": body}) for n in range(4)]
        lines.insert(1, "broken")
        paths.append(str(tmp_path / f"{name}.jsonl"))
        Path(paths[-1]).write_text("\n".join(lines), encoding="utf-8")
    rows = read_corpus(paths).rows
    asked = []

    def is_wanted(row: int, record: bytes) -> bool:
        asked.append((row, json.loads(record)["n"]))
        return row in (2, 5)

    again = list(requests_again(paths, rows, ReadOptions(), wanted=is_wanted))
    assert [(row, json.loads(request.raw)["n"]) for row, request in again] == [(2, "one-2"), (5, "two-1")]
    assert asked == [(row, f"{'one' if row < 4 else 'two'}-{row % 4}") for row in range(8)]
