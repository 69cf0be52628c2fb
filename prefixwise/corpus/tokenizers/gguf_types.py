"""Types of tokens in GGUF files, and the tokens whose text overrules the type that a file gives them.

Facts of llama.cpp (`src/llama-vocab.cpp`, the release vendored in llama-cpp-python 0.3.36).
"""

from __future__ import annotations

NORMAL, UNKNOWN, CONTROL, USER_DEFINED = 1, 2, 3, 4
"""As in `tokenizer.ggml.token_type`. In ordinary text only user-defined tokens are recognised, in prompts all but
normal ones."""

# Ends of turns and texts first, then fill-in-the-middle.
_ALWAYS_CONTROL = frozenset(
    (
        *("<|eot_id|>", "<|im_end|>", "<|end|>", "<|return|>", "<|call|>", "<|flush|>", "<|calls|>", "<end_of_turn>"),
        *(
            "<|endoftext|>",
            "</s>",
            "<|eom_id|>",
            "<EOT>",
            "_<EOT>",
            "[EOT]",
            "[EOS]",
            "<|end_of_text|>",
            "<end_of_utterance>",
            "<eos>",
        ),
        *("<turn|>", "<|tool_response>", "<\uff5cend\u2581of\u2581sentence\uff5c>", "[e~["),
        *(
            "<|fim_prefix|>",
            "<fim-prefix>",
            "<fim_prefix>",
            "<\uff5cfim\u2581begin\uff5c>",
            "<PRE>",
            "\u2581<PRE>",
            "<|code_prefix|>",
        ),
        *(
            "<|prefix|>",
            "<|fim_suffix|>",
            "<fim-suffix>",
            "<fim_suffix>",
            "<\uff5cfim\u2581hole\uff5c>",
            "<SUF>",
            "\u2581<SUF>",
        ),
        *(
            "<|code_suffix|>",
            "<|suffix|>",
            "<|fim_middle|>",
            "<fim-middle>",
            "<fim_middle>",
            "<\uff5cfim\u2581end\uff5c>",
            "<MID>",
        ),
        *(
            "\u2581<MID>",
            "<|code_middle|>",
            "<|middle|>",
            "<|fim_pad|>",
            "<fim-pad>",
            "<fim_pad>",
            "<PAD>",
            "[PAD]",
            "<|fim_repo|>",
        ),
        *("<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>", "<|file_sep|>"),
    )
)
# Those of gpt-oss.
_ALWAYS_USER_DEFINED = frozenset(("<|channel|>", "<|message|>", "<|start|>", "<|constrain|>"))
# A vocabulary with one of these has an ordinary `</s>`.
_ORDINARY_S = ("<|tool_response>", "<|plamo:eos|>")
# A vocabulary with all of one of these recognises `<|end|>` in any text.
_DEFINED_END = (
    {"<|return|>", "<|call|>", "<|end|>"},
    {"<|return|>", "<|calls|>", "<|end|>"},
    {"<|flush|>", "<|call|>", "<|end|>"},
    {"<|flush|>", "<|calls|>", "<|end|>"},
)


def correct_types(tokens: list[str], types: list[int]) -> None:
    """Set the types of tokens that are what their text says, in place."""
    ids = {token: number for number, token in enumerate(tokens)}
    for kind, texts in ((CONTROL, _ALWAYS_CONTROL), (USER_DEFINED, _ALWAYS_USER_DEFINED)):
        for token in texts & ids.keys():
            types[ids[token]] = kind
    if "</s>" in ids and any(token in ids for token in _ORDINARY_S):
        types[ids["</s>"]] = NORMAL
    if any(needed <= ids.keys() for needed in _DEFINED_END):
        types[ids["<|end|>"]] = USER_DEFINED
