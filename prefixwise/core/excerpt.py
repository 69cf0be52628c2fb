"""Text that is not ours, made printable: nothing invisible, no secrets, not too much of it.

Prompts, logs, paths and names come from tenants. Before any of it is printed or written it passes
through here: `visible` for what a terminal or a reader could be deceived by, `mask` for secrets and
personal data, `excerpt` for both and a cut.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Literal

from prefixwise.core.secret_shapes import Span, joined, secret_spans

LIMIT = 40
"""The most characters of a log's text that a report shows unless the user asks for more."""

_AROUND = 512
"""How far past a cut secrets are looked for: the longest shape that must be seen whole is an e-mail address."""

_KEY_FILE = 8192
"""How far before a tail a private key is looked for: one of 8,192 bits is 6.3 KB long, in many lines."""

UNSAFE = re.compile(
    "["
    r"\x00-\x1f\x7f-\xa0\xad"  # C0, DEL, C1, no-break space, soft hyphen
    r"\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"  # combining marks: é in two spellings
    r"\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f"  # bidi mark, fillers, odd space, selectors
    r"\u2000-\u200f\u2028-\u202f\u205f-\u206f"  # spaces, zero-width, bidi, line and paragraph separators
    r"\u2800\u3000\u3164\uffa0"  # what looks like a space
    r"\ud800-\udfff\ue000-\uf8ff"  # lone surrogates, private use
    r"\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\ufff0-\ufffb\ufffe\uffff"  # selectors, BOM, annotations, no characters
    r"\U00013430-\U0001343f\U00016fe4\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a"  # format controls
    r"\U0001fffe\U0001ffff\U0002fffe\U0002ffff\U0003fffe-\U0010ffff"  # no characters, tags, selectors, private use
    "]"
)
"""One character that must not reach a terminal as it is, or that a reader cannot see."""

_NAMED = {"\t": r"\t", "\n": r"\n", "\r": r"\r"}

# GitHub's runner obeys a line that starts with `::` after white space, and `##[` anywhere in a line
# (actions/runner, ActionCommand.cs); Azure Pipelines obeys `##vso[`, TeamCity `##teamcity[`.
_LEADING_COMMAND = re.compile(r"\A( *):(?=:)")
_COMMAND = re.compile(r"##(?=(?:vso|teamcity)?\[)", re.IGNORECASE)

_RUN = re.compile(r"[A-Za-z0-9+/=_.-]+")


class Excerpts(StrEnum):
    """How much of a prompt's own text a report may show."""

    NONE = "none"
    MASKED = "masked"
    FULL = "full"


def visible(text: str) -> str:
    r"""Return `text` on one line with everything that cannot be seen written as an escape.

    Control, bidi, zero-width, private-use and combining characters, lone surrogates, and every space but
    U+0020 become `\n`, `\x1b`, `\u202e` or `\U000e0041`; so do the characters that would make a line a
    command to a CI runner. Applying it twice changes nothing, for which a backslash stays as it is: a text
    that spells out an escape looks like the character itself.
    """
    shown = UNSAFE.sub(lambda match: escaped(match[0]), text)
    return _COMMAND.sub(r"#\\x23", _LEADING_COMMAND.sub(r"\1\\x3a", shown))


def escaped(character: str) -> str:
    r"""Return one character as an escape: `\n`, `\x1b`, `\u202e` or `\U000e0041`."""
    if character in _NAMED:
        return _NAMED[character]
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def mask(text: str) -> str:
    """Return `text` with secrets and personal data replaced by placeholders such as `[masked:email]`.

    Known shapes only (`core.secret_shapes` lists them): a name or an address in prose is not recognised.
    """
    return "".join(_pieces(text, secret_spans(text)))


def excerpt(
    text: str, mode: Excerpts = Excerpts.MASKED, limit: int = LIMIT, side: Literal["head", "tail"] = "head"
) -> str:
    """Return what a report may show of `text`: its head or tail, masked, cut and visible.

    Hand over the whole text, not a piece of it: secrets are recognised across the cut, so that none shows
    in part. A cut is marked by `…`, which counts. Under NONE nothing is shown; under FULL all of it,
    neither masked nor cut.

    Args:
        text: The whole text.
        mode: What the user allows.
        limit: Most characters of the (masked) text, before invisible ones are spelled out.
        side: Which end to show.
    """
    if mode is Excerpts.NONE:
        return ""
    if mode is Excerpts.FULL:
        return visible(text)
    if side == "head":
        window = text[: limit + _AROUND]
        return visible(_head(_pieces(window, secret_spans(window)), limit, more=len(window) < len(text)))
    window, spans, cut = _left_window(text, max(0, len(text) - limit - _AROUND), len(text))
    return visible(_tail(_pieces(window, spans), limit, more=cut))


def excerpt_around(text: str, at: int, mode: Excerpts = Excerpts.MASKED, limit: int = LIMIT) -> tuple[str, str]:
    """Return what a report may show before and after offset `at` of `text`, each as `excerpt` does.

    A secret that `at` falls into is masked as a whole and opens the second part: two excerpts of the two
    halves would each show a piece of it.
    """
    if mode is Excerpts.NONE:
        return "", ""
    if mode is Excerpts.FULL:
        return visible(text[:at]), visible(text[at:])
    start = max(0, at - limit - _AROUND)
    stop = min(len(text), at + limit + _AROUND)
    window, spans, cut = _left_window(text, start, stop)
    middle = at - (stop - len(window))
    middle = next((span.start for span in spans if span.start < middle < span.end), middle)
    before = [span for span in spans if span.end <= middle]
    after = [Span(s.start - middle, s.end - middle, s.kind) for s in spans if s.start >= middle]
    return (
        visible(_tail(_pieces(window[:middle], before), limit, more=cut)),
        visible(_head(_pieces(window[middle:], after), limit, more=stop < len(text))),
    )


def _left_window(text: str, start: int, stop: int) -> tuple[str, list[Span], bool]:
    """Return a window, its secrets, and whether text before it is missing.

    A run of key-like characters that the window's start cuts has lost the prefix it would be known by, so
    all of it counts as a secret; so does a private key that begins further up.
    """
    key_file = text.find("-----BEGIN ", max(0, start - _KEY_FILE), start)
    start = start if key_file < 0 else key_file
    window = text[start:stop]
    spans = secret_spans(window)
    run = _RUN.match(window)
    if start and run and _RUN.match(text[start - 1]):
        spans = joined([Span(0, run.end(), "run"), *spans])
    return window, spans, start > 0


def _pieces(text: str, spans: list[Span]) -> list[str]:
    """Return plain text and placeholders in turn, plain text first and last."""
    pieces, position = [], 0
    for span in spans:
        pieces += [text[position : span.start], f"[masked:{span.kind}]"]
        position = span.end
    return [*pieces, text[position:]]


def _head(pieces: list[str], limit: int, *, more: bool) -> str:
    """Return the first `limit` characters; a placeholder is shown whole or not at all."""
    if not more and sum(map(len, pieces)) <= limit:
        return "".join(pieces)
    kept, room = "", max(limit - 1, 0)
    for index, piece in enumerate(pieces):
        if len(piece) > room:
            kept += piece[:room] if index % 2 == 0 else ""
            break
        kept += piece
        room -= len(piece)
    return kept + "…"


def _tail(pieces: list[str], limit: int, *, more: bool) -> str:
    """Return the last `limit` characters; a placeholder is shown whole or not at all."""
    return _head([piece[::-1] for piece in reversed(pieces)], limit, more=more)[::-1]
