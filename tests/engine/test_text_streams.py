"""Text that is shown piece by piece is the text of all ids, up to a stop string."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from prefixwise.engine.byte_tokenizer import ByteTokenizer
from prefixwise.engine.text_stream import TextStream

BYTES = ByteTokenizer()
TEXTS = st.text(alphabet="ab\u00e9\u20ac\U0001f600 \n", max_size=30)


def streamed(ids: list[int], stop: tuple[str, ...] = ()) -> list[str]:
    """Return the pieces of a stream, up to where it stops."""
    stream = TextStream(BYTES.decode, stop)
    pieces = []
    for token in ids:
        pieces.append(stream.push(token))
        if stream.stopped:
            return pieces
    return [*pieces, stream.end()]


@given(st.lists(st.integers(0, 255), max_size=40))
def test_any_bytes_come_out_as_when_decoded_at_once(ids: list[int]) -> None:
    assert "".join(streamed(ids)) == bytes(ids).decode("utf-8", "replace")


@given(TEXTS)
def test_no_piece_ends_within_a_character(text: str) -> None:
    pieces = streamed(list(text.encode()))
    assert "".join(pieces) == text
    assert not any("\ufffd" in piece for piece in pieces)


@given(TEXTS, st.lists(st.text(alphabet="ab\u20ac ", min_size=1, max_size=4), min_size=1, max_size=3))
def test_nothing_of_a_stop_string_is_shown(text: str, stops: list[str]) -> None:
    pieces = streamed(list(text.encode()), tuple(stops))
    # The stop string that is whole first ends the answer; of those that end at one place, the one that began first.
    ends = [text.find(stop) + len(stop) for stop in stops if stop in text]
    expected = text
    if ends:
        last = min(ends)
        expected = text[: min(text.find(stop) for stop in stops if 0 <= text.find(stop) <= last - len(stop))]
    assert "".join(pieces) == expected


def test_text_is_shown_as_soon_as_it_can_be() -> None:
    assert streamed(list("a\u20acb".encode())) == ["a", "", "", "\u20ac", "b", ""]
    assert streamed(list(b"xabxabc"), ("abc",)) == ["x", "", "", "abx", "", "", ""]


def test_tokens_of_a_real_vocabulary_are_joined_like_its_own_decoder() -> None:
    from prefixwise.corpus.tokenizers.sentencepiece import ScoredTokenizer

    tokens = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), "\u2581he", "llo", "\u2581", "\u2581w", "orld"]
    vocabulary = ScoredTokenizer("x", "x", tokens, [0.0] * len(tokens), [0], [], True, frozenset())
    ids = [257, 258, 1 + 0xE2, 1 + 0x82, 1 + 0xAC, 260, 261, 259, 259, 1 + 0xC3]
    stream = TextStream(vocabulary.decode)
    assert "".join([*map(stream.push, ids), stream.end()]) == vocabulary.decode(ids)
