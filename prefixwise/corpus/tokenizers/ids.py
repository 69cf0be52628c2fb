"""Prompts that are logged as token ids: nothing to encode, nothing to decode."""

from __future__ import annotations


class TokenIds:
    """Stands where a tokenizer would, for prompts that come as ids."""

    name = "token ids"
    exact = True
    note = "as logged"
    frame = None

    def encode(self, text: str) -> bytes:
        """Return the code points of `text`; only a name of a role can come here."""
        return text.encode("utf-32-le", "surrogatepass")

    def cut(self, text: str) -> list[str]:
        """Return the text whole."""
        return [text]

    def decode(self, ids: list[int]) -> str:
        """Return the ids themselves as text."""
        return " ".join(str(token) for token in ids)
