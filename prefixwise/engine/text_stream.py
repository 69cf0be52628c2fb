"""From ids to text as they come: whole characters only, and nothing of a stop string."""

from __future__ import annotations

from collections.abc import Callable, Sequence

_UNFINISHED = "\ufffd"


class TextStream:
    """The text of an answer, piece by piece; laid end to end, the pieces are the text of all ids.

    Args:
        decode: Returns the text of ids.
        stop: Texts that end the answer.

    Attributes:
        stopped: Whether a stop string has come; what follows it is dropped.
    """

    def __init__(self, decode: Callable[[list[int]], str], stop: Sequence[str] = ()) -> None:
        self.stopped = False
        self._decode = decode
        self._stop = tuple(stop)
        self._ids: list[int] = []
        # Ids from here on are decoded; the first of them were shown and are there for what they do to their neighbours.
        self._begin = 0
        self._shown = 0
        self._held = ""

    def push(self, token: int) -> str:
        """Add an id and return the text that can be shown now."""
        self._ids.append(token)
        text = self._decode(self._ids[self._begin :])
        whole = not text.endswith(_UNFINISHED)
        new = text[self._shown :] if whole else text[self._shown : -1]
        self._shown += len(new)
        if whole and len(self._ids) - self._begin > 1:
            self._begin = len(self._ids) - 1
            alone = self._decode(self._ids[self._begin :])
            while alone.startswith(_UNFINISHED) and self._begin:  # it ends a character that others began
                self._begin -= 1
                alone = self._decode(self._ids[self._begin :])
            self._shown = len(alone)
        return self._release(new)

    def end(self) -> str:
        """Return what was held back, when no more ids come."""
        if self.stopped:
            return ""
        rest = self._decode(self._ids[self._begin :])[self._shown :]
        released = self._release(rest)
        held, self._held = self._held, ""
        return released + ("" if self.stopped else held)

    def _release(self, new: str) -> str:
        """Return the text up to a stop string, and without an end that may be the beginning of one."""
        if self.stopped:
            return ""
        text = self._held + new
        found = [at for at in map(text.find, self._stop) if at >= 0]
        if found:
            self.stopped, self._held = True, ""
            return text[: min(found)]
        keep = max((_begun(text, stop) for stop in self._stop), default=0)
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep]


def _begun(text: str, stop: str) -> int:
    """Return how many characters at the end of `text` begin `stop`."""
    return next((size for size in range(min(len(text), len(stop) - 1), 0, -1) if text.endswith(stop[:size])), 0)
