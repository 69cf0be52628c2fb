"""A corpus of which some requests were sent otherwise: only what they say anew is rendered and tokenised."""

from __future__ import annotations

import msgspec

from prefixwise.core.request import Request
from prefixwise.corpus.index import CorpusIndex
from prefixwise.corpus.rows import Rows


class Variant:
    """Requests in the place of others.

    Args:
        index: Of the requests as they were sent; its tree grows by what is said otherwise.
        rows: Those that the others take the place in, of the index or of another variant; the index's own by default.
    """

    def __init__(self, index: CorpusIndex, rows: Rows | None = None) -> None:
        self._rows = index.rows if rows is None else rows
        self._index = index.variant()
        self._changed: list[int] = []

    def __len__(self) -> int:
        """How many requests are sent otherwise."""
        return len(self._changed)

    def add(self, row: int, request: Request) -> bool:
        """Take in the request that is sent in place of `row`; return False where it cannot be rendered."""
        try:
            self._index.add(msgspec.structs.replace(request, id=""))  # not to be joined with the one that was sent
        except ValueError:
            return False
        self._changed.append(row)
        return True

    def rows(self) -> Rows:
        """Return all rows, in the order of those as they were sent.

        Where only a later record told of an answer, the answer that was sent stands for that of the mended request.
        """
        self._index.finish()
        self._rows.grown()  # what was worked out on the smaller tree
        return self._rows.replaced({row: number for number, row in enumerate(self._changed)}, self._index.rows)
