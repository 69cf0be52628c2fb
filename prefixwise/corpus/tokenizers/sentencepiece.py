"""SentencePiece's BPE as GGUF files carry it: tokens with scores, bytes for what is left over.

Written out here because no merge list says the same: pairs that give one token share its score and are merged from
the left, while the ranks of a merge list are all distinct. The rules are llama.cpp's (`src/llama-vocab.cpp`, the SPM
tokenizer): of all neighbours that join to a token, those of the highest score are joined first, the leftmost of
equals.
"""

from __future__ import annotations

import heapq
import re
from array import array
from collections.abc import Iterator, Sequence

from prefixwise.corpus.prompt_tokenizer import PromptTokenizer, packed
from prefixwise.corpus.special_tokens import SpecialTokens

SPACE = "\u2581"
_INNER_SPACE = re.compile(f"[^{SPACE}]{SPACE}")
_WORDS = re.compile(f"{SPACE}*[^{SPACE}]+|{SPACE}+")
_MOST_WORDS = 1 << 18
_BYTE = re.compile("<0x[0-9A-F]{2}>")
_C_SPACES = " \t\n\v\f\r"
"""What C's `isspace` calls white space."""


class ScoredPieces:
    """Encodes text that holds no special tokens.

    Args:
        ids: Id of each token.
        scores: By id.
    """

    def __init__(self, ids: dict[str, int], scores: Sequence[float]) -> None:
        self._ids = ids
        self._scores = scores
        # Where no token has a space behind other characters, nothing is joined across the start of a word.
        self._by_word = not any(_INNER_SPACE.search(token) for token in ids)
        self._words: dict[str, bytes] = {}
        self._bytes = [ids.get(f"<0x{byte:02X}>", ids.get(chr(byte))) for byte in range(256)]

    @property
    def has_all_bytes(self) -> bool:
        """Whether every byte has a token, so that any text can be encoded."""
        return None not in self._bytes

    def encode(self, text: str) -> bytes:
        """Return the packed ids of `text`, in which spaces are spaces."""
        text = text.replace(" ", SPACE)
        words = _WORDS.findall(text) if self._by_word else [text]
        known = self._words
        if len(known) > _MOST_WORDS:
            known.clear()
        encoded = []
        for word in words:
            ids = known.get(word)
            if ids is None:
                ids = known[word] = array("I", self._word(word)).tobytes()
            encoded.append(ids)
        return b"".join(encoded)

    def _word(self, word: str) -> list[int]:
        whole = self._ids.get(word) if len(word) == 1 else None
        if whole is not None:
            return [whole]
        found: list[int] = []
        for piece in self._joined(word):
            token = self._ids.get(piece)
            if token is None:
                data = piece.encode("utf-8", "surrogatepass")
                found.extend(known for byte in data if (known := self._bytes[byte]) is not None)
            else:
                found.append(token)
        return found

    def _joined(self, word: str) -> list[str]:
        """Return `word` as the pieces that are left when nothing more can be joined."""
        pieces = list(word)
        after = list(range(1, len(pieces) + 1))
        before = list(range(-1, len(pieces) - 1))
        candidates: list[tuple[float, int, int, str]] = []

        def consider(left: int, right: int) -> None:
            if left < 0 or right >= len(pieces):
                return
            joined = pieces[left] + pieces[right]
            token = self._ids.get(joined)
            if token is not None:
                heapq.heappush(candidates, (-self._scores[token], left, right, joined))

        for left in range(len(pieces) - 1):
            consider(left, left + 1)
        while candidates:
            _, left, right, joined = heapq.heappop(candidates)
            if not pieces[left] or not pieces[right] or len(pieces[left]) + len(pieces[right]) != len(joined):
                continue
            pieces[left], pieces[right] = joined, ""
            after[left] = after[right]
            if after[left] < len(pieces):
                before[after[left]] = left
            consider(before[left], left)
            consider(left, after[left])
        return [piece for piece in pieces if piece]


class ScoredTokenizer(PromptTokenizer):
    """A vocabulary of scored pieces with its special tokens.

    Args:
        name: Path it was asked for by.
        source: Where it comes from.
        tokens: Text of each id.
        scores: Score of each id.
        special: Ids that are recognised in prompts; `ordinary`: those of them that are in any text.
        space_first: Whether a space is put before text at the start and behind each special token.
        strips_behind: Special tokens that swallow the white space behind them.
    """

    def __init__(
        self,
        name: str,
        source: str,
        tokens: Sequence[str],
        scores: Sequence[float],
        special: Sequence[int],
        ordinary: Sequence[int],
        space_first: bool,
        strips_behind: frozenset[str],
    ) -> None:
        super().__init__(name, source)
        self._tokens = tokens
        self._ids = {token: number for number, token in enumerate(tokens)}
        self._pieces = ScoredPieces(self._ids, scores)
        self._space_first = self.prepends = space_first
        self._strips_behind = strips_behind
        self._ordinary = SpecialTokens([tokens[number] for number in ordinary], ())
        texts = [tokens[number] for number in special]
        self.set_special_tokens(texts, texts)

    @property
    def has_all_bytes(self) -> bool:
        """Whether every byte has a token, so that any text can be encoded."""
        return self._pieces.has_all_bytes

    def encode(self, text: str) -> bytes:
        """Return the ids of `text`; control tokens that are spelt out in it are ordinary text."""
        return b"".join(ids for _, ids in self._fragments(text, self._ordinary))

    def encode_prompt(self, text: str) -> bytes:
        """Return the ids of a rendered prompt."""
        return b"".join(ids for _, ids in self._fragments(text, self._special))

    def starts(self, text: str) -> tuple[bytes, list[int]]:
        """Return the ids of a rendered prompt, and for each the code point of `text` at which it begins."""
        starts: list[int] = []
        encoded = []
        for at, ids in self._fragments(text, self._special):
            encoded.append(ids)
            numbers = array("I", ids).tolist()
            if len(numbers) == 1:
                starts.append(max(at, 0))
                continue
            for number in numbers:
                starts.append(max(at, 0))
                at += self._length(number)
        return b"".join(encoded), starts

    def decode(self, ids: list[int]) -> str:
        """Return the text of `ids`."""
        data = bytearray()
        for number in ids:
            token = self._tokens[number] if number < len(self._tokens) else ""
            byte = _byte_of(token)
            data += token.replace(SPACE, " ").encode("utf-8", "surrogatepass") if byte is None else bytes((byte,))
        return data.decode("utf-8", "replace")

    def _length(self, number: int) -> int:
        """Return how many code points begin in a token; of the bytes of one code point, the first has it."""
        byte = _byte_of(self._tokens[number])
        if byte is None:
            return len(self._tokens[number])
        return int(byte < 0x80 or byte >= 0xC0)

    def _fragments(self, text: str, special: SpecialTokens) -> Iterator[tuple[int, bytes]]:
        """Yield (start, ids) of special tokens and of the texts between them; a space put first starts before."""
        at = 0
        behind_special = True
        for start, end in special.find(text):
            if start > at:
                yield self._plain(text, at, start, behind_special)
            token = text[start:end]
            yield start, packed((self._ids[token],))
            at = end
            if token in self._strips_behind:
                while at < len(text) and text[at] in _C_SPACES:
                    at += 1
            behind_special = True
        if at < len(text):
            yield self._plain(text, at, len(text), behind_special)

    def _plain(self, text: str, start: int, end: int, behind_special: bool) -> tuple[int, bytes]:
        if self._space_first and behind_special:
            return start - 1, self._pieces.encode(" " + text[start:end])
        return start, self._pieces.encode(text[start:end])


def _byte_of(token: str) -> int | None:
    """Return the byte that a token such as `<0x0A>` stands for, else None."""
    return int(token[3:5], 16) if _BYTE.fullmatch(token) else None
