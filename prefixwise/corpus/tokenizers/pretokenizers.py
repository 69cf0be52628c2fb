"""How byte-level BPE vocabularies in GGUF files split text into words, by the file's `tokenizer.ggml.pre`.

Facts of llama.cpp (`src/llama-vocab.cpp`, the release vendored in llama-cpp-python 0.3.36): a name stands for regular
expressions that are applied one after the other; each splits the pieces that those before it left, and what an
expression does not match is a piece of its own. Where llama.cpp only spells an expression of the model's own
tokenizer differently, the original stands here.
"""

from __future__ import annotations

import msgspec

# Spelt out, since `(?i:s)` would match U+017F as well.
_CONTRACTIONS = r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
_SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_CJK = r"[\u4e00-\u9fa5\u3040-\u30ff]+"
_PUNCTUATED = (
    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+"""
)
# Letters that are cased, as DeepSeek's first tokenizers list them.
_CASED = (
    r"A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af\u0370-\u0373"
    r"\u0376\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03f5\u03f7-\u0481"
    r"\u048a-\u052f\u0531-\u0556\u10a0-\u10c5\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba\u1cbd-\u1cbf\u1d00-\u1d2b"
    r"\u1d6b-\u1d77\u1d79-\u1d9a\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45\u1f48-\u1f4d\u1f50-\u1f57\u1f59\u1f5b"
    r"\u1f5d\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb"
    r"\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc\u2102\u2107\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128"
    r"\u212a-\u212d\u212f-\u2134\u2139\u213c-\u213f\u2145-\u2149\u214e\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4"
    r"\u2ceb-\u2cee\u2cf2\u2cf3\ua640-\ua66d\ua680-\ua69b\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf"
    r"\ufb00-\ufb06\ufb13-\ufb17\uff21-\uff3a\uff41-\uff5a\x{10400}-\x{1044f}\x{104b0}-\x{104d3}"
    r"\x{104d8}-\x{104fb}\x{10c80}-\x{10cb2}\x{10cc0}-\x{10cf2}\x{118a0}-\x{118df}\x{1e900}-\x{1e943}"
)


def _gpt4(digits: str = r"\p{N}{1,3}", letters: str = r"\p{L}", symbols: str = r"\p{L}\p{N}") -> str:
    """Return the pattern of `cl100k_base`, which most newer tokenizers vary."""
    return rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?{letters}+|{digits}| ?[^\s{symbols}]+[\r\n]*|{_SPACES}"


def _cased(letters: str, contractions: str, digits: str) -> str:
    """Return the pattern of `o200k_base` as llama.cpp has it: only ASCII letters tell upper from lower case."""
    upper, lower = rf"(?:(?=[{letters}])[^a-z])", rf"(?:(?=[{letters}])[^A-Z])"
    head = r"[^\r\n\p{L}\p{N}]?"
    return (
        rf"{head}{upper}*{lower}+{contractions}|{head}{upper}+{lower}*{contractions}|{digits}"
        rf"| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_SPACES}"
    )


_DEFAULT = (r"[\p{P}$+<=>^~|]+", _GPT2, r"\p{N}+", r"[0-9][0-9][0-9]")
_DEEPSEEK_3 = (r"\p{N}{1,3}", _CJK, rf"{_PUNCTUATED}[\r\n]*|{_SPACES}")
_DIGITS_APART = (r"\p{N}", _GPT2)
_NOT_PUNCTUATION = r" ?[^(\s|.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c)]+"


class PreTokenizer(msgspec.Struct, frozen=True):
    """How one family of vocabularies splits text.

    Attributes:
        patterns: Regular expressions in the syntax of Oniguruma, in the order in which they are applied.
        ignore_merges: Whether a word that is a token is taken whole, whatever the merges say.
        add_bos: Whether a text begins with the BOS token where the file does not say.
        cut_lines: Whether a line feed and a following letter or digit are always split.
    """

    patterns: tuple[str, ...]
    ignore_merges: bool = False
    add_bos: bool = False
    cut_lines: bool = False


_LLAMA_3 = PreTokenizer((_gpt4(),), ignore_merges=True, add_bos=True, cut_lines=True)
_LLAMA_3_MERGED = PreTokenizer((_gpt4(),), cut_lines=True)
_QWEN_2 = PreTokenizer((_gpt4(r"\p{N}"),), cut_lines=True)
_GPT_2 = PreTokenizer((_GPT2,))
_SMOLLM = PreTokenizer(_DIGITS_APART)
_DEEPSEEK = PreTokenizer(_DEEPSEEK_3)
_GPT_4O = PreTokenizer((_cased(r"\p{L}", f"{_CONTRACTIONS}?", r"\p{N}{1,3}"),), cut_lines=True)
_AYA_LETTERS = r"[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+"
_AYA = (
    r"\d{1,3}(?=(?:\d{3})*\b)",
    rf"{_AYA_LETTERS}{_CONTRACTIONS}?|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_SPACES}",
)
_RUNS_OF_SPACES = "|".join(rf"\s{{{size}}}(?!\S)" for size in (512, 256, 128, 64, 32, 16, 8, 4)) + r"|\s{1,2}(?!\S)|\s"

PRE_TOKENIZERS: dict[str, PreTokenizer] = {
    "default": PreTokenizer(_DEFAULT),
    **dict.fromkeys(
        ("llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2", "jina-v5-nano"),
        _LLAMA_3,
    ),
    **dict.fromkeys(("dbrx", "smaug-bpe", "chatglm-bpe"), _LLAMA_3_MERGED),
    **dict.fromkeys(("glm4", "glm5"), PreTokenizer((_gpt4(),), ignore_merges=True, cut_lines=True)),
    "minicpm5": PreTokenizer((r"\p{N}{1,3}", _gpt4(r"\p{N}+")), ignore_merges=True, cut_lines=True),
    **dict.fromkeys(
        ("qwen2", "deepseek-r1-qwen", "kormo", "f2llmv2", "stablelm2", "hunyuan", "megrez", "solar-open", "grok-2"),
        _QWEN_2,
    ),
    "qwen35": PreTokenizer((_gpt4(r"\p{N}", r"[\p{L}\p{M}]", r"\p{L}\p{M}\p{N}"),), cut_lines=True),
    "seed-coder": PreTokenizer(
        (rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}| ?[^\s\p{{L}}\p{{N}}\r\n]+|{_SPACES}",),
        cut_lines=True,
    ),
    "ufakzeka": PreTokenizer(
        (rf"[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_SPACES}",), cut_lines=True
    ),
    **dict.fromkeys(
        ("bailingmoe", "bailingmoe2", "llada-moe"),
        PreTokenizer(
            (
                r"'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
                r"|\s*[\r\n]|\s+(?!\S)|\s+",
            )
        ),
    ),
    "jais-2": PreTokenizer((_gpt4().replace(r"\s+(?!\S)|\s+", _RUNS_OF_SPACES),)),
    "exaone-moe": PreTokenizer(
        (
            rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?(?:\p{{L}}\p{{M}}*(?: \p{{L}}\p{{M}}*)*)+|\p{{N}}"
            r"| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+",
        )
    ),
    "laguna": PreTokenizer((r"[^\n]+|[\n]+", _gpt4(r"\p{N}")), cut_lines=True),
    **dict.fromkeys(("gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2"), _GPT_4O),
    "granite-embed-multi-97m": PreTokenizer(
        (_cased(r"\p{L}\p{M}", f"{_CONTRACTIONS}?", r"\p{N}{1,3}"),), ignore_merges=True, cut_lines=True
    ),
    "tekken": PreTokenizer((_cased(r"\p{L}", "", r"\p{N}"),), ignore_merges=True, add_bos=True, cut_lines=True),
    **dict.fromkeys(("tiny_aya", "cohere2moe"), PreTokenizer(_AYA)),
    # llama.cpp takes every space beyond ASCII for a vertical tab here, so U+3000 is none of the punctuation.
    "deepseek-llm": PreTokenizer(
        (
            r"[\r\n]",
            rf"\s?[{_CASED}]+",
            r"\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3001\u3002]+",
            r"\s+$",
            r"[\u0800-\u9fa5\uac00-\ud7ff]+",
            r"\p{N}+",
        ),
    ),
    "deepseek-coder": PreTokenizer((r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", r"[\u0800-\u9fa5\uac00-\ud7ff]+", r"\p{N}")),
    **dict.fromkeys(("deepseek-v3", "hunyuan-dense", "joyai-llm", "hy_v4"), _DEEPSEEK),
    "spark2_5": PreTokenizer((r"\p{N}{1,3}", _CJK, rf"{_PUNCTUATED}|[\r\n]|\s+(?!\S)|\s+", r"\p{N}")),
    "falcon": PreTokenizer((r"[\p{P}$+<=>^~|`]+", _GPT2, r"[0-9][0-9][0-9]")),
    **dict.fromkeys(
        ("starcoder", "refact", "command-r", "smollm", "codeshell", "exaone", "minerva-7b", "mellum2"), _SMOLLM
    ),
    **dict.fromkeys(
        ("gpt-2", "phi-2", "jina-es", "jina-de", "gigachat", "jina-v2-es", "jina-v2-de", "a.x-4.0", "mellum"), _GPT_2
    ),
    **dict.fromkeys(("modern-bert", "mpt", "olmo", "jais", "trillion", "granite-docling", "exaone4"), _GPT_2),
    **dict.fromkeys(("jina-v1-en", "jina-v2-code", "roberta-bpe"), _GPT_2),
    **dict.fromkeys(("poro-chat", "bloom", "gpt3-finnish"), PreTokenizer((_NOT_PUNCTUATION,))),
    "viking": PreTokenizer((_NOT_PUNCTUATION, r"\p{N}")),
}
"""By name. Left out are those that llama.cpp handles by code of its own (kimi-k2, afmoe, superbpe, youtu, chameleon,
hybriddna, whitespace)."""

WHOLE_LINES = frozenset({"gemma4", "granite-embed-multi-311m", "sarvam-moe"})
"""Names whose words are whole lines of raw UTF-8 with spaces written as U+2581."""

# As published in `tokenizer.json` files, where they are written another way than here.
_ANY_CASE = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_LINE_CUTTING = (_gpt4().replace(_CONTRACTIONS, _ANY_CASE), _gpt4(r"\p{N}").replace(_CONTRACTIONS, _ANY_CASE))
LINE_CUTTING_PATTERNS = frozenset(
    _LINE_CUTTING + tuple(pre.patterns[-1] for pre in PRE_TOKENIZERS.values() if pre.cut_lines)
)
"""Expressions that always split between a line feed and a following letter or digit, if they split the whole text."""
