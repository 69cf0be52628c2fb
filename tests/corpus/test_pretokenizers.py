"""The expressions by which GGUF vocabularies split text, and the places at which they always split."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Regex, pre_tokenizers

from prefixwise.corpus.tokenizer import cut_lines
from prefixwise.corpus.tokenizers.pretokenizers import LINE_CUTTING_PATTERNS, PRE_TOKENIZERS

CUTTING = sorted(name for name, pre in PRE_TOKENIZERS.items() if pre.cut_lines)
_PIECES = [
    *(
        "a",
        "B",
        "é",
        "e\u0301",
        "\u0301",
        "ß",
        "ʰ",
        "あ",
        "漢",
        "한",
        "\u200d",
        "0",
        "12345",
        "٣",
        "Ⅷ",
        "½",
        "²",
        "/",
        "//",
    ),
    *(
        "'s",
        "'LL",
        "’s",
        "-",
        "```",
        "{",
        "\ufffd",
        "\ufeff",
        "\x00",
        "\n",
        "\r\n",
        "\r",
        "\n\n",
        "\n/",
        " ",
        "  ",
        "\t",
    ),
    *(
        "\x0b",
        "\x0c",
        "\x1c",
        "\x85",
        "\u2028",
        "\xa0",
        "\u3000",
        "camelCase",
        "XMLHttp",
        "ſ",
        "'ſ",
        "\na",
        "\n9",
        "\n٣",
    ),
]
TEXT = st.lists(st.sampled_from(_PIECES) | st.text(st.characters(exclude_categories=("Cs",)), max_size=2), max_size=30)


def words(patterns: tuple[str, ...], text: str) -> list[str]:
    splits = [pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in patterns]
    return [word for word, _ in pre_tokenizers.Sequence(splits).pre_tokenize_str(text)]


@pytest.mark.parametrize("name", sorted(PRE_TOKENIZERS))
@settings(max_examples=20, deadline=None)
@given(pieces=TEXT)
def test_every_expression_splits_a_text_without_losing_any_of_it(name: str, pieces: list[str]) -> None:
    text = "".join(pieces)
    assert "".join(words(PRE_TOKENIZERS[name].patterns, text)) == text


@pytest.mark.parametrize("name", CUTTING)
@settings(max_examples=150, deadline=None)
@given(pieces=TEXT)
def test_cutting_before_a_letter_or_digit_that_begins_a_line_changes_no_word(name: str, pieces: list[str]) -> None:
    text = "".join(pieces)
    patterns = PRE_TOKENIZERS[name].patterns
    apart = [word for line in cut_lines(text) for word in words(patterns, line)]
    assert apart == words(patterns, text)


@pytest.mark.parametrize("pattern", sorted(LINE_CUTTING_PATTERNS))
def test_published_spellings_cut_lines_too(pattern: str) -> None:
    rng = random.Random(3)
    for _ in range(300):
        text = "".join(rng.choice(_PIECES) for _ in range(rng.randrange(1, 20)))
        assert [word for line in cut_lines(text) for word in words((pattern,), line)] == words((pattern,), text)


def test_an_expression_that_looks_over_the_line_end_is_not_cut() -> None:
    """GPT-2's takes white space up to the last before a word: a line feed behind a space then stands alone."""
    assert "gpt-2" not in CUTTING
    patterns = PRE_TOKENIZERS["gpt-2"].patterns
    assert words(patterns, " \n") + words(patterns, "a") != words(patterns, " \na")
