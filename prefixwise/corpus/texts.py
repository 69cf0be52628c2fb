"""From tree nodes back to text, for people: what a shared prefix says, and what follows where prompts part."""

from __future__ import annotations

from array import array

from prefixwise.corpus.index import CorpusIndex
from prefixwise.corpus.template import PRIVATE_NAMES
from prefixwise.corpus.tokenizer import BYTES_PER_ID, Tokenizer
from prefixwise.corpus.tree import ROOT

_MEDIA_BIT = 0x80000000


class NodeTexts:
    """Gives the text of token ids in the tree of an index."""

    def __init__(self, index: CorpusIndex) -> None:
        self._tree = index.tree
        self._tokenizers = {vocabulary.root: vocabulary.tokenizer for vocabulary in index.vocabularies.values()}

    def between(self, node: int, start: int, stop: int) -> str:
        """Return the text of tokens `start` to `stop` (end-exclusive) on the way to `node`."""
        ids = array("I")
        root = node
        for step, edge in self._tree.edges(node):
            end = self._tree.depth[step]
            begin = end - len(edge) // BYTES_PER_ID
            if end > start and begin < stop:
                low, high = max(start - begin, 0), min(stop, end) - begin
                ids.frombytes(edge[low * BYTES_PER_ID : high * BYTES_PER_ID])
        while self._tree.parent[root] != ROOT:
            root = self._tree.parent[root]
        return readable(self._tokenizers[root], list(ids))


def readable(tokenizer: Tokenizer, ids: list[int]) -> str:
    """Return the text of `ids`, framing and media as names in angle brackets."""
    text, plain = [], []
    frame = dict(zip(tokenizer.frame, PRIVATE_NAMES.values(), strict=False)) if tokenizer.frame else {}
    previous_media = False
    for token in ids:
        name = frame.get(token) or PRIVATE_NAMES.get(token)
        media = name is None and bool(token & _MEDIA_BIT) and tokenizer.name != "token ids"
        if name is None and not media:
            plain.append(token)
            previous_media = False
            continue
        if plain:
            text.append(tokenizer.decode(plain))
            plain = []
        if name is not None or not previous_media:
            text.append(name or "⟨media⟩")
        previous_media = media
    if plain:
        text.append(tokenizer.decode(plain))
    return "".join(text)
