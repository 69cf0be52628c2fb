"""How turns become segments: the framing between texts, and the texts themselves.

Hosted providers do not publish their templates. The assumed one frames each message as
`<start>role<message>text<end>` and opens the reply with `<start>assistant<message>`; that is three tokens a
message plus its role and three for the reply, as OpenAI's cookbook counts chat messages. Tool definitions
stand as compact JSON in their logged order. Between parts of one message stands one separator.
"""

from __future__ import annotations

import hashlib
from array import array

import msgspec

from prefixwise.core.request import Part, Turn
from prefixwise.corpus.tokenizer import BYTES_PER_ID, FIRST_PRIVATE_ID, Tokenizer

START, MESSAGE, END, SEPARATOR = (FIRST_PRIVATE_ID + offset for offset in range(4))
PRIVATE_NAMES = {START: "⟨start⟩", MESSAGE: "⟨message⟩", END: "⟨end⟩", SEPARATOR: "⟨part⟩"}
# Shorter texts are one segment; longer ones are cut at lines, so that texts which differ in a line share the rest.
_LONG_TEXT = 2048
_MEDIA_BIT = 0x80000000


class Piece(msgspec.Struct, frozen=True):
    """One segment of a rendered turn.

    Attributes:
        text: The text to be encoded; empty for framing, ids and media.
        ids: The ids themselves, where the piece is not text.
        part: Index of the turn's part that it belongs to, -1 for framing.
        cut: Whether the text is one of several into which a long text was cut.
    """

    text: str = ""
    ids: bytes = b""
    part: int = -1
    cut: bool = False


class AssumedTemplate:
    """The assumed chat framing, in the vocabulary of one tokenizer."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        start, message, end = tokenizer.frame or (START, MESSAGE, END)
        self._start, self._message, self.end = _packed(start), _packed(message), _packed(end)
        self._separator = _packed(SEPARATOR)
        self._openings: dict[tuple[str, str], bytes] = {}
        self.reply = self.opening("assistant")

    def opening(self, role: str, name: str = "") -> bytes:
        """Return the ids that open a turn of `role`."""
        ids = self._openings.get((role, name))
        if ids is None:
            ids = self._start + self.tokenizer.encode(f"{role}:{name}" if name else role) + self._message
            self._openings[role, name] = ids
        return ids

    def plain_text(self, turn: Turn) -> tuple[bytes, list[str], bytes] | None:
        """Return (opening, pieces of the text, end) of a turn that is one text, which most are; else None."""
        if len(turn.parts) != 1:
            return None
        part = turn.parts[0]
        if not part.text or part.marker is not None:
            return None
        texts = [part.text] if len(part.text) < _LONG_TEXT else self.tokenizer.cut(part.text)
        if turn.role is None:
            return b"", texts, b""
        return self.opening(turn.role, turn.name), texts, self.end

    def pieces(self, turn: Turn) -> list[Piece]:
        """Return the segments of `turn`; the ids of the turn are theirs, laid end to end."""
        pieces = []
        if turn.role is not None:
            pieces.append(Piece(ids=self.opening(turn.role, turn.name)))
        for index, part in enumerate(turn.parts):
            if index:
                pieces.append(Piece(ids=self._separator))
            pieces.extend(self._part_pieces(index, part))
        if turn.role is not None:
            pieces.append(Piece(ids=self.end))
        return pieces

    def _part_pieces(self, index: int, part: Part) -> list[Piece]:
        if part.media:
            return [Piece(ids=media_ids(part.media, part.tokens), part=index)]
        if part.ids:
            return [Piece(ids=array("I", part.ids).tobytes(), part=index)]
        texts = [part.text] if len(part.text) < _LONG_TEXT else self.tokenizer.cut(part.text)
        return [Piece(text=text, part=index, cut=len(texts) > 1) for text in texts]


def media_ids(digest: bytes, tokens: tuple[int, int]) -> bytes:
    """Return stand-in ids for a media part: as many as it takes (the middle of a band), all from its content hash."""
    count = max(1, (tokens[0] + tokens[1]) // 2)
    ids = array("I", hashlib.shake_128(digest).digest(BYTES_PER_ID * count))
    return array("I", (token | _MEDIA_BIT for token in ids)).tobytes()


def _packed(token: int) -> bytes:
    return array("I", (token,)).tobytes()
