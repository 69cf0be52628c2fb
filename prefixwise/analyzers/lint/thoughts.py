"""Thoughts that stand between tags in a text."""

from __future__ import annotations

import re

_SPELT_OUT = re.compile(r"(?s)<(think|thinking|thought|reasoning)>.*?</\1>\s*")


def without_thoughts(text: str) -> str:
    """Return a text without the thoughts that stand between tags in it, and without white space at its ends."""
    return _SPELT_OUT.sub("", text).strip()


def has_thoughts(text: str) -> bool:
    """Say whether thoughts stand between tags in a text."""
    return _SPELT_OUT.search(text) is not None
