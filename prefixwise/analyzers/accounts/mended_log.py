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
from prefixwise.corpus.rows import Rows
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

    def each(self, made: Sequence[Repair], rows: Rows, more: Sequence[Repair]) -> list[Variant]:
        """Return for each of some repairs the log with it and all that were made, of which these are the rows."""
        variants = [Variant(self._index, rows) for _ in more]
        for row, request in self._requests(more):
            base = mended_by_all(made, row, request)
            for repair, variant in zip(more, variants, strict=True):
                mended = repair.mended(row, base)
                if mended is not base:
                    variant.add(row, mended)
        return variants

    def rows(self, made: Sequence[Repair]) -> Rows:
        """Return the rows with all of some repairs."""
        variant = Variant(self._index)
        for row, request in self._requests(made):
            mended = mended_by_all(made, row, request)
            if mended is not request:
                variant.add(row, mended)
        return variant.rows()

    def linted(self, made: Sequence[Repair], book: Rulebook) -> tuple[Rows, Linted, list[int]]:
        """Return the rows with some repairs, what lint finds in them, and which row each of the linted rows is."""
        variant, index = Variant(self._index), self._index.fresh(Outlines())
        row_of: list[int] = []
        for row, request in self._again():
            mended = mended_by_all(made, row, request)
            if mended is not request and not variant.add(row, mended):
                mended = request
            index.add(msgspec.structs.replace(mended, id=""))  # each row is a call of its own
            row_of.append(row)
        index.finish()
        corpus = msgspec.structs.replace(self._corpus, rows=index.rows, index=index, tokenizers=index.tokenizers)
        number_of = {row: number for number, row in enumerate(row_of)}

        def again(*, wanted: Wanted | None = None) -> Iterator[tuple[int, Request]]:
            asked = None if wanted is None else lambda row, record: wanted(number_of[row], record)
            for row, request in self._again(wanted=asked):
                yield number_of[row], mended_by_all(made, row, request)

        return variant.rows(), lint_log(corpus, again, RULES.names(), book), row_of

    def _requests(self, repairs: Sequence[Repair]) -> Iterator[tuple[int, Request]]:
        """Yield the requests that some repairs may change."""
        if not repairs:
            return iter(())
        return self._again(wanted=lambda row, _: any(repair.is_for(row) for repair in repairs))
