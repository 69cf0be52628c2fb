"""A named estimate for when no vocabulary is at hand: four bytes of UTF-8 count as one token."""

from __future__ import annotations

from prefixwise.corpus.tokenizer import BYTES_PER_ID, cut_lines, cut_paragraphs


class ByteEstimate:
    """Four bytes a token, within each line: prefixes still part where their bytes part, to the nearest four."""

    exact = False
    frame = None

    def __init__(self, note: str) -> None:
        self.name = "estimate:bytes/4"
        self.note = note

    def encode(self, text: str) -> bytes:
        """Return the estimate's ids, line by line, so that cutting at lines changes nothing."""
        return b"".join(_padded(line) for line in cut_lines(text))

    def cut(self, text: str) -> list[str]:
        """Cut at some of the lines at which `encode` starts afresh."""
        return cut_paragraphs(text)

    def decode(self, ids: list[int]) -> str:
        """Return the text of `ids`."""
        data = b"".join(token.to_bytes(BYTES_PER_ID, "little") for token in ids)
        return data.replace(b"\xff", b"").decode("utf-8", "replace")


def _padded(line: str) -> bytes:
    """Return the UTF-8 bytes of `line`, filled up to whole ids with a byte that UTF-8 does not use."""
    data = line.encode("utf-8", "surrogatepass")
    return data + b"\xff" * (-len(data) % BYTES_PER_ID)
