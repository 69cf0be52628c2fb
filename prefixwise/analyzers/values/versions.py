"""Whether a differing value names a version: of a program, a prompt, a model."""

from __future__ import annotations

import re

from prefixwise.analyzers.values.kinds import Candidate, SpanKind
from prefixwise.analyzers.values.labels import word_set
from prefixwise.analyzers.values.quotes import Quoted, words_of
from prefixwise.core.finding import Confidence

_VERSION = re.compile(
    r"[vV]?\d{1,4}(?:\.\d{1,5}){1,3}(?:[-+.]?(?:[a-z]{1,8}\.?\d{0,6}|\d{1,6}))?|[vV]\d{1,4}|[rR]\d{1,6}"
)
_DATED = re.compile(r"\d{4}-\d\d(?:-\d\d)?(?:[.-][a-z0-9]{1,10})?")
_ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
_PARTS = re.compile(r"[vV]\d|\d+\.\d+\.\d|\d(?:rc|alpha|beta|dev|b|a)\d|-(?:rc|alpha|beta|dev|snapshot)", re.IGNORECASE)
_MODEL = re.compile(
    r"(?:[a-z]{2,12}[./])?(?:gpt|chatgpt|o[1-9]|claude|gemini|gemma|llama|mistral|mixtral|codestral|qwen|deepseek|grok|command|phi|glm|kimi|"
    r"nova|titan|sonnet|opus|haiku|yi|jamba|minimax)\b[-\w.:@]*",
    re.IGNORECASE,
)
_SECTIONS = word_set("section clause chapter figure table item paragraph article rule appendix annex")
_WORDS = word_set(
    """
    version versions ver build release rev revision tag changelog sdk api schema firmware client agent edition
    """
)


def is_version(value: str) -> bool:
    """Tell whether a value is the number of a version: `v3.2.1`, `2.0.0-rc1`, `build 812` is one by its label only."""
    if _VERSION.fullmatch(value) is None or _ADDRESS.fullmatch(value):
        return False
    return _PARTS.search(value) is not None


def is_model(value: str) -> bool:
    """Tell whether a value names a language model: `gpt-4o-2024-08-06`, `claude-sonnet-4-5`."""
    return _MODEL.fullmatch(value) is not None and len(value) > 2


def version(place: Quoted) -> Candidate | None:
    """Return the reading of a difference as another version."""
    if not place.swapped:
        return None
    values = place.old.value.rpartition("/")[2], place.new.value.rpartition("/")[2]
    if all(map(is_model, values)):
        return Candidate(SpanKind.VERSION, Confidence.LIKELY, ("both name a model",))
    told = bool((frozenset(words_of(place.left)[-1:]) | place.label_words) & _WORDS)
    if all(map(is_version, values)) and not place.words_before & _SECTIONS:
        return Candidate(SpanKind.VERSION, Confidence.LIKELY, ("both are numbers of a version",))
    if told and all(_VERSION.fullmatch(value) or value.isdigit() or _DATED.fullmatch(value) for value in values):
        return Candidate(SpanKind.VERSION, Confidence.LIKELY, ("the word before it speaks of a version",))
    return None
