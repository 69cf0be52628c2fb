"""`ephemeral-injection-moved`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from prefixwise.analyzers.lint.alignment import Alignment, Message
from prefixwise.analyzers.lint.blocks import BlockKind
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.compared import Compared
from prefixwise.analyzers.lint.history import HistoryRule, Replaced, name_of, offset_in, replaced
from prefixwise.analyzers.lint.injections import has_words, removed, rides_on, stands_alone, tag_of
from prefixwise.analyzers.lint.mended_replays import with_first_sent
from prefixwise.analyzers.rule import RULES
from prefixwise.core.finding import Confidence, Severity
from prefixwise.core.request import Request

_WORDED = (BlockKind.TEXT, BlockKind.RESULT)
_ENDING = 2
"""Messages at the end of a request in which an injection rides."""


class EphemeralInjectionMoved(HistoryRule):
    r"""# A reminder rides on the newest message and is gone when that is sent again

    A harness adds something to the newest message of a copy (a reminder, the state of a to-do list, the time) and
    stores the message without it. On the next turn the same message is sent bare, and the reminder rides on the new one.
    System prompt and tools are still served, which hides that the history is computed again from that message on, on
    every turn. The same happens where the addition is a message of its own that moves to the end, and the other way
    round, where something is added to an earlier message only when it is sent again.

    Not reported: an addition that is stored with its message and stays there.

    Store the addition with the message it was sent in. If it must not stay, send it as the last message behind the
    cached part and accept that it is never read from the cache, and place the cache marker in front of it.

    ```jsonl bad
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the ferry timetable."}, {"role": "user", "content": "<reminder>\nThe plan is empty.\n</reminder>\nWhen does the first ferry leave?"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the ferry timetable."}, {"role": "user", "content": "When does the first ferry leave?"}, {"role": "assistant", "content": "At 05:40."}, {"role": "user", "content": "<reminder>\nThe plan is empty.\n</reminder>\nAnd the second?"}]}
    ```

    ```jsonl good
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the ferry timetable."}, {"role": "user", "content": "<reminder>\nThe plan is empty.\n</reminder>\nWhen does the first ferry leave?"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the ferry timetable."}, {"role": "user", "content": "<reminder>\nThe plan is empty.\n</reminder>\nWhen does the first ferry leave?"}, {"role": "assistant", "content": "At 05:40."}, {"role": "user", "content": "<reminder>\nThe plan is empty.\n</reminder>\nAnd the second?"}]}
    ```
    """  # noqa: E501

    name = "ephemeral-injection-moved"
    code = "PW301"
    summary = "Text that was added to a message for one call is missing when the message is sent again, or the reverse"
    severity = Severity.HIGH
    fix = (
        "Store the addition with the message it was sent in; or send it behind the cached part, as a last message that "
        "no cache marker covers."
    )
    rank = 11

    def look(self, pair: Compared, alignment: Alignment) -> Claim | None:
        found = _in_message(alignment) or _own_message(alignment)
        if found is None:
            return None
        tag = tag_of(found.text)
        name = f"`<{tag}>`" if tag else "Text"
        moved = found.gone and _rides_now(alignment, found)
        words = f"{name} that {found.place} had before is gone when it is sent again"
        if not found.gone:
            words = f"{name} stands in {found.place} that was sent without it before"
        elif found.own:
            words = f"{name} that was sent as a message of its own is gone from its place"
        message = (
            f"{words}{', and rides on the newest message' if moved else ''}: everything behind it is computed again."
        )
        texts = (found.text, found.instead) if found.gone else (found.instead, found.text)
        claim = self.claim(pair, found.field, message, *texts)
        claim.char_offset = found.offset
        claim.confidence = Confidence.CERTAIN if moved or tag else Confidence.LIKELY
        claim.evidence = ("the same addition stands in the newest message",) if moved else ()
        claim.cause = ("injection", tag, found.gone)
        return claim

    def repair(self, request: Request, claims: Sequence[Claim]) -> Request | None:
        return with_first_sent(request, claims)


class _Injection(NamedTuple):
    """What was added: its text, what stands in its place without it, and whether it is the earlier request's."""

    field: str
    offset: int | None
    text: str
    instead: str
    gone: bool
    place: str
    own: bool = False


def _in_message(alignment: Alignment) -> _Injection | None:
    """Return an addition inside a message that otherwise stays."""
    if alignment.partner.get(alignment.start) != alignment.start:
        return None
    change = replaced(alignment)
    if change is None or change.left.entry.role in ("assistant", "model") or _is_newest(alignment):
        return None
    return _block(change) or _stretch(alignment, change)


def _block(change: Replaced) -> _Injection | None:
    """Return an addition that is a block of its own."""
    blocks = change.lefts or change.rights
    if (change.lefts and change.rights) or any(block.kind is not BlockKind.TEXT for block in blocks):
        return None
    if not any(has_words(block.text) for block in blocks):
        return None
    gone, message = bool(change.lefts), change.left if change.lefts else change.right
    other = change.right if gone else change.left
    instead = other.blocks[change.at].text if gone and change.at < len(other.blocks) else ""
    text = "\n".join(block.text for block in blocks)
    field = message.entry.pointer + blocks[0].place
    return _Injection(field, offset_in(text, instead) or 0, text, instead, gone, name_of(message))


def _stretch(alignment: Alignment, change: Replaced) -> _Injection | None:
    """Return an addition that is a stretch of a text."""
    if len(change.lefts) != 1 or len(change.rights) != 1:
        return None
    left, right = change.lefts[0], change.rights[0]
    if (
        left.kind is not right.kind
        or left.kind not in _WORDED
        or (left.id and left.id.text) != (right.id and right.id.text)
    ):
        return None
    gone = len(left.text) > len(right.text)
    more, less = (left.text, right.text) if gone else (right.text, left.text)
    stretch = removed(more, less)
    if stretch is None or not has_words(stretch):
        return None
    ending = "\n".join(alignment.after(number).entry.text for number in _ending(alignment))
    copied = gone and "\n" in stretch and stretch.strip() in ending
    if not stands_alone(_whole_units(more, stretch)) and not copied:
        return None
    field = change.right.entry.pointer + right.place
    return _Injection(field, offset_in(left.text, right.text), stretch, less[:80], gone, name_of(change.right))


def _whole_units(text: str, stretch: str) -> str:
    """Return a stretch moved so that it begins with its own opening mark, which its neighbour's may hide.

    `<a>x</a>` taken out in front of another `<a>` differs from `a>x</a><` by where one begins to look.
    """
    at = text.find(stretch)
    for shift in range(1, min(at, 16) + 1):
        if text[at - shift] != stretch[-shift]:
            break
        moved = text[at - shift : at - shift + len(stretch)]
        if stands_alone(moved):
            return moved
    return stretch


def _own_message(alignment: Alignment) -> _Injection | None:
    """Return an addition that was a message of its own."""
    start = alignment.start
    if start < len(alignment.contents_a):
        left = alignment.before(start)
        if _may_be_injected(left) and (_has_moved(alignment) or _is_left_out(alignment)):
            return _Injection(left.field, 0, left.entry.text, "", True, name_of(left), own=True)
    if start in alignment.inserted and len(alignment.kept) == len(alignment.contents_a) - start > 0:
        right = alignment.after(start)
        if _may_be_injected(right) and _may_be_injected(alignment.after(start + 1)):
            return _Injection(right.field, 0, right.entry.text, "", False, "the history", own=True)
    return None


def _has_moved(alignment: Alignment) -> bool:
    """Say whether the first differing message of the earlier request ends the later one."""
    start, wanted = alignment.start, alignment.contents_a[alignment.start]
    left = alignment.before(start)
    for number in _ending(alignment):
        right = alignment.after(number)
        if number <= start or not _may_be_injected(right):
            continue
        if alignment.contents_b[number] == wanted and wanted not in alignment.contents_b[:number]:
            return _answer_follows(alignment)
        if stands_alone(left.entry.text) and tag_of(left.entry.text) and rides_on(left.entry.text, right.entry.text):
            return _answer_follows(alignment)
    return False


def _is_left_out(alignment: Alignment) -> bool:
    """Say whether the message ended the earlier request behind another one of the user, and nothing of it is left."""
    start = alignment.start
    ends = start == len(alignment.contents_a) - 1 and start not in alignment.partner
    return ends and start > 0 and _may_be_injected(alignment.before(start - 1)) and _answer_follows(alignment)


def _answer_follows(alignment: Alignment) -> bool:
    """Say whether the model's answer stands in the place of the message: the earlier request went on without it."""
    start, earlier, later = alignment.start, alignment.contents_a, alignment.contents_b
    if start + 1 < len(earlier):  # it stood in front of the newest message
        return later[start] == earlier[start + 1]
    return alignment.after(start).entry.role in ("assistant", "model")


def _rides_now(alignment: Alignment, found: _Injection) -> bool:
    return any(
        rides_on(found.text, alignment.after(number).entry.text)
        for number in _ending(alignment)
        if number > alignment.start
    )


def _ending(alignment: Alignment) -> range:
    return range(max(0, alignment.newest + 1 - _ENDING), alignment.newest + 1)


def _is_newest(alignment: Alignment) -> bool:
    return alignment.start >= alignment.newest


def _may_be_injected(message: Message) -> bool:
    """Say whether a message is neither the model's nor a tool's."""
    words = all(block.kind is BlockKind.TEXT for block in message.blocks)
    return words and message.entry.role not in ("assistant", "model", "tool", "function")


RULES.add(EphemeralInjectionMoved.name, EphemeralInjectionMoved())
