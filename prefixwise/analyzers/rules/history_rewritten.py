"""`history-rewritten`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from prefixwise.analyzers.lint.alignment import Alignment, Message
from prefixwise.analyzers.lint.alike import alike_letters, alike_texts
from prefixwise.analyzers.lint.blocks import BlockKind
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.compared import Compared
from prefixwise.analyzers.lint.history import HistoryRule, name_of, replaced
from prefixwise.analyzers.lint.injections import around, has_words
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.lint.mended_replays import with_first_sent
from prefixwise.analyzers.rule import RULES
from prefixwise.analyzers.values.describe import describe
from prefixwise.analyzers.values.hunks import Hunk, hunks
from prefixwise.analyzers.values.kinds import SpanKind
from prefixwise.core.finding import Confidence, Severity, Where
from prefixwise.core.request import Request

_MODEL = ("assistant", "model")
_LEAST_RAW = 2
_LEAST_KEPT, _LEAST_PROMPT = 16, 80
_CUT = re.compile(r"\s*(?:…|\.{3}|\[[^\[\]\n]{1,40}\])\s*\Z")
"""How the rest of a text is said to be left out."""
_MUCH_SHORTER = 3
"""How many times shorter another first message must be to be a shortened one, and not one with other passages."""
_OFTEN = 3
"""Edits in one conversation from which they are its client's doing and not its user's."""


class HistoryRewritten(HistoryRule):
    r"""# An earlier message is sent again in other words

    A request that continues a conversation must repeat what was sent before, character for character. Where an earlier
    message differs, everything from it on is computed again. Typical is a question that is sent inside a template (with
    passages, instructions, the time) and kept in the history as the bare question: each turn then rewrites the one
    before it, and even an empty template does, because its marks are lost. Other ways there: a history that is rebuilt
    from a database, translated, shortened or cleaned, and a system prompt that is rebuilt in the middle of a
    conversation.

    Not reported above info: a user who edits a message or lets the answer be written anew (the old rest of the
    conversation is gone then), a new question in the newest message, a system prompt that changes once for all
    conversations, and another agent that takes a conversation over with a prompt of its own.

    Keep every message as it was sent and send that. Put what belongs to one call only behind the history, or make it
    the result of a tool call, which stays in the history as an ordinary message.

    ```jsonl bad
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the ferry timetable."}, {"role": "user", "content": "Use these lines:\n05:40 quay 1\n07:10 quay 2\nQuestion: When does the first ferry leave?\nAnswer in one sentence."}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the ferry timetable."}, {"role": "user", "content": "When does the first ferry leave?"}, {"role": "assistant", "content": "At 05:40."}, {"role": "user", "content": "Use these lines:\n05:40 quay 1\n07:10 quay 2\nQuestion: And the second?\nAnswer in one sentence."}]}
    ```

    ```jsonl good
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the ferry timetable."}, {"role": "user", "content": "When does the first ferry leave?"}, {"role": "assistant", "content": "At 05:40."}, {"role": "user", "content": "And the second?"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the ferry timetable."}, {"role": "user", "content": "When does the first ferry leave?"}, {"role": "assistant", "content": "At 05:40."}, {"role": "user", "content": "And the third, from quay 2?"}]}
    ```
    """  # noqa: E501

    name = "history-rewritten"
    code = "PW302"
    summary = "An earlier message, or the system prompt, differs from what was sent before"
    severity = Severity.HIGH
    fix = "Store each message exactly as it was sent, and send it again as it was stored."
    where = (Where.MESSAGES, Where.SYSTEM)
    rank = 100

    def detect(self, pair: Compared) -> Claim | None:
        return super().detect(pair) or self._handed_over(pair)

    def _handed_over(self, pair: Compared) -> Claim | None:
        """Return a claim for information where another agent, with a prompt of its own, takes a conversation over."""
        change = pair.change
        if change is None or not pair.turn or change.where is not Where.SYSTEM or not change.is_text:
            return None
        if min(len(change.before), len(change.after)) < _LEAST_PROMPT or alike_texts(change.before, change.after):
            return None
        if not (_comes_again(pair.log, pair.before) and _comes_again(pair.log, pair.after)):
            return None
        message = (
            "Another agent, with a system prompt of its own, goes on with the conversation: its cache is another one."
        )
        claim = self.claim(pair, change.field, message, change.before, change.after)
        claim.where, claim.char_offset = Where.SYSTEM, change.char_offset
        claim.severity, claim.cause = Severity.INFO, "hand-over"
        return claim

    def look(self, pair: Compared, alignment: Alignment) -> Claim | None:
        if alignment.start >= alignment.newest:
            return None
        looks = (self._reordered, self._edited, self._wrapped, self._cut_short, self._reworded)
        return next(filter(None, (look(pair, alignment) for look in looks)), None)

    def otherwise(self, pair: Compared) -> Claim | None:
        change, alignment = pair.change, pair.alignment
        if change is not None and pair.turn and alignment is None and change.where is Where.SYSTEM:
            message = "The system prompt is rewritten inside a conversation; nothing behind it is served."
            claim = self.claim(pair, change.field, message, change.before, change.after)
            claim.where, claim.char_offset = Where.SYSTEM, change.char_offset
            return claim
        if change is None or alignment is None or alignment.start >= alignment.newest:
            return None
        message = f"{_what_happened(alignment)}; everything behind it is computed again."
        claim = self.claim(pair, change.field, message, change.before, change.after)
        claim.char_offset = change.char_offset
        return claim

    def weigh(self, log: Log, claims: Sequence[Claim]) -> Severity | None:
        if claims[0].cause != "edit":
            return None
        conversations = {log.conversations.conversation[claim.after] for claim in claims}
        turns = sum(len(log.threads[number]) - 1 for number in conversations)
        often = len(claims) >= _OFTEN * len(conversations) and 2 * len(claims) >= turns
        return Severity.MEDIUM if often else Severity.INFO

    def _edited(self, pair: Compared, alignment: Alignment) -> Claim | None:
        """Return a claim for information where a user went back: another message, and nothing of what followed."""
        start, change = alignment.start, pair.change
        if change is None or alignment.partner or start >= len(alignment.contents_a):
            return None
        left, right = alignment.before(start), alignment.after(start)
        answer = pair.log.outlines.answer[pair.before]
        if answer and answer in alignment.contents_b[start:]:
            return None
        if left.entry.role != right.entry.role or not _may_be_edited(left):
            return None
        by_model = left.entry.role in _MODEL
        what = "The answer was written anew" if by_model else "The conversation goes on from another message"
        message = f"{what}, and nothing of the old rest follows: an edit."
        claim = self.claim(pair, right.field, message, left.entry.text, right.entry.text)
        claim.char_offset, claim.cause, claim.confidence = change.char_offset, "edit", Confidence.POSSIBLE
        return claim

    def _reordered(self, pair: Compared, alignment: Alignment) -> Claim | None:
        """Return a claim where the messages that were sent come again, all of them, in another order."""
        start, change = alignment.start, pair.change
        one, other = alignment.contents_a[start:], alignment.contents_b[start : len(alignment.contents_a)]
        if change is None or len(one) != len(other) or sorted(one) != sorted(other):
            return None
        left, right = alignment.before(start), alignment.after(start)
        message = (
            "Messages of the history come in another order; everything from the first moved one on is computed again."
        )
        claim = self.claim(pair, right.field, message, left.entry.text, right.entry.text)
        claim.char_offset, claim.confidence, claim.cause = change.char_offset, Confidence.CERTAIN, "order"
        return claim

    def _cut_short(self, pair: Compared, alignment: Alignment) -> Claim | None:
        """Return a claim where only the beginning of an earlier message comes again."""
        start, change = alignment.start, pair.change
        if change is None or not change.is_text or change.right is None or alignment.partner.get(start) != start:
            return None
        head = _CUT.sub("", change.after)
        if len(head) < _LEAST_KEPT or not change.before.startswith(head) or len(change.after) >= len(change.before):
            return None
        if not change.before[len(head) :].strip():  # white space is a matter of its own
            return None
        message = f"{_of(alignment)} is cut short when it is sent again; everything behind it is computed again."
        claim = self.claim(pair, change.field, message, change.before[len(head) :], change.after[len(head) :])
        claim.char_offset = change.char_offset
        return claim

    def _wrapped(self, pair: Compared, alignment: Alignment) -> Claim | None:
        """Return a claim where a message was sent inside a template and comes again bare, or the reverse."""
        change = replaced(alignment) if alignment.partner.get(alignment.start) == alignment.start else None
        if change is None or len(change.lefts) != 1 or len(change.rights) != 1 or change.left.entry.role in _MODEL:
            return None
        left, right = change.lefts[0], change.rights[0]
        if left.kind is not BlockKind.TEXT or right.kind is not BlockKind.TEXT:
            return None
        bare_now = len(right.text) < len(left.text)
        longer, shorter = (left.text, right.text) if bare_now else (right.text, left.text)
        wrapper = around(longer, shorter)
        if wrapper is None or len(shorter.strip()) < _LEAST_RAW or not _is_template(wrapper.before + wrapper.after):
            return None
        how = (
            ("was sent inside a template", "comes again bare")
            if bare_now
            else ("was sent bare", "comes inside a template")
        )
        message = f"What {name_of(change.left)} says {' and '.join(how)}; everything from it on is computed again."
        claim = self.claim(pair, change.right.entry.pointer + right.place, message, left.text, right.text)
        claim.char_offset = pair.change.char_offset if pair.change else None
        claim.confidence = Confidence.CERTAIN
        claim.cause = ("template", bare_now)
        return claim

    def _reworded(self, pair: Compared, alignment: Alignment) -> Claim | None:
        """Return a claim where words have changed and no value has: what rules for moving values must not take."""
        change = pair.change
        partner = alignment.partner.get(alignment.start)
        if change is None or partner != alignment.start or not change.is_text or change.right is None:
            return None
        found = hunks(change.before, change.after)
        by_model = change.right.role in _MODEL  # what differs in an answer was not retrieved for it
        mended = alike_letters(change.before, change.after) and not any(map(_is_value, found))
        other = not alike_texts(change.before, change.after) and (
            alignment.start > 0 or _MUCH_SHORTER * len(change.after) < len(change.before)
        )
        if not found or not (by_model or mended or other):
            return None
        if describe(change.before, change.after, found[0]).kind not in (SpanKind.PROSE, SpanKind.OTHER):
            return None
        put_right = ", put right" if mended and not by_model else ""
        message = f"{_what_happened(alignment)}{put_right}; everything behind it is computed again."
        claim = self.claim(pair, change.field, message, change.before, change.after)
        claim.char_offset = change.char_offset
        return claim

    def repair(self, request: Request, claims: Sequence[Claim]) -> Request | None:
        return with_first_sent(request, claims)


def _comes_again(log: Log, row: int) -> bool:
    """Say whether what stands in front of a row's messages stands in front of another row's, too."""
    counts: Counter[int] = log.rows.memo.setdefault(_comes_again, Counter())
    if not counts:
        counts.update(map(id, log.outlines.head))  # equal heads are one object
    return counts[id(log.outlines.head[row])] > 1


def _is_value(hunk: Hunk) -> bool:
    """Say whether a differing stretch may be a value, and not letters of a word or a mark."""
    text = hunk.before_text + hunk.after_text
    return not text.strip() or any(character.isdigit() for character in text)


def _what_happened(alignment: Alignment) -> str:
    start = alignment.start
    if start in alignment.inserted:
        return f"A message was put into the history, at `{alignment.after(start).entry.pointer}`"
    if start in alignment.dropped:
        return f"What stood at `{alignment.before(start).entry.pointer}` is gone from the history"
    return f"{_of(alignment)} is sent again in other words"


def _of(alignment: Alignment) -> str:
    name = name_of(alignment.after(alignment.start))
    return name[0].upper() + name[1:]


def _may_be_edited(message: Message) -> bool:
    """Say whether a message is one that people or models write: words, not results of tools."""
    return all(block.kind is not BlockKind.RESULT for block in message.blocks)


def _is_template(text: str) -> bool:
    """Say whether what stands around a bare text is a template's: several words, not a time or a mark."""
    return has_words(text) and len(text.split()) >= _LEAST_RAW and ("\n" in text or "<" in text or ":" in text)


RULES.add(HistoryRewritten.name, HistoryRewritten())
