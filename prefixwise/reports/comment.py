"""Markdown cut to what fits a comment, at a place where no list, table or fence is left open."""

from __future__ import annotations

from collections.abc import Sequence

_TABLE_HEAD = 2
_JOINT = 2
"""Characters between two parts."""


def fitting(parts: Sequence[str], closing: Sequence[str], limit: int) -> str:
    """Return as many of `parts` as fit `limit` characters, a note that the rest is missing, and the closing lines.

    A table keeps the rows that fit. Of the closing lines those that a quarter of the room holds are kept.
    """
    end = _lines(closing, limit // 4)
    note = "*This is cut: a comment holds no more. The whole report is in the other formats.*"
    room = limit - len(note) - len(end) - 2 * _JOINT - 1
    kept: list[str] = []
    for part in parts:
        shown = part if len(part) <= room else _rows(part, room)
        if shown:
            kept.append(shown)
            room -= len(shown) + _JOINT
        if shown != part:
            break
    return "\n\n".join([*kept, note, *([end] if end else [])]) + "\n"


def _rows(part: str, room: int) -> str:
    """Return the rows of a table that fit, nothing of what is none."""
    if not part.startswith("| "):
        return ""
    shown = _lines(part.split("\n"), room)
    return shown if shown.count("\n") >= _TABLE_HEAD else ""


def _lines(lines: Sequence[str], room: int) -> str:
    kept = []
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    return "\n".join(kept)
