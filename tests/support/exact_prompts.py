"""Rows of prompts whose blocks have exactly so many tokens: what provider documentation gives in its examples."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from prefixwise.core.namespace import Namespace
from prefixwise.core.request import Part, Turn
from prefixwise.corpus.layouts import EMPTY, Layouts
from prefixwise.corpus.rows import Row, Rows
from prefixwise.corpus.tree import TokenTree

POINTERS = {"text": "/text", "call": "/toolUse/name", "result": "/toolResult/content", "tool": "", "media": "/source"}


@dataclass(frozen=True)
class Piece:
    """A block: its token ids, what it is, and the seconds that a marker at its end asks for."""

    ids: tuple[int, ...]
    kind: str = "text"
    marker: float | None = None


@dataclass(frozen=True)
class Said:
    """An item: whose (`tools`, `system`, `user`, `assistant`, `tool`), and its blocks."""

    speaker: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True)
class Sent:
    """A request; `answer` are the token ids of its answer."""

    items: tuple[Said, ...]
    start: float
    end: float | None = None
    ttft: float | None = None
    model: str = "m"
    cache_key: str | None = None
    params: tuple[tuple[str, bytes], ...] = ()
    controls: tuple[tuple[str, bytes], ...] = ()
    answer: tuple[int, ...] = ()

    @property
    def ids(self) -> tuple[int, ...]:
        """The prompt."""
        return tuple(token for item in self.items for piece in item.pieces for token in piece.ids)


_fresh = itertools.count(1)


def text(tokens: int, *, marker: float | None = None, kind: str = "text") -> Piece:
    """Return a block of so many tokens that nothing else holds."""
    return Piece(tuple(next(_fresh) for _ in range(tokens)), kind, marker)


def marked(piece: Piece, seconds: float) -> Piece:
    return Piece(piece.ids, piece.kind, seconds)


def say(speaker: str, *pieces: Piece) -> Said:
    return Said(speaker, pieces)


def _turn(item: Said) -> tuple[str, Turn]:
    section = item.speaker if item.speaker in ("tools", "system") else "messages"
    parts = tuple(
        Part(f"/content/{n}{POINTERS[piece.kind]}", ids=piece.ids, media=b"x" if piece.kind == "media" else b"")
        for n, piece in enumerate(item.pieces)
    )
    return section, Turn(None if item.speaker == "tools" else item.speaker, parts)


def rows_of(sent: Sequence[Sent], *, layouts: bool = True) -> Rows:
    """Return the rows of these requests, in this order."""
    tree = TokenTree()
    root = tree.add_root()
    rows = Rows(tree)
    known = Layouts()
    rows.layouts = known if layouts else None
    numbers: dict[Said, int] = {}
    spaces, params, controls = {Namespace(): 0}, {(): 0}, {(): 0}
    for names in (rows.tenants, rows.sessions, rows.replicas, rows.providers, rows.files):
        names.number("")
    for number, request in enumerate(sent):
        node, layout = root, EMPTY
        ends = {"tools": 0, "system": 0}
        markers = []
        for item in request.items:
            if item not in numbers:
                numbers[item] = len(numbers)
                section, turn = _turn(item)
                known.add_item(numbers[item], section, turn, 0)
                known.add_blocks(
                    numbers[item], turn, list(itertools.accumulate(len(piece.ids) for piece in item.pieces))
                )
            before = node
            at = tree.depth[before]
            for piece in item.pieces:
                at += len(piece.ids)
                node = tree.walk(node, tree.add_segment(_packed(piece.ids)))
                if piece.marker is not None:
                    markers.append((at, piece.marker))
            if item.speaker in ends:
                ends[item.speaker] = at
            after = known.step(layout, numbers[item])
            layout = known.grow(layout, numbers[item], before, node, tree) if after is None else after
        known.of_row.append(layout)
        answer = tree.walk(node, tree.add_segment(_packed(request.answer))) if request.answer else -1
        space = Namespace(cache_key=request.cache_key)
        if markers:
            rows.markers[number] = tuple(markers)
        nan = float("nan")
        rows.append(
            Row(
                node=node,
                response_node=answer,
                prompt_tokens=tree.depth[node],
                answer_tokens=len(request.answer),
                tools_end=ends["tools"],
                system_end=max(ends.values()),
                model=rows.models.number(request.model),
                namespace=spaces.setdefault(space, len(spaces)),
                param_set=params.setdefault(request.params, len(params)),
                control_set=controls.setdefault(request.controls, len(controls)),
                start=request.start,
                end=nan if request.end is None else request.end,
                ttft=nan if request.ttft is None else request.ttft,
            )
        )
    rows.namespaces[:] = list(spaces)
    rows.param_sets[:] = list(params)
    rows.control_sets[:] = list(controls)
    return rows


def _packed(ids: Sequence[int]) -> bytes:
    return b"".join(token.to_bytes(4, "little") for token in ids)
