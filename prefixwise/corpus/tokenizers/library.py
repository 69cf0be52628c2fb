"""A vocabulary in Hugging Face's `tokenizers` library."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prefixwise.core.errors import MissingExtraError
from prefixwise.corpus.prompt_tokenizer import PromptTokenizer, packed

if TYPE_CHECKING:
    import tokenizers


def need_tokenizers() -> None:
    """Raise MissingExtraError where the library is not installed."""
    try:
        import tokenizers  # noqa: F401
    except ImportError:
        raise MissingExtraError("a model's own tokenizer", "hf") from None


class LibraryTokenizer(PromptTokenizer):
    """Encodes with a `tokenizers.Tokenizer`, which holds the special tokens too.

    Attributes:
        first_dropped: Ids from here on are stand-ins that no prompt contains; None where there are none.
    """

    def __init__(self, name: str, source: str, library: tokenizers.Tokenizer) -> None:
        super().__init__(name, source)
        self.first_dropped: int | None = None
        self._library = library
        library.no_truncation()
        library.no_padding()

    def encode(self, text: str) -> bytes:
        """Return the ids of `text`; control tokens that are spelt out in it are ordinary text."""
        return self._kept(self._encoding(text, ordinary=True).ids)

    def encode_prompt(self, text: str) -> bytes:
        """Return the ids of a rendered prompt."""
        return self._kept(self._encoding(text, ordinary=False).ids)

    def starts(self, text: str) -> tuple[bytes, list[int]]:
        """Return the ids of a rendered prompt, and for each the code point of `text` at which it begins."""
        encoding = self._encoding(text, ordinary=False)
        last = self.first_dropped
        kept = [
            (number, start)
            for number, (start, _) in zip(encoding.ids, encoding.offsets, strict=True)
            if last is None or number < last
        ]
        return packed(number for number, _ in kept), [start for _, start in kept]

    def _kept(self, ids: list[int]) -> bytes:
        last = self.first_dropped
        return packed(ids) if last is None else packed(number for number in ids if number < last)

    def decode(self, ids: list[int]) -> str:
        """Return the text of `ids`."""
        text: str = self._library.decode(ids, skip_special_tokens=False)
        return text

    def _encoding(self, text: str, *, ordinary: bool) -> tokenizers.Encoding:
        self._library.encode_special_tokens = ordinary
        try:
            return self._library.encode(text, add_special_tokens=False)
        except UnicodeEncodeError:  # lone surrogates, which JSON can hold and UTF-8 cannot
            mended = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            return self._library.encode(mended, add_special_tokens=False)
