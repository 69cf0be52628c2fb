"""Hits, reasons and the ceiling of random logs against caches that are sets and loops over whole prompts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import naive
from support.logs import Log, logs
from support.reading import corpus_of

from prefixwise.caches.policy import Reason, parse_policy
from prefixwise.caches.sharing import sharing
from prefixwise.core.errors import UserError


@settings(max_examples=60, deadline=None)
@given(log=logs())
def test_prompts_are_as_long_as_when_encoded_whole_and_broken_records_are_counted_with_their_lines(log: Log) -> None:
    corpus = corpus_of(log.data)
    assert list(corpus.rows.prompt_tokens) == [len(request.prompt) for request in log.served]
    assert list(corpus.rows.answer_tokens) == [len(request.answer) for request in log.served]
    assert [broken.line for broken in corpus.broken] == log.broken_lines
    assert corpus.inputs[0].records == len(log.lines)
    assert corpus.inputs[0].broken == len(log.broken_lines)


@settings(max_examples=100, deadline=None)
@given(log=logs(), block=st.sampled_from([1, 2, 4, 16]), outputs=st.booleans())
def test_vllm_hits_and_reasons_are_those_of_hash_chains(log: Log, block: int, outputs: bool) -> None:
    rule = f"vllm:block={block},outputs={'yes' if outputs else 'no'}"
    replay = parse_policy(rule).replay(corpus_of(log.data).rows)
    hits = naive.vllm(log.served, block, outputs=outputs)
    assert list(replay.matched) == hits
    own, _ = naive.longest(log.served, ("salt", "adapter"), outputs=outputs)
    wide, _ = naive.longest(log.served, outputs=outputs)
    assert [Reason(reason).name for reason in replay.reason] == naive.reasons(log.served, hits, own, wide)


@settings(max_examples=100, deadline=None)
@given(log=logs(), page=st.sampled_from([1, 3, 16]), outputs=st.booleans())
def test_sglang_hits_and_reasons_are_those_of_a_set_of_prefixes(log: Log, page: int, outputs: bool) -> None:
    rule = f"sglang:page={page},outputs={'yes' if outputs else 'no'}"
    replay = parse_policy(rule).replay(corpus_of(log.data).rows)
    hits = naive.sglang(log.served, page, outputs=outputs)
    assert list(replay.matched) == hits
    own, _ = naive.longest(log.served, ("salt", "extra", "adapter"), outputs=outputs)
    wide, _ = naive.longest(log.served, outputs=outputs)
    assert [Reason(reason).name for reason in replay.reason] == naive.reasons(log.served, hits, own, wide)


@settings(max_examples=80, deadline=None)
@given(log=logs(), outputs=st.booleans(), fields=st.sampled_from([(), ("salt",), ("salt", "adapter", "extra")]))
def test_sharing_is_the_longest_prefix_any_earlier_request_had(
    log: Log, outputs: bool, fields: tuple[str, ...]
) -> None:
    found = sharing(corpus_of(log.data).rows, fields, outputs=outputs)
    shared, partners = naive.longest(log.served, fields, outputs=outputs)
    assert list(found.shared) == shared
    assert list(found.partner) == partners


def _replay(lines: list[str], rule: str) -> list[int]:
    rows = corpus_of("\n".join(lines).encode()).rows
    return list(parse_policy(rule).replay(rows).matched)


def test_an_empty_prompt_takes_nothing_from_the_cache() -> None:
    lines = ['{"prompt": "", "model": "gpt-4o"}', '{"prompt": "one two three", "model": "gpt-4o"}']
    assert _replay(lines, "vllm:block=16") == [0, 0]


def test_a_repeated_prompt_of_whole_blocks_recomputes_its_last_block() -> None:
    ids = list(range(32))
    lines = [f'{{"prompt_token_ids": {ids}, "model": "m"}}'] * 2
    assert _replay(lines, "vllm:block=16") == [0, 16]
    assert _replay(lines, "sglang") == [0, 31]
    assert _replay(lines, "vllm:block=1") == [0, 31]


def test_an_answer_serves_from_its_end_on_and_without_its_last_token() -> None:
    first = {
        "request": {"model": "gpt-4o", "prompt": "one two"},
        "response": {"choices": [{"text": " three four five"}]},
        "start_time": 10,
        "end_time": 20,
    }
    second = {"request": {"model": "gpt-4o", "prompt": "one two three four five six"}}
    assert [sharing(corpus_of(first, {**second, "start_time": at}).rows).shared[1] for at in (15, 20)] == [2, 4]


def test_an_answer_in_text_adds_no_tokens_to_a_prompt_that_is_token_ids() -> None:
    lines = [
        '{"model": "m", "prompt": [1, 2], "response": {"choices": [{"text": "\\u0003\\u0004\\u0005"}]}}',
        '{"model": "m", "prompt": [1, 2, 3, 4, 9]}',
    ]
    assert _replay(lines, "sglang") == [0, 2]


@pytest.mark.parametrize(
    "rule",
    [
        "vllm:block=0", "vllm:block=-1", "vllm:block=1.5", "vllm:block=", "vllm:block", "vllm:page=1", "vlm",
        "sglang:block=2", "vllm:outputs=maybe", "vllm:block=٤", "vllm:block=99999999999",
        "vllm:block=0000000001" + "9" * 5000,
    ],
)  # fmt: skip
def test_a_rule_that_cannot_be_meant_is_refused_with_its_text(rule: str) -> None:
    with pytest.raises(UserError) as problem:
        parse_policy(rule)
    assert rule[:100] in problem.value.where


def test_a_label_is_a_rule_that_gives_the_same_policy() -> None:
    for rule in ("vllm", "vllm:block=32", "sglang:page=16,outputs=no", "vllm:outputs=yes"):
        label = parse_policy(rule).label
        assert parse_policy(label).label == label
        again, once = parse_policy(label).without_outputs(), parse_policy(rule).without_outputs()
        assert (again and again.label) == (once and once.label)
    assert parse_policy("sglang:page=16,outputs=no").without_outputs() is None
