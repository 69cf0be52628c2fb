"""Tokenizers from GGUF files, built from the file's own metadata.

What the metadata means is a fact of llama.cpp (`src/llama-vocab.cpp`, the release vendored in llama-cpp-python
0.3.36), whose published ids the tests compare with. transformers' own conversion is not used: it ignores
`tokenizer.ggml.pre` and splits text otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from prefixwise.core.errors import UserError
from prefixwise.corpus.chat_template import ChatTemplate
from prefixwise.corpus.prompt_tokenizer import PromptTokenizer, packed
from prefixwise.corpus.tokenizers.gguf_file import read_metadata
from prefixwise.corpus.tokenizers.gguf_types import CONTROL, UNKNOWN, USER_DEFINED, correct_types
from prefixwise.corpus.tokenizers.library import LibraryTokenizer, need_tokenizers
from prefixwise.corpus.tokenizers.pretokenizers import PRE_TOKENIZERS, WHOLE_LINES, PreTokenizer
from prefixwise.corpus.tokenizers.sentencepiece import SPACE, ScoredTokenizer

_NAMED_TOKENS = {
    "bos_token": "bos_token_id",
    "eos_token": "eos_token_id",
    "unk_token": "unknown_token_id",
    "sep_token": "seperator_token_id",  # so spelt in the files
    "pad_token": "padding_token_id",
    "cls_token": "cls_token_id",
    "mask_token": "mask_token_id",
}
_MODELS_THAT_STRIP = ("phi-3", "phi3")
_NEVER_STRIPS = frozenset(("<unk>", "<s>", "<|endoftext|>"))


class Vocabulary(msgspec.Struct, frozen=True):
    """The tokenizer part of a file's metadata: `types` by id as GGUF numbers them."""

    name: str
    path: Path
    pairs: dict[str, Any]
    tokens: list[str]
    types: list[int]

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of `tokenizer.ggml.KEY`."""
        return self.pairs.get(f"tokenizer.ggml.{key}", default)

    def needed(self, key: str) -> Any:
        """Return the value of `tokenizer.ggml.KEY`. Raises UserError where there is none."""
        value = self.get(key)
        if value is None:
            raise UserError(f"the file has no tokenizer.ggml.{key}", str(self.path))
        return value

    def of_type(self, *types: int) -> list[int]:
        """Return the ids of tokens of these types."""
        return [number for number, kind in enumerate(self.types) if kind in types]

    @property
    def source(self) -> str:
        """What reports say of it."""
        kind = self.get("model")
        return f"built from the GGUF file's metadata ({kind}, {self.get('pre', 'no pre-tokenizer named')})"


def load_gguf(path: Path, name: str) -> PromptTokenizer:
    """Return the tokenizer of a GGUF file, with its chat template where the file holds one.

    Raises:
        UserError: The file cannot be read, holds no vocabulary, or one of a kind that is not known here.
        MissingExtraError: The `tokenizers` library is not installed.
    """
    pairs = read_metadata(path)
    tokens = pairs.get("tokenizer.ggml.tokens")
    kind = pairs.get("tokenizer.ggml.model")
    if not isinstance(tokens, list) or kind is None:
        raise UserError("the file holds no vocabulary", str(path), "name a GGUF file with a tokenizer")
    build = _BUILDERS.get(kind)
    if build is None:
        known = ", ".join(sorted(_BUILDERS))
        raise UserError(f"vocabularies of the kind {kind!r} are not known (known: {known})", str(path))
    tokens = [token or f"[EMPTY_{number}]" for number, token in enumerate(tokens)]
    types = list(pairs.get("tokenizer.ggml.token_type") or [1] * len(tokens))
    if len(types) < len(tokens) or len(set(tokens)) < len(tokens):
        raise UserError("the vocabulary is damaged: token types are missing, or tokens stand in it twice", str(path))
    correct_types(tokens, types)
    vocabulary = Vocabulary(name, path, pairs, tokens, types)
    need_tokenizers()
    tokenizer = build(vocabulary)
    _add_what_it_names(tokenizer, vocabulary)
    return tokenizer


def _add_what_it_names(tokenizer: PromptTokenizer, vocabulary: Vocabulary) -> None:
    """Set the tokens that a template may name, the token that opens a bare prompt, and the chat template."""
    pairs, tokens = vocabulary.pairs, vocabulary.tokens
    for role, key in _NAMED_TOKENS.items():
        number = vocabulary.get(key)
        if isinstance(number, int) and number < len(tokens):
            tokenizer.named_tokens[role] = tokens[number]
    pre = PRE_TOKENIZERS.get(vocabulary.get("pre", ""))
    opens = vocabulary.get("model") in ("llama", "bert", "gemma4") or (pre is not None and pre.add_bos)
    bos = vocabulary.get("bos_token_id", vocabulary.get("cls_token_id"))
    if vocabulary.get("add_bos_token", opens) and isinstance(bos, int) and bos < len(tokens):
        tokenizer.opening = packed((bos,))
    templates = {"default": pairs["tokenizer.chat_template"]} if pairs.get("tokenizer.chat_template") else {}
    for other in pairs.get("tokenizer.chat_templates", ()):
        templates[other] = pairs.get(f"tokenizer.chat_template.{other}", "")
    sources = {key: source for key, source in templates.items() if isinstance(source, str) and source}
    if sources:
        tokenizer.template = ChatTemplate(sources, str(vocabulary.path), tokenizer.named_tokens)


def _library(vocabulary: Vocabulary, model: Any, normalizer: Any, pre_tokenizer: Any, decoder: Any) -> LibraryTokenizer:
    """Put a tokenizer together and add its special tokens."""
    from tokenizers import AddedToken, Tokenizer

    library = Tokenizer(model)
    if normalizer is not None:
        library.normalizer = normalizer
    library.pre_tokenizer = pre_tokenizer
    library.decoder = decoder
    tokens = vocabulary.tokens
    control = [tokens[number] for number in vocabulary.of_type(UNKNOWN, CONTROL)]
    defined = [tokens[number] for number in vocabulary.of_type(USER_DEFINED)]
    library.add_special_tokens([AddedToken(token, normalized=False) for token in control])
    library.add_tokens([AddedToken(token, normalized=False) for token in defined])
    tokenizer = LibraryTokenizer(vocabulary.name, vocabulary.source, library)
    tokenizer.set_special_tokens(control + defined, control)
    return tokenizer


def _merged(vocabulary: Vocabulary) -> PromptTokenizer:
    """Build a byte-level BPE vocabulary."""
    from tokenizers import Regex, decoders, models, pre_tokenizers

    name = vocabulary.get("pre", "default")
    if name in WHOLE_LINES:
        return _whole_lines(vocabulary)
    pre: PreTokenizer | None = PRE_TOKENIZERS.get(name)
    if pre is None:
        raise UserError(f"the pre-tokenizer {name!r} is not known", str(vocabulary.path))
    ids = _ids(vocabulary)
    # A byte without a token is dropped only when merging is over: it keeps its neighbours apart until then.
    for character in pre_tokenizers.ByteLevel.alphabet():
        ids.setdefault(character, len(ids))
    model = models.BPE(ids, _merges(vocabulary), ignore_merges=pre.ignore_merges)
    splits = [pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in pre.patterns]
    as_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    steps = pre_tokenizers.Sequence([*splits, as_bytes])
    tokenizer = _library(vocabulary, model, None, steps, decoders.ByteLevel())
    tokenizer.cuts_lines = pre.cut_lines
    if len(ids) > len(vocabulary.tokens):
        tokenizer.first_dropped = len(vocabulary.tokens)
    return tokenizer


def _whole_lines(vocabulary: Vocabulary) -> PromptTokenizer:
    """Build a BPE vocabulary over raw UTF-8 whose words are whole lines.

    llama.cpp takes a run of line feeds that is a token whole; that this follows from the merges is checked.
    """
    from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers

    ids = _ids(vocabulary)
    model = models.BPE(ids, _merges(vocabulary), byte_fallback=True)
    steps = pre_tokenizers.Split(Regex(r"[^\n]+|\n+"), "isolated")
    decoder = decoders.Sequence([decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse()])
    tokenizer = _library(vocabulary, model, normalizers.Replace(" ", SPACE), steps, decoder)
    for token in ids:
        if not token.strip("\n") and tokenizer.encode(token) != packed((ids[token],)):
            raise UserError(f"the merges do not give the vocabulary's run of {len(token)} line feeds", vocabulary.name)
    return tokenizer


def _scored(vocabulary: Vocabulary) -> PromptTokenizer:
    """Build a SentencePiece vocabulary of scored pieces."""
    model_name = str(vocabulary.pairs.get("general.name", "")).lower()
    special = vocabulary.of_type(UNKNOWN, CONTROL, USER_DEFINED)
    strips: frozenset[str] = frozenset()
    if any(name in model_name for name in _MODELS_THAT_STRIP):
        strips = frozenset(vocabulary.tokens[number] for number in special) - _NEVER_STRIPS
    tokenizer = ScoredTokenizer(
        vocabulary.name,
        vocabulary.source,
        vocabulary.tokens,
        vocabulary.needed("scores"),
        special,
        vocabulary.of_type(USER_DEFINED),
        bool(vocabulary.get("add_space_prefix", True)),
        strips,
    )
    if not tokenizer.has_all_bytes:
        raise UserError("the vocabulary has no tokens for some bytes", str(vocabulary.path))
    if strips:
        tokenizer.whole_because = "its special tokens swallow the white space behind them"
    return tokenizer


def _word_pieces(vocabulary: Vocabulary) -> PromptTokenizer:
    """Build a WordPiece vocabulary, in which words begin with U+2581 and the rest of a word does not.

    Accents are stripped as BERT's own tokenizer does it; llama.cpp keeps only the first part of a character that
    decomposes into several, Hangul syllables for example.
    """
    from tokenizers import decoders, models, normalizers, pre_tokenizers

    control = set(vocabulary.of_type(UNKNOWN, CONTROL, USER_DEFINED))
    ids = {}
    for number, token in enumerate(vocabulary.tokens):
        begins = token.startswith(SPACE)
        ids[token if number in control else token[1:] if begins else f"##{token}"] = number
    unknown = vocabulary.tokens[vocabulary.get("unknown_token_id", 100)]
    lower = bool(vocabulary.pairs.get("tokenizer.ggml.normalizer.lowercase", True))
    strip = bool(vocabulary.pairs.get("tokenizer.ggml.normalizer.strip_accents", lower))
    model = models.WordPiece(ids, unk_token=unknown, max_input_chars_per_word=1 << 30)
    normalizer = normalizers.BertNormalizer(lowercase=lower, strip_accents=strip)
    steps = pre_tokenizers.BertPreTokenizer()
    tokenizer = _library(vocabulary, model, normalizer, steps, decoders.WordPiece())
    tokenizer.exact = False
    tokenizer.source += "; accents are stripped as BERT does, not as llama.cpp does"
    return tokenizer


def _unigrams(vocabulary: Vocabulary) -> PromptTokenizer:
    """Build a SentencePiece vocabulary of the unigram kind."""
    from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers

    scores = vocabulary.needed("scores")
    pieces = list(zip(vocabulary.tokens, map(float, scores), strict=True))
    model = models.Unigram(pieces, vocabulary.get("unknown_token_id", 2), byte_fallback=False)
    steps: list[Any] = []
    if vocabulary.get("precompiled_charsmap"):
        steps.append(normalizers.Precompiled(bytes(vocabulary.get("precompiled_charsmap"))))
    if vocabulary.get("remove_extra_whitespaces"):
        steps += [normalizers.Strip(), normalizers.Replace(Regex(" {2,}"), " ")]
    scheme = "always" if vocabulary.get("add_space_prefix", True) else "never"
    space = pre_tokenizers.Metaspace(replacement=SPACE, prepend_scheme=scheme)
    decoder = decoders.Metaspace(replacement=SPACE, prepend_scheme=scheme)
    tokenizer = _library(vocabulary, model, normalizers.Sequence(steps), space, decoder)
    tokenizer.exact = False  # some normalisations differ from llama.cpp's: about one odd text in thirty
    tokenizer.source += "; normalisation is close, not exact"
    return tokenizer


def _ids(vocabulary: Vocabulary) -> dict[str, int]:
    return {token: number for number, token in enumerate(vocabulary.tokens)}


def _merges(vocabulary: Vocabulary) -> list[tuple[str, str]]:
    """Return the merges; a merge is two tokens with a space between, which is not its first character."""
    merges = []
    known = set(vocabulary.tokens)
    for line in vocabulary.needed("merges"):
        at = line.find(" ", 1)
        left, right = line[:at], line[at + 1 :]
        if at < 0 or left not in known or right not in known or left + right not in known:
            raise UserError(f"the merge {line[:40]!r} is not one of the vocabulary's tokens", str(vocabulary.path))
        merges.append((left, right))
    return merges


_BUILDERS: dict[str, Callable[[Vocabulary], PromptTokenizer]] = {
    "gpt2": _merged,
    "gemma4": _whole_lines,
    "llama": _scored,
    "bert": _word_pieces,
    "t5": _unigrams,
}
