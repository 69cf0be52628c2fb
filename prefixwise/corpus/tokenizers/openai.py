"""OpenAI's encodings through tiktoken, without a network where the rank files are installed.

The package `bpe-openai` (extra `offline`) carries the official rank files of `o200k_base` and `cl100k_base`.
tiktoken's own constructors are run with a loader that takes the ranks from there, so pattern, special tokens and
expected SHA-256 are those of the installed tiktoken.
"""

from __future__ import annotations

import binascii
import functools
import gzip
import hashlib
import importlib.util
import re
import zlib
from array import array
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any

from prefixwise.corpus.tokenizer import OPENAI_NAMES, Tokenizer, base_name, cut_paragraphs, provider_of
from prefixwise.corpus.tokenizers.estimate import ByteEstimate

if TYPE_CHECKING:
    import tiktoken

DEFAULT_ENCODING = "o200k_base"
# tiktoken's regular expressions overflow their stack on very long runs of white space, which surfaces as a
# panic, not as an exception. 10,000 characters were always safe.
_LONGEST_RUN = 10_000
_LONG_RUN = re.compile(rf"\s{{{_LONGEST_RUN}}}")
_NO_SPECIAL: set[str] = set()
_HARMONY_FRAME = (200006, 200008, 200007)


class TiktokenTokenizer:
    """One of tiktoken's encodings."""

    exact = True

    def __init__(self, encoding: tiktoken.Encoding, note: str) -> None:
        self._encoding = encoding
        # What `Encoding.encode_to_numpy` is made of: ids as packed integers, without a list in between.
        self._packed: Callable[[str, set[str]], bytes] | None = getattr(
            encoding._core_bpe, "encode_to_tiktoken_buffer", None
        )
        self.name = encoding.name
        self.note = note
        self.frame = _HARMONY_FRAME if encoding.name == "o200k_harmony" else None

    def encode(self, text: str) -> bytes:
        """Return the ids of `text`."""
        if len(text) > _LONGEST_RUN:
            return b"".join(self._encode(piece) for piece in _without_long_runs(text))
        return self._encode(text)

    def _encode(self, text: str) -> bytes:
        if self._packed is not None:
            try:
                return bytes(self._packed(text, _NO_SPECIAL))
            except UnicodeEncodeError:  # lone surrogates, which tiktoken's public method mends
                pass
        return array("I", self._encoding.encode_ordinary(text)).tobytes()

    def cut(self, text: str) -> list[str]:
        """Cut at some line ends that are followed by a letter or digit (shown for o200k and cl100k only)."""
        if self.name.startswith(("o200k", "cl100k")):
            return cut_paragraphs(text)
        return [text]

    def decode(self, ids: list[int]) -> str:
        """Return the text of `ids`."""
        known = [token for token in ids if token < self._encoding.n_vocab]
        return self._encoding.decode(known, errors="replace")


def _without_long_runs(text: str) -> list[str]:
    """Cut runs of white space every 10,000 characters, counted from the start of the run."""
    pieces = []
    start = 0
    while run := _LONG_RUN.search(text, start):
        pieces.append(text[start : run.end()])
        start = run.end()
    pieces.append(text[start:])
    return pieces


def encoding_name(model: str) -> str | None:
    """Return the encoding of an OpenAI model by tiktoken's table, None for a name that is not OpenAI's.

    Names newer than the installed table get the newest general encoding.
    """
    import tiktoken.model

    name = base_name(model)
    try:
        return tiktoken.model.encoding_name_for_model(name)
    except KeyError:
        return DEFAULT_ENCODING if name.startswith(OPENAI_NAMES) else None


@functools.cache
def load(name: str) -> Tokenizer:
    """Return the tokenizer for one of tiktoken's encodings.

    Falls back from the installed rank files to tiktoken's own cache or download, then to a byte estimate
    whose note says why.
    """
    import tiktoken

    try:
        return TiktokenTokenizer(tiktoken.Encoding(**_offline(name)), "rank file from bpe-openai")
    except _NoRankFileError as missing:
        reason = str(missing)
    try:
        return TiktokenTokenizer(tiktoken.get_encoding(name), "rank file from tiktoken's cache or download")
    except Exception as problem:  # any network or file error: the estimate is the answer
        return ByteEstimate(
            f"{name} is not at hand ({reason}; tiktoken: {type(problem).__name__}); pip install 'prefixwise[offline]'"
        )


class _NoRankFileError(Exception):
    """The installed rank files do not serve this encoding."""


def _offline(name: str) -> dict[str, Any]:
    """Return tiktoken's constructor arguments for encoding `name`, ranks read from `bpe-openai`."""
    import tiktoken_ext.openai_public as public

    if name not in public.ENCODING_CONSTRUCTORS:
        raise _NoRankFileError(f"tiktoken has no encoding {name}")
    scope: dict[str, Any] = dict(vars(public))
    # The constructors call each other and the loader through their module's globals, hence the copies.
    for key, value in vars(public).items():
        if isinstance(value, FunctionType) and value.__module__ == public.__name__:
            scope[key] = FunctionType(value.__code__, scope, key, value.__defaults__, value.__closure__)
    scope["load_tiktoken_bpe"] = _load_ranks
    scope["data_gym_to_mergeable_bpe_ranks"] = _load_ranks
    arguments: dict[str, Any] = scope[name]()
    return arguments


def _load_ranks(source: str = "", expected_hash: str | None = None, **_other: str) -> dict[bytes, int]:
    package = importlib.util.find_spec("bpe_openai")
    if package is None or package.origin is None:
        raise _NoRankFileError("bpe-openai is not installed")
    packed = Path(package.origin).parent / "data" / f"{source.rsplit('/', 1)[-1]}.gz"
    if not source or not packed.is_file():
        raise _NoRankFileError("bpe-openai has no such rank file")
    try:
        data = gzip.decompress(packed.read_bytes())
    except (OSError, EOFError, zlib.error) as problem:
        raise _NoRankFileError(f"{packed.name} cannot be unpacked: {problem}") from None
    if hashlib.sha256(data).hexdigest() != expected_hash:
        raise _NoRankFileError(f"{packed.name} is not the official file (SHA-256 differs)")
    unpack = binascii.a2b_base64
    words = data.split()
    return dict(zip(map(unpack, words[::2]), map(int, words[1::2]), strict=True))


def choose(provider: str, model: str) -> Tokenizer:
    """Return the tokenizer that counts for `model`: its own where it is public, else o200k_base as an estimate."""
    name = encoding_name(model) if provider in ("", "openai") and model else None
    tokenizer = load(name or DEFAULT_ENCODING)
    if name is not None or not isinstance(tokenizer, TiktokenTokenizer):
        return tokenizer
    return Estimate(tokenizer, provider_of(model, provider) or model)


class Estimate:
    """Another vocabulary standing in for one that is not public or not named."""

    exact = False
    frame = None

    def __init__(self, stand_in: Tokenizer, whose: str) -> None:
        self._stand_in = stand_in
        self.name = f"estimate:{stand_in.name}"
        known = f"no public tokenizer is known for {whose}" if whose else "no model is named"
        self.note = f"{known}; {stand_in.name} stands in"
        self.encode = stand_in.encode
        self.cut = stand_in.cut
        self.decode = stand_in.decode
