"""Special tokens in text: where they stand, and the segments that lie between them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_GAP = 2


class SpecialTokens:
    """Finds tokens in text as engines do: from the left, the longest of those that begin at one place.

    Args:
        tokens: Their texts, none of them empty.
        cuts: Those of them at which `segments` cuts.
    """

    def __init__(self, tokens: Iterable[str], cuts: Iterable[str]) -> None:
        self._cuts = frozenset(cuts)
        self._pattern = _pattern(tokens)

    def find(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield (start, end) of each token in `text`."""
        if self._pattern is not None:
            for match in self._pattern.finditer(text):
                yield match.span()

    def ending(self, text: str) -> int | None:
        """Return where the run of cutting tokens that ends `text` begins, white space between and behind them."""
        begins, at = None, len(text)
        for start, end in reversed([span for span in self.find(text) if text[slice(*span)] in self._cuts]):
            if text[end:at].strip():
                break
            begins = at = start
        return begins

    def segments(self, text: str) -> list[str]:
        """Cut `text` before each run of special tokens; laid end to end, the segments are the text.

        A segment begins with its special tokens and ends with the text behind them, so what stands before a text in
        its segment is what stands before it in the whole. A line feed or two between special tokens part no run.
        """
        if self._pattern is None:
            return [text] if text else []
        segments = []
        start = run_end = 0
        for match in self._pattern.finditer(text):
            if match.group() not in self._cuts:
                continue
            at = match.start()
            if at > run_end and (at - run_end > _GAP or not text[run_end:at].isspace()):
                segments.append(text[start:at])
                start = at
            run_end = match.end()
        if start < len(text):
            segments.append(text[start:])
        return segments


def _pattern(tokens: Iterable[str]) -> re.Pattern[str] | None:
    """Return an expression for any of `tokens`, longest first, those of one beginning grouped to be ruled out at once.

    Texts that differ in their first two characters never begin at one place, so grouping keeps the order.
    """
    groups: dict[str, list[str]] = {}
    for token in sorted(set(tokens), key=lambda token: (-len(token), token)):
        groups.setdefault(token[:2], []).append(token[2:])
    if not groups:
        return None
    singles = [head for head in groups if len(head) == 1]
    branches = [
        f"{re.escape(head)}(?:{'|'.join(map(re.escape, rests))})" for head, rests in groups.items() if len(head) == 2
    ]
    return re.compile("|".join(branches + [re.escape(single) for single in singles]))
