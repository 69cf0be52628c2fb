"""llama.cpp's test vocabularies: where they are, and what their files say."""

from __future__ import annotations

import functools
import sys
from pathlib import Path

import pytest

from prefixwise.corpus.prompt_tokenizer import PromptTokenizer
from prefixwise.corpus.tokenizers.gguf import load_gguf

sys.path.insert(0, str(Path(__file__).parent.parent))
from fetch_vocabularies import COMPLETE, FOLDER

HERE = (FOLDER / COMPLETE).exists()
needs_vocabularies = pytest.mark.skipif(not HERE, reason="llama.cpp's vocabularies were not fetched")

# By name: 15 files with expected ids, and four without.
WITH_IDS = (
    *("bert-bge", "command-r", "deepseek-coder", "deepseek-llm", "falcon", "gemma-4", "gpt-2", "llama-bpe"),
    *("llama-spm", "mpt", "phi-3", "qwen2", "qwen35", "refact", "starcoder"),
)
WITHOUT_IDS = ("aquila", "baichuan", "gpt-neox", "nomic-bert-moe")


def vocabulary_path(name: str) -> Path:
    return FOLDER / f"ggml-vocab-{name}.gguf"


@functools.cache
def vocabulary(name: str) -> PromptTokenizer:
    return load_gguf(vocabulary_path(name), name)


def template_path(name: str) -> Path:
    return FOLDER / f"{name}.jinja"


def expected_ids(name: str) -> list[tuple[str, list[int]]]:
    """Return (text, ids) as llama.cpp's tests/test-tokenizer-0.cpp reads them from `.inp` and `.out`."""
    inputs = vocabulary_path(name).with_suffix(".gguf.inp").read_bytes().decode().split("\n__ggml_vocab_test__\n")
    if inputs[-1] == "":
        inputs.pop()
    outputs = vocabulary_path(name).with_suffix(".gguf.out").read_text().splitlines()
    return [(text, [int(number) for number in line.split()]) for text, line in zip(inputs, outputs, strict=True)]
