"""In which order the pieces of a head should come: what changes often behind what seldom does, replayed.

Pieces are the system items of a request, or the paragraphs of its system text where that is one item. A piece that
changes takes everything behind it along, so the order by rising change rate loses least.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

import msgspec

from prefixwise.analyzers.accounts.fixed import Count, Counting
from prefixwise.analyzers.lint.mending import read, with_items, with_sections, with_text
from prefixwise.core.excerpt import Excerpts, excerpt
from prefixwise.core.request import Request, Section
from prefixwise.corpus.again import Again
from prefixwise.corpus.index import CorpusIndex
from prefixwise.corpus.items import HEAD_ROLES
from prefixwise.corpus.rows import Rows
from prefixwise.corpus.variants import Variant

_FEWEST = 3
_MOST_PIECES = 40
"""More paragraphs than that are a list of some kind: its order is not ours to change."""
_ALIKE = 0.9
"""Share of the requests that must have the same number of pieces, or positions do not compare."""
_BREAK = "\n\n"


class Piece(msgspec.Struct, frozen=True):
    """One piece of a head.

    Attributes:
        position: Its place, counted from 0; `moves_to`: in the order by change rate.
        change_rate: In which share of the requests it is another one than in the request before.
        distinct: How many there are.
        excerpt: How the last one begins.
    """

    position: int
    moves_to: int
    change_rate: float
    distinct: int
    excerpt: str


class OrderAdvice(msgspec.Struct, frozen=True, kw_only=True):
    """The order of the pieces of one application.

    Attributes:
        model, family, requests: Whose; how many have these pieces.
        pieces: As they come now.
        before, after: All prompts of the log as they were sent, and with the pieces of this application in order; None
            where the order is right already.
    """

    model: str
    family: int
    requests: int
    pieces: tuple[Piece, ...]
    before: Count | None
    after: Count | None

    @property
    def saved_tokens(self) -> int:
        """Tokens that need not be computed any more in the better order."""
        return 0 if self.before is None or self.after is None else self.before.computed - self.after.computed


class _Seen(msgspec.Struct, frozen=True):
    """The pieces of one request: when it started, and its row."""

    start: float
    row: int
    pieces: tuple[str, ...]


def order_advice(
    index: CorpusIndex, again: Again, rows: Rows, groups: Sequence[tuple[int, int]], count: Counting, excerpts: Excerpts
) -> Iterator[OrderAdvice]:
    """Yield the advice for applications whose heads have pieces that change.

    Args:
        index: Of the requests.
        again: Reads them once more.
        rows: The requests.
        groups: (Number of a model, family) of the applications that are looked at.
        count: Counts rows under a rule.
        excerpts: How much text the result may hold.
    """
    wanted = set(groups)
    key_of = list(zip(rows.model, rows.family, strict=True))
    times = rows.start_times()
    seen: dict[tuple[int, int], list[_Seen]] = {}
    known: dict[str, str] = {}
    for row, request in again(wanted=lambda row, _: key_of[row] in wanted):
        if key_of[row] in wanted and (texts := pieces_of(request)):
            kept = tuple(known.setdefault(text, text) for text in texts)
            seen.setdefault(key_of[row], []).append(_Seen(times[row], row, kept))
    orders: dict[tuple[int, int], tuple[list[_Seen], tuple[Piece, ...]]] = {}
    for key in groups:
        alike = _alike(seen.get(key, []))
        pieces = _pieces(alike, excerpts) if len(alike) >= _FEWEST else ()
        if any(piece.change_rate for piece in pieces):
            orders[key] = alike, pieces
    variants = {key: Variant(index) for key, (_, pieces) in orders.items() if _moves(pieces)}
    chosen = {one.row: key for key in variants for one in orders[key][0]}
    before = count(rows) if variants else None
    for row, request in again(wanted=lambda row, _: row in chosen) if variants else ():
        if (whose := chosen.get(row)) is not None:
            moved = sorted(orders[whose][1], key=lambda piece: piece.moves_to)
            variants[whose].add(row, in_order(request, [piece.position for piece in moved]))
    for key, (alike, pieces) in orders.items():
        after = count(variants[key].rows()) if key in variants else None
        yield OrderAdvice(
            model=rows.models[key[0]],
            family=key[1],
            requests=len(alike),
            pieces=pieces,
            before=before if after is not None else None,
            after=after,
        )


def _moves(pieces: Sequence[Piece]) -> bool:
    return any(piece.position != piece.moves_to for piece in pieces)


def _alike(seen: Sequence[_Seen]) -> list[_Seen]:
    """Return the requests with as many pieces as most have, in order of start; none where they are too few."""
    if not seen:
        return []
    number, _ = max(Counter(len(one.pieces) for one in seen).items(), key=lambda found: (found[1], -found[0]))
    chosen = sorted((one for one in seen if len(one.pieces) == number), key=lambda one: (one.start, one.row))
    return chosen if number > 1 and len(chosen) >= _ALIKE * len(seen) else []


def _pieces(alike: Sequence[_Seen], excerpts: Excerpts) -> tuple[Piece, ...]:
    columns = list(zip(*(one.pieces for one in alike), strict=True))
    rates = [sum(one != other for one, other in pairwise(column)) / (len(column) - 1) for column in columns]
    order = sorted(range(len(columns)), key=lambda position: (rates[position], position))
    to = {position: place for place, position in enumerate(order)}
    return tuple(
        Piece(position, to[position], rates[position], len(set(column)), excerpt(column[-1], excerpts))
        for position, column in enumerate(columns)
    )


def pieces_of(request: Request) -> tuple[str, ...]:
    """Return the pieces of a request's head; () where it has less than two."""
    found = _head(request)
    if found is None:
        return ()
    section, items = found
    if len(items) > 1:
        return tuple(_said(request.api, section.kind, raw) for raw in items) if len(items) <= _MOST_PIECES else ()
    texts = [part.text for part in read(request.api, section.kind, items[0]).parts if part.text]
    pieces = texts[0].split(_BREAK) if len(texts) == 1 else []
    return tuple(pieces) if 1 < len(pieces) <= _MOST_PIECES else ()


def _said(api: str, kind: str, raw: bytes) -> str:
    """Return what an item says; a marker on it says nothing."""
    return "".join(part.text or part.media.hex() for part in read(api, kind, raw).parts)


def in_order(request: Request, positions: Sequence[int]) -> Request:
    """Return a request whose pieces come in another order: the old positions, as they come now."""
    found = _head(request)
    if found is None:
        return request
    section, items = found
    if len(items) > 1:
        rest = [bytes(raw) for raw in section.raw_items()][len(items) :]
        mended = with_items(section, [*(items[at] for at in positions), *rest])
    else:
        (part,) = (part for part in read(request.api, section.kind, items[0]).parts if part.text)
        pieces = part.text.split(_BREAK)
        text = _BREAK.join(pieces[at] for at in positions)
        rest = [bytes(raw) for raw in section.raw_items()][1:]
        mended = with_items(section, [with_text(items[0], part, lambda _: text), *rest])
    return with_sections(request, [mended if one is section else one for one in request.sections])


def _head(request: Request) -> tuple[Section, list[bytes]] | None:
    """Return the section of a request that holds its system text, and the items of it that do."""
    for section in request.sections:
        items = [bytes(raw) for raw in section.raw_items()]
        if section.kind == "system" and items:
            return section, items
        if section.kind == "messages":
            head = []
            for raw in items:
                if read(request.api, section.kind, raw).role not in HEAD_ROLES:
                    break
                head.append(raw)
            return (section, head) if head else None
    return None
