"""What exporters leave in place of text that they cut or blotted out.

Only what no prompt says by itself counts: the words of known exporters, and a text that is nothing but a mask.
LiteLLM writes `litellm_truncated` and `redacted-by-litellm` (litellm/constants.py, 1.110), Langfuse's SDKs
`<truncated due to size exceeding limit>`, Helicone `request body too large`.
"""

from __future__ import annotations

import re

from prefixwise.core.request import Mark, Turn

_CUT = (b"litellm_truncated skipped ", b"<truncated due to size exceeding limit>")
_LONGEST_MASK = 80
_MASK = re.compile(
    r"(?i)\s*(redacted-by-litellm|[\[<(*{]+\s*(redacted|masked|content omitted)[^\]>)*}]{0,60}[\]>)*}]+)\s*"
)


def marks_of(raw: bytes, turn: Turn) -> int:
    """Return the `Mark` bits of an item: whether an exporter cut it or blotted it out.

    Args:
        raw: Its JSON.
        turn: The same, read.
    """
    marks = Mark.CUT if any(word in raw for word in _CUT) else 0
    for part in turn.parts:
        if 0 < len(part.text) <= _LONGEST_MASK and _MASK.fullmatch(part.text):
            marks |= Mark.REDACTED
    return int(marks)
