"""Requests whose history comes again as it was first sent."""

from __future__ import annotations

from collections.abc import Sequence

from prefixwise.analyzers.lint.alignment import Alignment
from prefixwise.analyzers.lint.claimed import once
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.mended_markers import with_markers_of
from prefixwise.analyzers.lint.mending import with_items, with_sections
from prefixwise.core.request import Request


def first_sent(alignment: Alignment) -> tuple[tuple[int, bytes], ...]:
    """Return the messages of an earlier request that a later one has otherwise, by what they are now.

    Cache markers are where they are now, too: they move on with the conversation.
    """
    a, b, head = alignment.a, alignment.b, alignment.head
    found = []
    for left, right in alignment.partner.items():
        is_other = alignment.contents_a[left] != alignment.contents_b[right]
        if is_other and right < alignment.newest:
            now, was = b.raw(head + right), a.raw(head + left)
            found.append((_key(b.request.session, head + right, now), with_markers_of(now, was)))
    return tuple(found)


def _key(session: str, number: int, raw: bytes) -> int:
    return hash((session, number, raw))


@once
def _resent(claims: Sequence[Claim]) -> dict[int, bytes]:
    return {now: was for claim in claims for now, was in claim.resent}


def with_first_sent(request: Request, claims: Sequence[Claim]) -> Request | None:
    """Return a request whose earlier messages are what they were when they were first sent.

    None where nobody knows what they were.
    """
    known = _resent(claims)
    if not known:
        return None
    number, sections = 0, []
    count = sum(len(section.raw_items()) for section in request.sections)
    for section in request.sections:
        items = []
        for raw in map(bytes, section.raw_items()):
            items.append(raw if number == count - 1 else _first(known, request.session, number, raw))
            number += 1
        sections.append(with_items(section, items))
    return with_sections(request, sections)


def _first(known: dict[int, bytes], session: str, number: int, raw: bytes) -> bytes:
    """Return what a message was at first: it may have changed more than once."""
    seen = {raw}
    while (was := known.get(_key(session, number, raw))) is not None and was not in seen:
        seen.add(was)
        raw = was
    return raw
