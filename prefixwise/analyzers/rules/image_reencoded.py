"""`image-reencoded`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from prefixwise.analyzers.lint.alignment import Alignment, Message
from prefixwise.analyzers.lint.alike import alike_texts
from prefixwise.analyzers.lint.blocks import Block
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.compared import Compared, Served
from prefixwise.analyzers.lint.history import HistoryRule, Replaced, replaced
from prefixwise.analyzers.lint.mended_replays import with_first_sent
from prefixwise.analyzers.lint.pictures import Picture, picture_of, same_address, same_pixels
from prefixwise.analyzers.rule import RULES
from prefixwise.core.finding import Confidence, Severity
from prefixwise.core.pointer import parse_pointer, resolve
from prefixwise.core.request import Part, Request


class ImageReencoded(HistoryRule):
    """# An image in the history is not the one that was sent

    An image is part of the prompt, in its place. It breaks the history when it comes again in other bytes (resized or
    compressed for older turns), as a note (`[picture kept at cache/1.png]`), in another message, or not at all;
    everything from it on is computed again. One screenshot may stand in front of a hundred thousand tokens.

    Not reported above info: an address that differs only in its query, as signed addresses do (a provider that looks at
    the fetched image does not mind; one that looks at the address does), and a picture with the same pixels in other
    bytes.

    Send the same bytes in the same place for the life of the conversation. Shrink an image before it is sent for the
    first time, and drop old ones only when the history is rewritten anyway.

    ```jsonl bad
    {"model": "claude-sonnet-4-5", "max_tokens": 900, "system": "Answer from the ferry timetable.", "messages": [{"role": "user", "content": [{"type": "text", "text": "What does this sign say?"}, {"type": "image", "source": {"type": "base64", "media_type": "image/gif", "data": "R0lGODlhAQABAAAAACw="}}]}]}
    {"model": "claude-sonnet-4-5", "max_tokens": 900, "system": "Answer from the ferry timetable.", "messages": [{"role": "user", "content": [{"type": "text", "text": "What does this sign say?"}, {"type": "text", "text": "[image removed]"}]}, {"role": "assistant", "content": "No boats on Sunday."}, {"role": "user", "content": "And on Monday?"}]}
    ```

    ```jsonl good
    {"model": "claude-sonnet-4-5", "max_tokens": 900, "system": "Answer from the ferry timetable.", "messages": [{"role": "user", "content": [{"type": "text", "text": "What does this sign say?"}, {"type": "image", "source": {"type": "base64", "media_type": "image/gif", "data": "R0lGODlhAQABAAAAACw="}}]}]}
    {"model": "claude-sonnet-4-5", "max_tokens": 900, "system": "Answer from the ferry timetable.", "messages": [{"role": "user", "content": [{"type": "text", "text": "What does this sign say?"}, {"type": "image", "source": {"type": "base64", "media_type": "image/gif", "data": "R0lGODlhAQABAAAAACw="}}]}, {"role": "assistant", "content": "No boats on Sunday."}, {"role": "user", "content": "And on Monday?"}]}
    ```
    """  # noqa: E501

    name = "image-reencoded"
    code = "PW310"
    summary = "An image of an earlier message comes again in other bytes, in another place, or not at all"
    severity = Severity.HIGH
    fix = "Send an image's bytes again as they were first sent, in the same place; shrink it before the first time."
    rank = 20

    def look(self, pair: Compared, alignment: Alignment) -> Claim | None:
        seen = _seen(alignment)
        if seen is None:
            return None
        verdict = _verdict(alignment, seen)
        before, after = (seen.before.shown if seen.before else "", seen.after.shown if seen.after else "")
        message = f"An image of an earlier message {verdict.words}."
        claim = self.claim(pair, seen.field, message, before, after or seen.note)
        claim.confidence = verdict.confidence
        if verdict.harmless and pair.served is not Served.MISS:
            claim.severity = Severity.INFO
        claim.cause = verdict.words.split(",")[0]
        return claim

    def repair(self, request: Request, claims: Sequence[Claim]) -> Request | None:
        return with_first_sent(request, claims)


class _Seen(NamedTuple):
    """The image before and after; `note`: the words that stand in its place."""

    field: str
    before: Picture | None
    after: Picture | None
    note: str
    parts: tuple[Part, ...]


class _Verdict(NamedTuple):
    words: str
    confidence: Confidence
    harmless: bool = False


def _seen(alignment: Alignment) -> _Seen | None:
    """Return the image at the first difference, None where that is about something else."""
    start = alignment.start
    if start in alignment.dropped and alignment.partner:
        gone = alignment.before(start)
        parts = _media(gone.blocks)
        if parts:
            return _Seen(gone.entry.pointer, _picture(gone, parts[0]), None, "", parts)
    change = replaced(alignment) if alignment.partner.get(start) == start else None
    if change is None:
        return None
    lefts, rights = _media(change.lefts), _media(change.rights)
    if not (lefts or rights) or not _is_about_media(change):
        return None
    return _Seen(
        change.field,
        _picture(change.left, lefts[0]) if lefts else None,
        _picture(change.right, rights[0]) if rights else None,
        "\n".join(block.text for block in change.rights),
        lefts,
    )


def _is_about_media(change: Replaced) -> bool:
    """Say whether the media make the first difference, and not words in front of them."""
    firsts = (*change.lefts[:1], *change.rights[:1])
    if any(block.media for block in firsts):
        return True
    texts = ["\n".join(block.text for block in blocks) for blocks in (change.lefts, change.rights)]
    return all(texts) and alike_texts(*texts)


def _verdict(alignment: Alignment, seen: _Seen) -> _Verdict:
    one, other = seen.before, seen.after
    if one is None:
        return _Verdict("was added when it was sent again", Confidence.CERTAIN)
    if other is None:
        if (place := _place_now(alignment, seen.parts)) is not None:
            return _Verdict(f"has moved, to message {place}", Confidence.CERTAIN)
        words = "is replaced by words" if seen.note else "is gone"
        return _Verdict(f"{words}, where it was sent before", Confidence.CERTAIN)
    if one.address and other.address:
        if same_address(one, other):
            words = (
                "has another signature or expiry in its address; a cache that looks at the fetched image does not mind"
            )
            return _Verdict(words, Confidence.POSSIBLE, harmless=True)
        return _Verdict("is fetched from another address", Confidence.LIKELY)
    if one.address or other.address:
        words = (
            "comes as an address, where its bytes were sent" if other.address else "comes as bytes, not as an address"
        )
        return _Verdict(words, Confidence.LIKELY)
    return _of_bytes(one, other)


def _of_bytes(one: Picture, other: Picture) -> _Verdict:
    if same_pixels(one, other):
        return _Verdict("has the same pixels in other bytes", Confidence.LIKELY, harmless=True)
    if one.size and other.size and one.size != other.size:
        sizes = [f"{size[0]}x{size[1]}" for size in (one.size, other.size)]
        return _Verdict(f"was resized, from {sizes[0]} to {sizes[1]}", Confidence.CERTAIN)
    if one.media_type != other.media_type:
        return _Verdict(f"was encoded anew, as {other.media_type or 'another type'}", Confidence.CERTAIN)
    words = "comes in other bytes, of the same size in pixels: it may have been encoded anew"
    return _Verdict(words if one.size else "comes in other bytes", Confidence.LIKELY)


def _place_now(alignment: Alignment, parts: tuple[Part, ...]) -> int | None:
    """Return the number of the later message in which the same image stands now."""
    wanted = {part.media for part in parts}
    for number in range(alignment.start, alignment.newest + 1):
        if wanted & {part.media for part in _media(alignment.after(number).blocks)}:
            return number
    return None


def _media(blocks: tuple[Block, ...]) -> tuple[Part, ...]:
    return tuple(part for block in blocks for part in block.media)


def _picture(message: Message, part: Part) -> Picture:
    whole = msgspec.json.decode(message.entry.raw)
    return picture_of(next(resolve(whole, parse_pointer(part.pointer)), None))


RULES.add(ImageReencoded.name, ImageReencoded())
