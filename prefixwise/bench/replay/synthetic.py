"""From a trace without text to requests that share what the trace says: each of its blocks gets a text of its own."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections import Counter
from functools import lru_cache
from typing import Any

from prefixwise.bench.replay.bodies import dressed
from prefixwise.bench.replay.from_log import Dress, logged_output
from prefixwise.bench.replay.work import Item, Work
from prefixwise.bench.words import Vocabulary
from prefixwise.clients.protocol import Ask, Body, Protocol
from prefixwise.core.errors import UserError
from prefixwise.corpus.chat_messages import BARE
from prefixwise.corpus.rows import Rows
from prefixwise.corpus.tree import ROOT

LEAD = "Words:"
"""What every text begins with, since a prompt without words must not be empty. It counts towards the first block."""

_HELD = 1 << 14
"""Texts of blocks that are held: those used last."""


class Writer(ABC):
    """Makes up the prompts of one run; the same run and block, the same text.

    Args:
        run: Name of the run, so that two runs share nothing.
        rows: The trace.
        protocol: By which its bodies go.
    """

    def __init__(self, run: str, rows: Rows, protocol: Protocol) -> None:
        self._run, self._rows, self.protocol = run, rows, protocol
        self._ordinal, self._siblings = _ordinals(rows)
        self.piece = lru_cache(maxsize=_HELD)(self._piece)

    @abstractmethod
    def _piece(self, node: int, tokens: int) -> Any:
        """Return the first `tokens` tokens of a block."""

    @abstractmethod
    def body(self, pieces: list[Any]) -> Body:
        """Return the body of a prompt made of these blocks, without settings."""

    def prompt(self, row: int) -> Body:
        """Return the body of a row."""
        tree, node = self._rows.tree, self._rows.node[row]
        left = self._rows.prompt_tokens[row]
        way = []
        while tree.parent[node] != ROOT:
            way.append(node)
            node = tree.parent[node]
        pieces = []
        for one in reversed(way):
            begin = tree.depth[tree.parent[one]]
            end = left if one == way[0] else tree.depth[one]  # the last block may not be full
            pieces.append(self.piece(one, end - begin))
        return self.body(pieces)

    def _random(self, node: int) -> random.Random:
        return random.Random(f"{self._run}/{node}")  # noqa: S311 - not for secrets


class IdWriter(Writer):
    """Prompts as token ids: as long as the trace says, to the token, and cut at the same places.

    Two blocks behind the same one begin with different ids: with the digits of their numbers, lowest first. Where
    there are more of them than ids, some share their first id or two.

    Args:
        run: Name of the run.
        rows: The trace.
        protocol: By which its bodies go.
        alphabet: Ids of common words.
    """

    def __init__(self, run: str, rows: Rows, protocol: Protocol, alphabet: tuple[int, ...]) -> None:
        super().__init__(run, rows, protocol)
        self._alphabet = alphabet

    def _piece(self, node: int, tokens: int) -> list[int]:
        number, most = self._ordinal[node], self._siblings[self._rows.tree.parent[node]]
        digits: list[int] = []
        while most > 1:
            number, digit = divmod(number, len(self._alphabet))
            most = -(-most // len(self._alphabet))
            digits.append(self._alphabet[digit])
        more = self._random(node).choices(self._alphabet, k=max(0, tokens - len(digits)))
        return [*digits, *more][:tokens]

    def body(self, pieces: list[list[int]]) -> Body:
        """Return a body whose prompt is ids."""
        return {"prompt": [token for piece in pieces for token in piece]}


class WordWriter(Writer):
    """Prompts as words that are known to be so many tokens each.

    What a server puts in front of a text counts towards the first block, so that blocks end where the trace has them.
    Where blocks, or what a prompt has of its last one, are shorter than that or than a word, their texts are as near as
    can be. Two blocks behind the same
    one may by chance begin with the same word.

    Args:
        run: Name of the run.
        rows: The trace.
        protocol: By which its bodies go.
        words: Words and their tokens.
    """

    def __init__(self, run: str, rows: Rows, protocol: Protocol, words: Vocabulary) -> None:
        super().__init__(run, rows, protocol)
        self._words = words
        self._longest = max(cost for _, cost in words.words)
        self.near: set[int] = set()
        """Blocks that are not as long as the trace says."""

    def _piece(self, node: int, tokens: int) -> str:
        begin = self._rows.tree.depth[self._rows.tree.parent[node]]
        before = max(0, self._words.around - begin)  # of this block's tokens, those that the server puts there
        wanted = max(0, tokens - before)
        for length in range(wanted, wanted + self._longest + 1):
            try:
                text = self._words.text(self._words.around + length, f"{self._run}/{node}")
            except UserError:
                continue
            if before + length != tokens:
                self.near.add(node)
            return text
        raise UserError(f"no text of {tokens} tokens can be made of words", str(self._rows.files.names[0]))

    def body(self, pieces: list[str]) -> Body:
        """Return a body whose prompt is text, or a message with it."""
        text = f"{LEAD}{''.join(pieces)}"
        if self.protocol.api == BARE:
            return {"prompt": text}
        return self.protocol.body(Ask(model="", user=text))


def _ordinals(rows: Rows) -> tuple[list[int], Counter[int]]:
    """Return for each node how many nodes behind the same one come before it, and how many there are behind each."""
    seen: Counter[int] = Counter()
    found = []
    for parent in rows.tree.parent:
        found.append(seen[parent])
        seen[parent] += 1
    return found, seen


def work_of_trace(rows: Rows, order: list[int], at: list[float], writer: Writer, dress: Dress, work: Work) -> None:
    """Fill `work` with the requests of a trace, made up.

    Args:
        rows: The trace.
        order: Rows to be replayed, in order.
        at: When each arrives.
        writer: Makes the prompts.
        dress: What is put around each body; nonces are not, since texts are new anyway.
        work: Filled.
    """
    for number, row in enumerate(order):
        space = rows.namespaces[rows.namespace[row]]
        salt = dress.salt(space.salt)
        ask = Ask(
            model=dress.model,
            user="",
            max_tokens=dress.output or logged_output(rows, row),
            ignore_eos=True,
            salt=salt,
            key=space.cache_key or "",
        )
        place, size = work.keep(dressed(writer.prompt(row), writer.protocol, ask, ""))
        session = rows.sessions.names[rows.session[row]]
        tokens = rows.prompt_tokens[row]
        work.items.append(
            Item(number, str(rows.ref(row)), at[number], session, writer.protocol.name, salt, tokens, place, size)
        )
