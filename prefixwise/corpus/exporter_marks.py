"""What exporters leave in place of text that they cut or blotted out.

Only what no prompt says by itself counts: the words of known exporters, and a text that is nothing but a mask.
LiteLLM writes `litellm_truncated` and `redacted-by-litellm` (litellm/constants.py, 1.110), Langfuse's SDKs
`<truncated due to size exceeding limit>`, Helicone `request body too large`.
"""

from __future__ import annotations

import re

from prefixwise.core.request import Mark, Turn

_CUT = (b"litellm_truncated skipped ", b"<truncated due to size exceeding limit>")
_CUT_SIGN = b"truncated"
"""Stands in all of them."""
_LONGEST_MASK = 80
_WORDS = "redacted|masked|filtered|scrubbed|hidden|confidential|sensitive|anonymi[sz]ed|pii"
_MASK = re.compile(
    rf"(?i)\s*(redacted-by-\w+|[\[<(*{{]+\s*({_WORDS}|content omitted)\b[^\]>)*}}]{{0,60}}[\]>)*}}]+"
    r"|\*{3,}|█{2,}|sha(?:1|256|512):[0-9a-f]{16,128})\s*"
)
_MASKS = re.compile(
    rf"(?i:\[(?:{_WORDS})\b[^\]\n]{{0,40}}\]|<(?:{_WORDS})\b[^>\n]{{0,40}}>|\{{\{{(?:{_WORDS})\b[^}}\n]{{0,40}}\}}\}})"
    r"|\*{3,}|█{2,}|[\[<][A-Z][A-Z_ ]{2,20}:[0-9a-f]{6,64}[\]>]"
)
_MOST_MASKS = 50
_MOST_MASKED = 200
"""Characters that one mask may stand for."""


def marks_of(raw: bytes, turn: Turn) -> int:
    """Return the `Mark` bits of an item: whether an exporter cut it or blotted it out.

    Args:
        raw: Its JSON.
        turn: The same, read.
    """
    marks = int(Mark.CUT) if _CUT_SIGN in raw and any(word in raw for word in _CUT) else 0
    for part in turn.parts:
        if 0 < len(part.text) <= _LONGEST_MASK and _MASK.fullmatch(part.text):
            marks |= Mark.REDACTED
    return marks


def masks_apart(one: str, other: str) -> bool:
    """Say whether two texts differ in nothing but what a mask hides in one of them, or in both."""
    bare, other_bare = _MASKS.sub("\0", one), _MASKS.sub("\0", other)
    masked, plain = (bare, other) if "\0" in bare else (other_bare, one)
    if "\0" not in masked or masked.count("\0") > _MOST_MASKS:
        return False
    return bare == other_bare or _fits(masked.split("\0"), plain)


def _fits(pieces: list[str], text: str) -> bool:
    """Say whether a text is made of pieces in their order, with a little between them."""
    if not text.startswith(pieces[0]) or not text.endswith(pieces[-1]):
        return False
    at = len(pieces[0])
    for piece in pieces[1:-1]:
        found = text.find(piece, at, at + _MOST_MASKED + len(piece))
        if found < 0:
            return False
        at = found + len(piece)
    return 0 <= len(text) - len(pieces[-1]) - at <= _MOST_MASKED
