"""What a template writes between the head of a prompt and the first message: nobody's text."""

from __future__ import annotations

import re

from prefixwise.corpus.texts import NodeTexts

_MOST = 12
_FRAME = re.compile(
    r"(?:⟨\w+⟩|<\|[^|<>]{1,40}\|>|</?s>|\[/?INST\]|<(?:start|end)_of_turn>|user|model|developer|human|assistant|[\s:])*",
    re.IGNORECASE,
)


def end_of_framing(texts: NodeTexts, node: int, depth: int, end: int) -> int:
    """Return the depth up to which what follows `depth` on the way to a node is framing only.

    Args:
        texts: The texts of nodes.
        node: Where a prompt ends.
        depth: Where its head ends.
        end: Its tokens.
    """
    found = depth
    for stop in range(depth + 1, min(depth + _MOST, end) + 1):
        if _FRAME.fullmatch(texts.between(node, depth, stop)) is None:
            break
        found = stop
    return found
