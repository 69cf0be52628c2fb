"""Texts of exact length, and runs that are kept as they go."""

import asyncio

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefixwise.bench.rows import RowFile, read_rows
from prefixwise.bench.words import nonce, vocabulary
from prefixwise.core.errors import UserError
from prefixwise.corpus.tokenizers.openai import load


class Counter:
    """Counts tokens as a server would: with a template around the text."""

    def __init__(self, encode) -> None:
        self.encode = encode
        self.asked = 0

    async def __call__(self, text: str) -> int:
        self.asked += 1
        return 7 + len(self.encode(f"0123456789abcdef{text}"))


def encoder(name: str):
    """Return what encodes a text, an id of four bytes a token."""
    return lambda text: memoryview(load(name).encode(text)).cast("I")


@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base"])
def test_prompts_have_exactly_the_length_asked_for(encoding):
    count = Counter(encoder(encoding))
    words = asyncio.run(vocabulary(count))
    assert len(words.words) > 70
    assert {cost for _, cost in words.words} == {1}
    for tokens in (128, 1024, 2048):
        assert asyncio.run(count(words.text(tokens, "item 1"))) == tokens
    assert words.text(128, 1) == words.text(128, 1) != words.text(128, 2)


def test_words_of_several_tokens_are_left_out():
    def encode(text):
        return [piece for word in text.split(" ") for piece in ([word] if len(word) != 5 else [word, word])]

    count = Counter(encode)
    words = asyncio.run(vocabulary(count))
    assert words.words
    assert not any(len(word) == 5 for word, _ in words.words)
    assert asyncio.run(count(words.text(300, 1))) == 300


@pytest.mark.parametrize("tokens", [100, 101, 102, 103, 1000])
def test_a_vocabulary_of_bytes_makes_exact_prompts_too(tokens):
    count = Counter(lambda text: text.encode())
    words = asyncio.run(vocabulary(count))
    assert asyncio.run(count(words.text(tokens, 1))) == tokens
    assert words.text(tokens, 1) != words.text(tokens, 2)


def test_tokens_that_do_not_add_up_are_refused():
    with pytest.raises(UserError, match="do not add up"):
        asyncio.run(vocabulary(Counter(lambda text: text[: len(text) // 3])))


def test_a_prompt_shorter_than_its_frame_is_refused():
    words = asyncio.run(vocabulary(Counter(encoder("o200k_base"))))
    with pytest.raises(UserError, match="cannot be made"):
        words.text(5, 1)


@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base"])
def test_all_nonces_are_equally_long(encoding):
    assert {len(encoder(encoding)(nonce("a", item))) for item in range(200)} == {16}


def test_nonces_differ_by_run_item_and_attempt():
    made = {nonce(run, item, attempt) for run in "ab" for item in range(50) for attempt in range(3)}
    assert len(made) == 300
    assert {len(one.split(" ")) for one in made} == {16}
    assert {letter for one in made for letter in one.split(" ")} == set("abcdefghijklmnop")
    assert nonce("a", 1) == nonce("a", 1, 0)


class Head(msgspec.Struct):
    run: str
    items: int = 3


class Row(msgspec.Struct):
    item: int
    ttft: float | None = None


def test_a_run_goes_on_where_it_was_interrupted(tmp_path):
    path = tmp_path / "run.jsonl"
    with RowFile(path, Head("a"), Row) as rows:
        rows.add(Row(0, 0.5))
        rows.add(Row(1))
    with RowFile(path, Head("a"), Row) as rows:
        assert rows.rows == [Row(0, 0.5), Row(1)]
        rows.add(Row(2, 0.25))
    assert read_rows(path, Head, Row) == (Head("a"), [Row(0, 0.5), Row(1), Row(2, 0.25)])


def test_rows_are_in_the_file_as_soon_as_they_are_added(tmp_path):
    path = tmp_path / "run.jsonl"
    rows = RowFile(path, Head("a"), Row)
    rows.add(Row(0))
    assert read_rows(path, Head, Row)[1] == [Row(0)]
    rows.close()


@given(st.integers(0, 200))
def test_a_file_cut_off_anywhere_keeps_its_whole_rows(tmp_path_factory, cut):
    path = tmp_path_factory.mktemp("run") / "run.jsonl"
    with RowFile(path, Head("a"), Row) as rows:
        for item in range(5):
            rows.add(Row(item, 0.5))
    data = path.read_bytes()
    path.write_bytes(data[:cut])
    whole = data[:cut].count(b"\n")
    with RowFile(path, Head("a"), Row) as rows:
        assert len(rows.rows) == max(0, whole - 1)
        rows.add(Row(9))
    assert read_rows(path, Head, Row)[1][-1] == Row(9)
    assert len(read_rows(path, Head, Row)[1]) == max(0, whole - 1) + 1


def test_another_run_is_not_continued_and_not_harmed(tmp_path):
    path = tmp_path / "run.jsonl"
    with RowFile(path, Head("a"), Row) as rows:
        rows.add(Row(0))
    before = path.read_bytes()
    with pytest.raises(UserError, match="another run"):
        RowFile(path, Head("b"), Row)
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"{}\n", b"not json\n", b'{"run":"a","items":3}\nnot json\n'])
def test_what_is_no_run_is_one_clear_error(tmp_path, content):
    path = tmp_path / "run.jsonl"
    path.write_bytes(content)
    with pytest.raises(UserError):
        RowFile(path, Head("a"), Row)
    with pytest.raises(UserError):
        read_rows(path, Head, Row)
    assert path.read_bytes() == content


def test_a_place_that_cannot_be_written_is_one_clear_error(tmp_path):
    with pytest.raises(UserError, match="cannot keep the run"):
        RowFile(tmp_path / "no" / "run.jsonl", Head("a"), Row)
    with pytest.raises(UserError, match="cannot read the run"):
        read_rows(tmp_path / "none.jsonl", Head, Row)
