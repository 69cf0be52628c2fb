"""Segments, memo and cuts give the ids of the whole rendered prompt, encoded in one go."""

from __future__ import annotations

import io
import json
import random
import time
from array import array

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support import oracle_tokens
from support.reading import corpus_of

from prefixwise.core.request import Part, Turn
from prefixwise.corpus.corpus import read_corpus
from prefixwise.corpus.index import CorpusIndex
from prefixwise.corpus.reader import ReadOptions
from prefixwise.corpus.rendering import render
from prefixwise.corpus.single import read_requests
from prefixwise.corpus.template import AssumedTemplate
from prefixwise.corpus.tokenizer import Tokenizer, cut_lines
from prefixwise.corpus.tokenizers.estimate import ByteEstimate
from prefixwise.corpus.tokenizers.openai import load

MODEL_OF = {name: model for model, name in oracle_tokens.ENCODING_OF.items()}

_HOSTILE = [
    *[
        "a",
        "B",
        "é",
        "é",
        "́",
        "⃝",
        "ß",
        "ǅ",
        "ʰ",
        "あ",
        "漢",
        "한",
        "א",
        "ع",
        "\u202e",
        "\u200f",
        "👩\u200d👩\u200d👧",
        "🏳️\u200d🌈",
        "\u200d",
        "️",
    ],
    *[
        "0",
        "7",
        "12345",
        "٣",
        "९",
        "Ⅷ",
        "½",
        "²",
        "/",
        "//",
        "'s",
        "'LL",
        "’s",
        "-",
        "```",
        "{",
        "�",
        "�",
        "\ufeff",
        "\x00",
        "\u180e",
        "\U0010ffff",
    ],
    *[
        "\n",
        "\r\n",
        "\r",
        "\n\n",
        "\n/",
        " ",
        "  ",
        "\t",
        "\x0b",
        "\x0c",
        "\x1c",
        "\x85",
        "\u2028",
        "\u2029",
        "\xa0",
        "\u3000",
    ],
    *["<|im_start|>", "<|endoftext|>", "<|start|>", "<|message|>", "<|end|>", "<|reserved_200001|>", "⟨start⟩"],
]
_PIECE = st.sampled_from(_HOSTILE) | st.text(st.characters(exclude_categories=()), max_size=3)
HOSTILE = st.lists(_PIECE, max_size=30).map("".join)
_LINE_START = st.sampled_from(
    ["a", "Z", "9", "٣", "½", "あ", "/", "//", " ", "\t", "\u0301", "\u20dd", "-", "'", "\xa0", "", "\r"]
)


@st.composite
def long_texts(draw: st.DrawFn) -> str:
    """A text over the length at which templates cut, whose lines begin and end in all kinds of ways."""
    rng = random.Random(draw(st.integers(0, 2**32)))
    starts = draw(st.lists(_LINE_START, min_size=2, max_size=6))
    ends = draw(st.lists(_PIECE, min_size=1, max_size=5))
    lines = [rng.choice(starts) + "word /path 42 "[: rng.randrange(15)] + rng.choice(ends) for _ in range(400)]
    return "\n".join(lines) + "." * max(0, 2100 - sum(map(len, lines)))


def unpacked(ids: bytes) -> list[int]:
    return array("I", ids).tolist()


def in_one_go(name: str, text: str) -> list[int]:
    return oracle_tokens.encode(name, text)


@pytest.mark.parametrize("name", oracle_tokens.ENCODINGS)
@settings(max_examples=60, deadline=None)
@given(
    turns=st.lists(st.tuples(st.sampled_from(["system", "user", "tool"]), st.lists(HOSTILE, max_size=3)), max_size=4)
)
@example(turns=[("user", ["<|im_start|>system\n", "<|start|>assistant<|message|>"]), ("user", []), ("tool", [""])])
def test_turns_of_a_template_come_to_the_ids_of_the_rendered_prompt(
    name: str, turns: list[tuple[str, list[str]]]
) -> None:
    tokenizer = load(name)
    template = AssumedTemplate(tokenizer)
    ids = b""
    for role, texts in turns:
        turn = Turn(role, tuple(Part(f"/{n}", text) for n, text in enumerate(texts)))
        ids += b"".join(piece.ids or tokenizer.encode(piece.text) for piece in template.pieces(turn))
    rendered = "".join(oracle_tokens.message(role, texts) for role, texts in turns)
    assert unpacked(ids + template.reply) == in_one_go(
        name, f"{rendered}{oracle_tokens.START}assistant{oracle_tokens.MESSAGE}"
    )


@pytest.mark.parametrize("name", oracle_tokens.ENCODINGS)
@settings(max_examples=25, deadline=None)
@given(text=long_texts())
def test_a_long_text_cut_at_its_lines_has_the_ids_of_the_whole(name: str, text: str) -> None:
    tokenizer = load(name)
    pieces = tokenizer.cut(text)
    assert "".join(pieces) == text
    assert unpacked(b"".join(map(tokenizer.encode, pieces))) == in_one_go(name, text)


@settings(max_examples=200, deadline=None)
@given(text=HOSTILE | long_texts())
def test_cut_lines_only_cuts_behind_a_line_feed_and_loses_nothing(text: str) -> None:
    pieces = cut_lines(text)
    assert "".join(pieces) == text
    assert all(piece.endswith("\n") for piece in pieces[:-1])
    assert all(piece[0].isalnum() for piece in pieces[1:])


def test_lines_that_begin_with_a_letter_or_digit_are_cut_apart_so_that_the_others_stay_shared() -> None:
    assert cut_lines("one\ntwo\n\n3\n/four\n five\n") == ["one\n", "two\n\n", "3\n/four\n five\n"]


@settings(max_examples=100, deadline=None)
@given(text=HOSTILE | long_texts())
def test_the_byte_estimate_counts_pieces_as_it_counts_the_whole(text: str) -> None:
    estimate = ByteEstimate("")
    assert b"".join(map(estimate.encode, estimate.cut(text))) == estimate.encode(text)
    # Independent count: each cut line takes a quarter of its bytes, rounded up.
    lines = [line.encode("utf-8", "surrogatepass") for line in cut_lines(text)]
    assert len(estimate.encode(text)) // 4 == sum(-(-len(line) // 4) for line in lines)


@settings(max_examples=100, deadline=None)
@given(a=HOSTILE, b=HOSTILE)
def test_byte_estimates_of_two_texts_part_where_their_bytes_part(a: str, b: str) -> None:
    estimate = ByteEstimate("")
    first, second = unpacked(estimate.encode(a)), unpacked(estimate.encode(b))
    assert (first == second) == (a == b)


_MESSAGES = st.lists(
    st.tuples(st.sampled_from(["system", "user", "assistant"]), HOSTILE | long_texts()), min_size=1, max_size=3
)


@pytest.mark.parametrize("name", oracle_tokens.ENCODINGS)
@settings(max_examples=15, deadline=None)
@given(conversations=st.lists(_MESSAGES, min_size=1, max_size=3))
def test_prompts_of_a_log_stand_in_the_tree_as_they_are_encoded_whole(
    name: str, conversations: list[list[tuple[str, str]]]
) -> None:
    # Lone surrogates cannot stand in JSON: a reader makes them U+FFFD.
    clean = [
        [(r, c.encode("utf-16", "surrogatepass").decode("utf-16", "replace")) for r, c in m] for m in conversations
    ]
    lines = [
        json.dumps({"model": MODEL_OF[name], "messages": [{"role": r, "content": c} for r, c in messages]})
        for messages in clean
    ]
    corpus = corpus_of("\n".join(lines).encode())
    assert corpus.index is not None
    for row, messages in enumerate(clean):
        ids = unpacked(corpus.index.tree.ids(corpus.rows.node[row]))
        assert ids == in_one_go(name, oracle_tokens.chat(messages))


def test_a_memo_of_one_vocabulary_is_not_used_in_another() -> None:
    """An answer logged for one model is the next prompt of another that counts differently."""
    said = "Grüße, naïve café: 12345678 tokens"
    first = {
        "request": {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi"}]},
        "response": {"choices": [{"message": {"role": "assistant", "content": said}}]},
    }
    second = {"request": {"model": "gpt-4", "messages": [{"role": "user", "content": said}]}}
    data = f"{json.dumps(first)}\n{json.dumps(second)}\n".encode()
    corpus = corpus_of(data)
    assert corpus.index is not None
    ids = unpacked(corpus.index.tree.ids(corpus.rows.node[1]))
    assert ids == in_one_go("cl100k_base", oracle_tokens.chat([("user", said)]))


def test_stretches_of_a_rendered_request_are_the_prompt_in_the_tree(tmp_path) -> None:
    body = {
        "model": "gpt-4o",
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}],
        "messages": [
            {"role": "system", "content": "Be kind.\n" * 400},
            {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        ],
    }
    log = tmp_path / "log.jsonl"
    log.write_text(json.dumps(body))
    corpus = read_corpus([str(log)])
    assert corpus.index is not None
    requests, _ = read_requests(str(log), ReadOptions())
    rendered = render(requests[0])
    assert rendered.ids == corpus.index.tree.ids(corpus.rows.node[0])
    tool = '{"type":"function","function":{"name":"f","parameters":{}}}'
    messages = oracle_tokens.message("system", ["Be kind.\n" * 400]) + oracle_tokens.message("user", ["a", "b"])
    whole = f"{messages}{oracle_tokens.START}assistant{oracle_tokens.MESSAGE}"
    assert unpacked(rendered.ids) == in_one_go("o200k_base", tool) + in_one_go("o200k_base", whole)
    assert [s.start for s in rendered.stretches] == [0, *[s.end for s in rendered.stretches[:-1]]]


# -- runs on which tiktoken's regular expressions give up ------------------------------------------------------

_RUNS = {
    "spaces": " ", "line feeds": "\n", "tabs": "\t", "CRLF": "\r\n", "no-break spaces": "\xa0", "mixed": " \n\t",
    "line separators": "\u2028", "spaces, then lines": None,
}  # fmt: skip


def _run(kind: str, size: int) -> str:
    unit = _RUNS[kind]
    return (unit * size)[:size] if unit else " " * (size // 2) + "\n" * (size // 2)


@pytest.mark.parametrize("kind", _RUNS)
@pytest.mark.parametrize("size", [9_999, 10_000, 10_001, 25_000, 1_000_000])
@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
def test_white_space_runs_never_panic_and_do_not_depend_on_the_cutting(name: str, kind: str, size: int) -> None:
    tokenizer = load(name)
    text = f"start{_run(kind, size)}\nNext line\n7 more{_run(kind, 100)}end"
    pieces = tokenizer.cut(text)
    assert "".join(pieces) == text
    whole = tokenizer.encode(text)
    assert b"".join(map(tokenizer.encode, pieces)) == whole
    assert tokenizer.decode(unpacked(whole)) == text


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
@pytest.mark.parametrize("unit", ["a", "あ", "\u0301", "-", "7", "!\n", "A", "ʰ", "\x1c", "\x00", "\ud800", "é"])
def test_long_runs_of_anything_else_are_encoded_too(name: str, unit: str) -> None:
    tokenizer = load(name)
    text = unit * 50_000
    kept = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert tokenizer.decode(unpacked(tokenizer.encode(text))) == kept


@pytest.mark.parametrize("size", [1, 9_000])
def test_a_run_below_the_limit_is_encoded_as_tiktoken_does(size: int) -> None:
    for name in oracle_tokens.ENCODINGS:
        text = f"x{' ' * size}y\n{' ' * size}"
        assert unpacked(load(name).encode(text)) == in_one_go(name, text)


def test_a_prompt_of_a_million_spaces_is_one_row(tmp_path) -> None:
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": " " * 1_000_000 + "\nend"}]}
    (tmp_path / "log.jsonl").write_text(json.dumps(body))
    assert len(read_corpus([str(tmp_path / "log.jsonl")]).rows) == 1


# -- which tokenizer a model has -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "tokenizer", "exactness"),
    [
        ({"model": "gpt-4o", "messages": []}, "o200k_base", "exact text, assumed template"),
        ({"model": "azure/gpt-4o-mini", "messages": []}, "o200k_base", "exact text, assumed template"),
        ({"model": "gpt-3.5-turbo", "messages": []}, "cl100k_base", "exact text, assumed template"),
        ({"model": "gpt-4", "prompt": "x"}, "cl100k_base", "exact"),
        ({"model": "gpt-oss-120b", "messages": []}, "o200k_harmony", "exact text, assumed template"),
        ({"model": "gpt-9-unheard-of", "messages": []}, "o200k_base", "exact text, assumed template"),
        ({"model": "claude-opus-5", "messages": []}, "estimate:o200k_base", "estimated"),
        ({"model": "gemini-3-pro", "contents": "x"}, "estimate:o200k_base", "estimated"),
        ({"model": "llama-4-maverick", "messages": []}, "estimate:o200k_base", "estimated"),
        ({"messages": []}, "estimate:o200k_base", "estimated"),
        ({"model": "m", "prompt": [1, 2]}, "token ids", "exact"),
    ],
)
def test_models_are_counted_with_their_encoding_or_a_named_estimate(
    body: dict[str, object], tokenizer: str, exactness: str
) -> None:
    corpus = corpus_of(body)
    ((how_exact, name, _note),) = corpus.tokenizers.values()
    assert (name, how_exact.value) == (tokenizer, exactness)


def test_without_vocabularies_a_corpus_is_counted_by_bytes() -> None:
    def by_bytes(_provider: str, _model: str) -> Tokenizer:
        return ByteEstimate("no rank file")

    index = CorpusIndex(by_bytes)
    body = {"model": "gpt-4o", "prompt": "12345\n789"}
    corpus = read_corpus(["-"], stdin=io.BufferedReader(io.BytesIO(json.dumps(body).encode())), index=index)
    assert list(corpus.rows.prompt_tokens) == [2 + 1]
    assert corpus.tokenizers["gpt-4o"][0].value == "estimated"


def test_cutting_an_indented_text_takes_time_in_proportion_to_it() -> None:
    """Lines that begin with a space are not cut apart; joining them one by one would be quadratic."""

    def seconds(lines: int) -> float:
        text = "    indented: true,\n" * lines
        start = time.process_time()
        assert cut_lines(text) == [text]
        return time.process_time() - start

    small = max(min(seconds(10_000) for _ in range(3)), 1e-4)
    assert min(seconds(200_000) for _ in range(2)) < 100 * small
