"""The turns inside a prompt that came rendered: chat templates open each with the name of who speaks."""

from __future__ import annotations

import re

_OPENINGS = re.compile(
    r"<\|im_start\|>(?P<chatml>\w+)\n?"
    r"|<\|start_header_id\|>(?P<llama>\w+)<\|end_header_id\|>\n*"
    r"|<start_of_turn>(?P<gemma>\w+)\n?"
    r"|<\|start\|>(?P<harmony>\w+)(?:<\|channel\|>\w+)?<\|message\|>"
    r"|<\|(?P<bare>system|user|assistant|observation|tool)\|>\n?"
    r"|<｜(?P<deepseek>User|Assistant)｜>"
    r"|(?P<asked>\[INST\])|(?P<answered>\[/INST\])"
)
_CLOSINGS = (
    "<|im_end|>",
    "<|eot_id|>",
    "<end_of_turn>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<｜end▁of▁sentence｜>",
    "</s>",
)
_START = (
    "<s>",
    "<bos>",
    "<|begin_of_text|>",
    "<｜begin▁of▁sentence｜>",
    "<|startoftext|>",
    "[BOS]",
    "<BOS_TOKEN>",
)
_LEAST = 2


def turns_in(text: str) -> list[tuple[str, str]]:
    """Return (role, text) of each turn of a rendered prompt; none where no template's marks are in it.

    The opening of the answer, which ends most prompts, is no turn.
    """
    found = list(_OPENINGS.finditer(text))
    if len(found) < _LEAST:
        return []
    ends = [match.start() for match in found[1:]] + [len(text)]
    turns = [(_role(match), _unclosed(text[match.end() : end])) for match, end in zip(found, ends, strict=True)]
    return turns[:-1] if not turns[-1][1].strip() else turns


def start_tokens(text: str) -> int:
    """Return how often the token that starts a prompt is spelt out at its start."""
    token = next((token for token in _START if text.startswith(token)), "")
    count = 0
    while token and text.startswith(token, count * len(token)):
        count += 1
    return count


def _unclosed(text: str) -> str:
    """Return the text of a turn without the marks that close it, and the white space around them."""
    stripped = text.rstrip()
    while (closing := next((mark for mark in _CLOSINGS if stripped.endswith(mark)), "")) != "":
        text = stripped = stripped.removesuffix(closing).rstrip()
    return text


def _role(match: re.Match[str]) -> str:
    if match["asked"]:
        return "user"
    if match["answered"]:
        return "assistant"
    role = next(name for name in match.groups() if name).lower()
    return "assistant" if role == "model" else role
