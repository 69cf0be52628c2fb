"""Stretches of a prompt in which braces are text: code, comments, formulas."""

from __future__ import annotations

import re

_FENCE = re.compile(r"^[ \t]{0,3}(`{3,}|~{3,})[^\n]*$", re.MULTILINE)
_INLINE = re.compile(r"(?<!`)(`{1,2})(?!`)[^`\n]+\1(?!`)")
# A command of LaTeX with its arguments, and what stands above or below the line.
_GROUP = r"(?:\{[^{}\n]*\}|\{\{[^{}\n]*\}\})"
_FORMULA = re.compile(rf"\\[A-Za-z]{{2,}}\*?(?:\[[^\]\n]*\])?{_GROUP}+|[_^]{_GROUP}")
# Between single dollars; `${a} and ${b}` are placeholders, `$5 and $6` prices.
_DOLLARS = re.compile(r"\$(?![\s{])[^$\n]+(?<!\s)\$(?![\d{])")
_COMMENT = (("<!--", "-->"),)
_FORMULAS = (("$$", "$$"),)
_BACKSLASHED = (("\\[", "\\]"), ("\\(", "\\)"), ("\\begin{", "\\end{"))


def literal_regions(text: str) -> list[tuple[int, int]]:
    """Return the stretches of fenced and inline code, comments and formulas, in order and apart from each other."""
    found = _fences(text) if "```" in text or "~~~" in text else []
    pairs = _COMMENT + (_FORMULAS if "$" in text else ()) + (_BACKSLASHED if "\\" in text else ())
    for opening, closing in pairs:
        found += _between(text, opening, closing)
    found += [match.span() for match in _INLINE.finditer(text)] if "`" in text else []
    if "\\" in text or "_{" in text or "^{" in text:
        found += [match.span() for match in _FORMULA.finditer(text)]
        found += [match.span() for match in _DOLLARS.finditer(text) if "\\" in match[0]]
    return _apart(found)


def _between(text: str, opening: str, closing: str) -> list[tuple[int, int]]:
    found = []
    start = text.find(opening)
    while start >= 0:
        end = text.find(closing, start + len(opening))
        if end < 0:
            break
        found.append((start, end + len(closing)))
        start = text.find(opening, end + len(closing))
    return found


def _fences(text: str) -> list[tuple[int, int]]:
    """Return fenced code; a fence that is not closed reaches to the end, as Markdown has it."""
    found = []
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence
        elif fence[1].startswith(opened[1]) and fence[0].strip() == fence[1]:
            found.append((opened.start(), fence.end()))
            opened = None
    if opened is not None:
        found.append((opened.start(), len(text)))
    return found


def _apart(regions: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(regions):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


class Regions:
    """Regions that are asked for one place after the other."""

    def __init__(self, regions: list[tuple[int, int]]) -> None:
        self._regions = regions
        self._at = 0

    def cover(self, offset: int) -> bool:
        """Say whether an offset stands in one of them; offsets are asked in rising order."""
        while self._at < len(self._regions) and self._regions[self._at][1] <= offset:
            self._at += 1
        return self._at < len(self._regions) and self._regions[self._at][0] <= offset
