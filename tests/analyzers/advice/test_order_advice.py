"""The order of a head's pieces: change rates by hand, and what the better order saves as a log sent that way shows."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from prefixwise.analyzers.accounts.fixed import counting
from prefixwise.analyzers.advice.order import OrderAdvice, in_order, order_advice, pieces_of
from prefixwise.caches.policy import parse_policy
from prefixwise.caches.rulebook import Rulebook
from prefixwise.core.excerpt import Excerpts
from prefixwise.core.request import Request
from prefixwise.corpus.again import requests_again
from prefixwise.corpus.corpus import read_corpus
from prefixwise.corpus.index import CorpusIndex
from prefixwise.corpus.outlines import Outlines
from prefixwise.corpus.reader import ReadOptions

RULES = "Name the quay, the time and the fare in every answer, and never promise a seat. " * 30
STYLE = "Answer in one short paragraph, in the language of the question, without lists. " * 20


def plan(number: int) -> str:
    return f"Boats of today, plan {number // 2}: " + "the early boat goes first. " * 20


def body(api: str, pieces: list[str], number: int) -> dict[str, Any]:
    ask = {"role": "user", "content": f"Question {number}?"}
    if api == "anthropic":
        system = [{"type": "text", "text": text} for text in pieces]
        return {"model": "claude-sonnet-4-5", "max_tokens": 9, "system": system, "messages": [ask]}
    if api == "items":
        return {"model": "gpt-4.1", "messages": [*({"role": "system", "content": text} for text in pieces), ask]}
    return {"model": "gpt-4.1", "messages": [{"role": "system", "content": "\n\n".join(pieces)}, ask]}


def written(folder: Path, api: str, order: tuple[int, ...]) -> Path:
    """Return a log of eight questions; the plan, piece 0, is another one from every second question on."""
    records = []
    for number in range(8):
        pieces = [plan(number), RULES, STYLE]
        request = body(api, [pieces[at] for at in order], number)
        records.append({"request": request, "start_time": 1_700_000_000 + 10 * number})
    path = folder / f"{api}-{''.join(map(str, order))}.jsonl"
    path.write_text("\n".join(map(json.dumps, records)))
    return path


def advised(path: Path) -> list[OrderAdvice]:
    index = CorpusIndex(outlines=Outlines())
    corpus = read_corpus([str(path)], index=index)
    again = partial(requests_again, [str(path)], corpus.rows, ReadOptions())
    rows = corpus.rows
    keys = list(dict.fromkeys(zip(rows.model, rows.family, strict=True)))
    count = counting(parse_policy("sglang"), [1.0], Rulebook())
    return list(order_advice(index, again, rows, keys, count, Excerpts.MASKED))


def cached(path: Path) -> tuple[int, int]:
    """Return prompt and cached tokens of a log as it is."""
    rows = read_corpus([str(path)]).rows
    return sum(rows.prompt_tokens), sum(parse_policy("sglang").replay(rows).matched)


@pytest.mark.parametrize("api", ["anthropic", "items", "paragraphs"])
def test_what_changes_goes_last_and_saves_what_such_a_log_shows(api: str, tmp_path: Path) -> None:
    (one,) = advised(written(tmp_path, api, (0, 1, 2)))
    assert [piece.change_rate for piece in one.pieces] == [3 / 7, 0.0, 0.0]  # from question 1 to 2, 3 to 4, 5 to 6
    assert [piece.moves_to for piece in one.pieces] == [2, 0, 1]
    assert [piece.distinct for piece in one.pieces] == [4, 1, 1]
    assert one.before is not None
    assert one.after is not None
    assert (one.before.prompt_tokens, one.before.cached_tokens) == cached(written(tmp_path, api, (0, 1, 2)))
    assert (one.after.prompt_tokens, one.after.cached_tokens) == cached(written(tmp_path, api, (1, 2, 0)))
    assert one.saved_tokens > 3 * 800


def test_the_right_order_is_left_alone(tmp_path: Path) -> None:
    (one,) = advised(written(tmp_path, "items", (1, 2, 0)))
    assert (one.before, one.after, one.saved_tokens) == (None, None, 0)
    assert [piece.position for piece in one.pieces] == [piece.moves_to for piece in one.pieces]


def requests_of(path: Path) -> list[Request]:
    rows = read_corpus([str(path)]).rows
    return [request for _, request in requests_again([str(path)], rows, ReadOptions())]


@pytest.mark.parametrize("api", ["anthropic", "items", "paragraphs"])
def test_the_same_order_is_the_same_request(api: str, tmp_path: Path) -> None:
    (request, *_) = requests_of(written(tmp_path, api, (0, 1, 2)))
    assert in_order(request, [0, 1, 2]) == request
    assert pieces_of(in_order(request, [2, 0, 1])) == (STYLE, plan(0), RULES)


def test_nothing_changes_or_nothing_compares(tmp_path: Path) -> None:
    same = tmp_path / "same.jsonl"
    same.write_text("\n".join(json.dumps({"request": body("items", [RULES, STYLE], n)}) for n in range(4)))
    assert advised(same) == []
    uneven = tmp_path / "uneven.jsonl"
    heads = [[RULES, STYLE], [RULES, STYLE, plan(0)], [RULES], [RULES, STYLE, plan(2), "x"]]
    uneven.write_text("\n".join(json.dumps({"request": body("items", head, n)}) for n, head in enumerate(heads)))
    assert advised(uneven) == []
