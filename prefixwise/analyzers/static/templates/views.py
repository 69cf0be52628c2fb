"""Text as a template reads it, and where each of its characters stands in the file."""

from __future__ import annotations

from array import array


class View:
    """A stretch of a file as the program that reads the file sees it: escapes resolved, indentation taken off.

    Args:
        text: What is seen.
        base: Where it stands in the file, if it stands there as it is.
        places: Otherwise: where each of its characters begins, and where it ends.
    """

    __slots__ = ("_base", "_places", "text")

    def __init__(self, text: str, base: int = 0, places: tuple[array[int], array[int]] | None = None) -> None:
        self.text = text
        self._base = base
        self._places = places

    def start(self, index: int) -> int:
        """Return the offset in the file at which a stretch begins that begins with character `index`."""
        if self._places is None:
            return self._base + index
        starts, ends = self._places
        if index < len(starts):
            return starts[index]
        return ends[-1] if len(ends) else self._base

    def end(self, index: int) -> int:
        """Return the offset in the file at which a stretch ends that ends before character `index`."""
        if self._places is None:
            return self._base + index
        return self._places[1][index - 1] if index else self.start(0)

    def part(self, start: int, end: int) -> View:
        """Return a view of a part."""
        if self._places is None:
            return View(self.text[start:end], self._base + start)
        starts, ends = self._places
        return View(self.text[start:end], self.start(start), (starts[start:end], ends[start:end]))


class ViewBuilder:
    """Puts a view together from characters that are taken over and characters that are written otherwise."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._pieces: list[str] = []
        self._starts = array("q")
        self._ends = array("q")

    def take(self, start: int, end: int) -> None:
        """Add what stands from `start` to `end` as it is."""
        if start < end:
            self._pieces.append(self._source[start:end])
            self._starts.extend(range(start, end))
            self._ends.extend(range(start + 1, end + 1))

    def put(self, text: str, start: int, end: int) -> None:
        """Add `text`, for which `start` to `end` stands in the file."""
        self._pieces.append(text)
        self._starts.extend([start] * len(text))
        self._ends.extend([end] * len(text))

    def view(self, base: int) -> View:
        """Return the view; `base` is where it stands if it is empty."""
        return View("".join(self._pieces), base, (self._starts, self._ends))
