"""Edits of a text: whether they fit together, and what they make of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from prefixwise.core.finding import Edit, Safety


class Mended(msgspec.Struct, frozen=True):
    """Edits that mend one finding, and whether a person has to look at them first."""

    edits: tuple[Edit, ...]
    safety: Safety


def edited(text: str, edits: Iterable[Edit]) -> str:
    """Return a text with edits made; of several insertions at one place the first comes first.

    What the edits do not touch is what it was, to the last code point.

    Args:
        text: The file, decoded and otherwise unchanged.
        edits: Of this file, without two that overlap.

    Raises:
        ValueError: One of them lies outside the text, or two overlap.
    """
    pieces: list[str] = []
    at = 0
    for edit in sorted(edits, key=_place):
        if not at <= edit.start <= edit.end <= len(text):
            raise ValueError(f"the edit {edit.start}-{edit.end} overlaps another one, or the text ends before it")
        pieces += (text[at : edit.start], edit.text)
        at = edit.end
    return "".join((*pieces, text[at:]))


def fit(edits: Iterable[Edit], others: Iterable[Edit]) -> bool:
    """Say whether edits can be made beside others that are made for sure: no two touch the same code points."""
    taken = list(others)
    return not any(_clash(edit, other) for edit in edits for other in taken)


def chosen(fixes: Sequence[tuple[Edit, ...]]) -> tuple[list[int], list[Edit]]:
    """Return which of several fixes are made in one go, by their place in the sequence, and the edits of all of them.

    The first wins where two overlap; one that asks for the very same edits is made with it.
    """
    made: list[int] = []
    edits: list[Edit] = []
    seen: set[tuple[Edit, ...]] = set()
    for number, fix in enumerate(fixes):
        if fix in seen:
            made.append(number)
        elif fix and fit(fix, edits):
            made.append(number)
            seen.add(fix)
            edits += fix
    return made, edits


def _place(edit: Edit) -> tuple[int, int]:
    return edit.start, edit.end


def _clash(one: Edit, other: Edit) -> bool:
    if one.path != other.path:
        return False
    if one.start == one.end or other.start == other.end:  # an insertion clashes with what is taken away around it
        return one.start < other.end and other.start < one.end
    return max(one.start, other.start) < min(one.end, other.end)
