"""Tokenizers built from GGUF metadata give the ids that llama.cpp publishes for its test vocabularies."""

from __future__ import annotations

import struct
from array import array
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.vocabularies import (
    FOLDER,
    WITH_IDS,
    WITHOUT_IDS,
    expected_ids,
    needs_vocabularies,
    vocabulary,
)

from prefixwise.core.errors import UserError
from prefixwise.corpus.tokenizers.gguf import load_gguf
from prefixwise.corpus.tokenizers.gguf_file import is_gguf, read_metadata
from prefixwise.corpus.tokenizers.huggingface import load_tokenizer


def ids_of(data: bytes) -> list[int]:
    return array("I", data).tolist()


@needs_vocabularies
def test_all_vocabularies_of_the_package_are_known_here() -> None:
    files = {path.name.removeprefix("ggml-vocab-").removesuffix(".gguf") for path in FOLDER.glob("*.gguf")}
    assert files == {*WITH_IDS, *WITHOUT_IDS}
    assert {path.name.split(".")[0].removeprefix("ggml-vocab-") for path in FOLDER.glob("*.inp")} == set(WITH_IDS)


@needs_vocabularies
@pytest.mark.parametrize("name", WITH_IDS)
def test_published_inputs_have_the_published_ids(name: str) -> None:
    cases = expected_ids(name)
    assert len(cases) >= 46
    tokenizer = vocabulary(name)
    assert tokenizer.exact == (name != "bert-bge")  # WordPiece: these ids, but not those of every odd accent
    for text, ids in cases:
        assert ids_of(tokenizer.encode(text)) == ids, text


# What llama-cpp-python 0.3.36 itself says (`Llama.tokenize(text, add_bos=False, special=True)`), for vocabularies
# without published ids and for texts that spell special tokens out.
_SAID_BY_LLAMA_CPP: list[tuple[str, str, list[int]]] = [
    (
        "aquila",
        "Hello, \u4e16\u754c! 12345\n  x<|endoftext|>y</s> z",
        [22299, 12, 221, 1996, 1, 221, 11218, 2561, 1083, 2599, 0, 89, 100007, 2369],
    ),
    (
        "baichuan",
        "Gr\xfc\xdfe  12345\n\tx</s> z ananan",
        [1984, 32082, 33114, 31107, 31106, 31106, 53, 54, 55, 56, 57, 5, 6, 31141, 2, 31106, 1961, 755, 662, 662],
    ),
    ("baichuan", "  <s>\u4f60\u597d\uff0c\u4e16\u754c", [31106, 31106, 31106, 1, 9875, 31213, 72, 2781]),
    (
        "gpt-neox",
        "def f(x):\n        return x<|endoftext|>\n   end",
        [1545, 269, 9, 89, 2262, 187, 50270, 2309, 1269, 0, 187, 50275, 423],
    ),
    ("phi-3", "<|user|>\n  Hi there<|end|> \n<|assistant|>\nok", [32010, 6324, 727, 32007, 32001, 3431]),
    ("phi-3", "</s>  <s> <unk> x", [2, 1, 259, 0, 29871, 921]),
    (
        "qwen2",
        "<|im_start|>user\nsay <|im_end|>\n1234<|endoftext|>",
        [151644, 872, 198, 36790, 220, 151645, 198, 16, 17, 18, 19, 151643],
    ),
    ("qwen35", "<|im_start|>a\u0301bc 12\u0301", [151644, 64, 53839, 8904, 220, 16, 17, 53839]),
    (
        "gemma-4",
        "<|turn>user\n\n\nHi  there</s> \u2603\U0001d49c<turn|>\n",
        [105, 2364, 109, 10979, 138, 13534, 954, 236751, 236813, 236743, 246690, 255184, 106, 107],
    ),
    ("mpt", "a          b\n                              c<|padding|>", [66, 50268, 67, 187, 50254, 50272, 68, 1]),
    ("falcon", "  \x0b\n/x 1234567", [258, 193, 26, 99, 204, 10963, 27681, 34]),
    ("falcon", "a\x0b\x0b b", [76, 262]),
    (
        "deepseek-llm",
        "12345  \u3000\u3000x \u3001\xb5\u212a \n",
        [16, 17, 18, 19, 20, 243, 88946, 88946, 87, 207, 537, 51694, 9435, 103, 207, 185],
    ),
    (
        "deepseek-coder",
        "if x:\n    y\u3000= \u6f22\u5b5712\xa0;",
        [351, 1371, 25, 185, 315, 320, 343, 209, 28, 207, 3022, 95, 4403, 16, 17, 1200, 26],
    ),
    (
        "command-r",
        "<|START_OF_TURN_TOKEN|><|USER_TOKEN|>1234 it's<|END_OF_TURN_TOKEN|>",
        [255000, 255006, 24, 25, 26, 27, 1894, 1914, 255001],
    ),
    (
        "llama-spm",
        "<s>[INST] Hi </s>\n<s> ananananan     x",
        [1, 518, 25580, 29962, 6324, 29871, 2, 29871, 13, 1, 29871, 385, 273, 273, 273, 273, 268, 921],
    ),
    (
        "llama-bpe",
        "<|start_header_id|>user<|end_header_id|>\n\n'S 12345'\u017fx<|eot_id|>",
        [128006, 882, 128007, 271, 13575, 220, 4513, 1774, 6, 129, 123, 87, 128009],
    ),
    ("refact", "<fim_prefix>a 12<fim_suffix>", [1, 83, 225, 35, 36, 3]),
    ("starcoder", "<fim_prefix>def 12  x\r\n", [1, 610, 244, 54, 55, 244, 837, 455]),
    ("bert-bge", "[CLS] Na\xefve caf\xe9s [SEP] 12", [101, 15743, 23812, 102, 2260]),
]


@needs_vocabularies
@pytest.mark.parametrize(("name", "text", "ids"), _SAID_BY_LLAMA_CPP)
def test_special_tokens_in_a_prompt_are_those_of_llama_cpp(name: str, text: str, ids: list[int]) -> None:
    assert ids_of(vocabulary(name).encode_prompt(text)) == ids


@needs_vocabularies
@pytest.mark.parametrize("name", ["llama-bpe", "qwen2", "llama-spm", "gemma-4", "command-r", "phi-3"])
@settings(max_examples=40, deadline=None)
@given(text=st.text(st.characters(exclude_categories=("Cs",)), max_size=60))
def test_text_comes_back_from_its_ids_and_starts_are_in_order(name: str, text: str) -> None:
    tokenizer = vocabulary(name)
    ids, starts = tokenizer.starts(text)
    assert ids == tokenizer.encode_prompt(text)
    assert len(starts) == len(ids) // 4
    assert starts == sorted(starts)
    assert all(0 <= start <= len(text) for start in starts)
    decoded = tokenizer.decode(ids_of(ids))
    if name in ("llama-spm", "phi-3"):  # they put a space first
        decoded = decoded.removeprefix(" ")
    if name not in ("llama-spm", "phi-3", "gemma-4") or "\u2581" not in text:  # U+2581 is their space
        assert decoded == text


@needs_vocabularies
@pytest.mark.parametrize(
    ("name", "opening"),
    [("llama-bpe", [128000]), ("llama-spm", [1]), ("qwen2", []), ("command-r", [5]), ("gpt-2", []), ("gemma-4", [2])],
)
def test_a_bare_prompt_opens_with_bos_where_the_vocabulary_asks_for_it(name: str, opening: list[int]) -> None:
    assert ids_of(vocabulary(name).opening) == opening


# -- files that are not what they should be --------------------------------------------------------------------


def gguf(*pairs: bytes, version: int = 3, count: int | None = None) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", version, 0, len(pairs) if count is None else count) + b"".join(pairs)


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def texts(key: str, values: list[str]) -> bytes:
    return text(key) + struct.pack("<IIQ", 9, 8, len(values)) + b"".join(map(text, values))


def string(key: str, value: str) -> bytes:
    return text(key) + struct.pack("<I", 8) + text(value)


def test_every_type_of_value_is_read(tmp_path: Path) -> None:
    pairs = [
        *(text(f"n{kind}") + struct.pack(f"<I{code}", kind, 1) for kind, code in enumerate("BbHhIif?")),
        string("s", "ä"),
        texts("list", ["a", "b"]),
        text("numbers") + struct.pack("<IIQ3f", 9, 6, 3, 0.5, -1, 2),
        *(text(f"n{kind}") + struct.pack(f"<I{code}", kind, 1) for kind, code in zip((10, 11, 12), "Qqd", strict=True)),
    ]
    (tmp_path / "x.gguf").write_bytes(gguf(*pairs))
    found = read_metadata(tmp_path / "x.gguf")
    assert found["s"] == "ä"
    assert found["list"] == ["a", "b"]
    assert found["numbers"] == (0.5, -1, 2)
    assert [found[f"n{kind}"] for kind in (0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12)] == [1] * 11
    assert found["n7"] is True


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"GGUF",
        b"not a model",
        gguf(version=1),
        gguf(count=3),
        gguf(count=2**60),
        gguf(text("k") + struct.pack("<I", 99)),
        gguf(text("k") + struct.pack("<IQ", 8, 2**63)),
        gguf(text("k") + struct.pack("<IIQ", 9, 6, 2**62)),
        gguf(text("k") + struct.pack("<IIQ", 9, 9, 1)),
        gguf(texts("k", ["a"])[:-1]),
        gguf(),
        gguf(string("tokenizer.ggml.model", "gpt2")),
        gguf(string("tokenizer.ggml.model", "unheard-of"), texts("tokenizer.ggml.tokens", ["a"])),
        gguf(string("tokenizer.ggml.model", "gpt2"), texts("tokenizer.ggml.tokens", ["a"])),
        gguf(string("tokenizer.ggml.model", "llama"), texts("tokenizer.ggml.tokens", ["a"])),
        gguf(string("tokenizer.ggml.model", "gpt2"), texts("tokenizer.ggml.tokens", ["a", "a"])),
        gguf(
            string("tokenizer.ggml.model", "gpt2"),
            string("tokenizer.ggml.pre", "unheard-of"),
            texts("tokenizer.ggml.tokens", ["a"]),
            texts("tokenizer.ggml.merges", []),
        ),
        gguf(
            string("tokenizer.ggml.model", "gpt2"),
            texts("tokenizer.ggml.tokens", ["a", "b"]),
            texts("tokenizer.ggml.merges", ["a b"]),
        ),
    ],
)
def test_damaged_files_are_one_clear_line(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(data)
    with pytest.raises(UserError) as problem:
        load_gguf(path, str(path))
    assert "model.gguf" in str(problem.value)
    if not is_gguf(path):
        with pytest.raises(UserError):
            load_tokenizer(str(path))
