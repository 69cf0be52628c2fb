"""Rows of several tenants without text, for what is counted on the prefix tree alone."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from prefixwise.corpus.rows import NONE, Row, Rows
from prefixwise.corpus.tree import TokenTree


class RowsOfIds:
    """Grows rows from token ids."""

    def __init__(self) -> None:
        self.tree = TokenTree()
        self.root = self.tree.add_root()
        self.rows = Rows(self.tree)
        for names in (self.rows.models, self.rows.providers, self.rows.sessions, self.rows.replicas, self.rows.files):
            names.number("")

    def node(self, ids: Sequence[int]) -> int:
        """Return the node at the end of these ids."""
        return self.tree.walk(self.root, self.tree.add_segment(array("I", ids).tobytes()))

    def add(
        self,
        ids: Sequence[int],
        tenant: str,
        start: float,
        *,
        answer: Sequence[int] = (),
        end: float = float("nan"),
        namespace: int = 0,
        model: str = "",
        **more: int,
    ) -> int:
        """Add a request and return its row."""
        rows = self.rows
        rows.append(
            Row(
                record=len(rows),
                node=self.node(ids),
                response_node=self.node([*ids, *answer]) if answer else NONE,
                prompt_tokens=len(ids),
                answer_tokens=len(answer),
                tenant=rows.tenants.number(tenant),
                model=rows.models.number(model),
                namespace=namespace,
                start=start,
                end=end,
                **more,
            )
        )
        return len(rows) - 1
