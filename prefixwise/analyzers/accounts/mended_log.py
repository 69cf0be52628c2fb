"""A log with repairs: its rows in the tree of the log as it was sent, and the same log linted once more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from prefixwise.analyzers.accounts.repairs import Repair, mended_by_all
from prefixwise.analyzers.lint.run import Linted, lint_log
from prefixwise.analyzers.rule import RULES
from prefixwise.caches.rulebook import Rulebook
from prefixwise.core.request import Request
from prefixwise.corpus.again import Again, Wanted
from prefixwise.corpus.corpus import Corpus
from prefixwise.corpus.index import CorpusIndex
from prefixwise.corpus.outlines import Outlines
from prefixwise.corpus.rows import NONE, Rows
from prefixwise.corpus.variants import Variant


class MendedLog:
    """A log, read again for each set of repairs.

    Args:
        corpus: As it was sent.
        index: Its text.
        again: Reads the same input once more.
    """

    def __init__(self, corpus: Corpus, index: CorpusIndex, again: Again) -> None:
        self._corpus = corpus
        self._index = index
        self._again = again

    def each(self, made: Sequence[Repair], more: Sequence[Repair]) -> list[tuple[int, Variant]]:
        """Return for each of some repairs how many requests it changes, and the log with it and all that were made."""
        changed = [0] * len(more)
        variants = [Variant(self._index) for _ in more]
        for row, request in self._requests([*made, *more]):
            base = mended_by_all(made, row, request)
            for number, repair in enumerate(more):
                mended = repair.mended(row, base)
                changed[number] += mended is not base
                if mended is not request:
                    variants[number].add(row, mended)
        return list(zip(changed, variants, strict=True))

    def rows(self, made: Sequence[Repair]) -> Rows:
        """Return the rows with all of some repairs."""
        variant = Variant(self._index)
        for row, request in self._requests(made):
            mended = mended_by_all(made, row, request)
            if mended is not request:
                variant.add(row, mended)
        return variant.rows()

    def linted(self, made: Sequence[Repair], book: Rulebook) -> tuple[Linted, list[int]]:
        """Return what is found in the log with some repairs, and by its row the row of the log as it was sent."""
        index = self._index.fresh(Outlines())
        row_of: list[int] = []
        for row, request in self._again():
            try:
                index.add(msgspec.structs.replace(mended_by_all(made, row, request), id=""))
            except ValueError:
                continue
            row_of.append(row)
        index.finish()
        corpus = msgspec.structs.replace(self._corpus, rows=index.rows, index=index, tokenizers=index.tokenizers)
        number_of = {row: number for number, row in enumerate(row_of)}

        def again(*, wanted: Wanted | None = None) -> Iterator[tuple[int, Request]]:
            asked = None if wanted is None else lambda row, record: wanted(number_of.get(row, NONE), record)
            for row, request in self._again(wanted=asked):
                if row in number_of:
                    yield number_of[row], mended_by_all(made, row, request)

        return lint_log(corpus, again, RULES.names(), book), row_of

    def _requests(self, repairs: Sequence[Repair]) -> Iterator[tuple[int, Request]]:
        """Yield the requests that some repairs may change."""
        if not repairs:
            return iter(())
        return self._again(wanted=lambda row, _: any(repair.is_for(row) for repair in repairs))
