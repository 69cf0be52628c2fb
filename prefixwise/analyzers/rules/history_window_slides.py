"""`history-window-slides`."""

from __future__ import annotations

from collections.abc import Sequence

from prefixwise.analyzers.lint.alignment import Alignment
from prefixwise.analyzers.lint.blocks import BlockKind
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.compared import Compared
from prefixwise.analyzers.lint.history import HistoryRule, messages, offset_in
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.rule import RULES
from prefixwise.analyzers.static.volatile import VolatileKind
from prefixwise.core.finding import Confidence, Mode, Severity

_PINNED = 2
"""Messages at the head of a history that a window may keep."""
_GRID, _SELDOM = 4.0, 2.5
"""Turns from drop to drop from which a window moves on a grid, and from which it moves seldom."""
_BLOCK, _BLOCK_TURNS = 6, 3
"""Messages dropped at once, and turns' worth of them, from which a single drop is one of a grid."""


class HistoryWindowSlides(HistoryRule):
    """# The history is cut to its last messages on every turn

    A chat that sends only its last N messages drops the oldest ones as soon as the window is full. Every message then
    stands one place earlier than before, so the first one behind the system prompt already differs, and the whole
    history is computed again on each turn. The cut saves the few tokens of the dropped messages and loses the cached
    price of all the others.

    Not reported above info: a history that is cut in blocks with several turns between two cuts, a window that is not
    full yet, and a user who goes back to an earlier point.

    Drop in blocks: let the history grow to an upper mark, then cut it to a lower one, so that its head stays put for
    many turns. Or sum it up once when it reaches the mark.

    ```jsonl bad
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the ferry timetable."}, {"role": "user", "content": "When does the first ferry leave?"}, {"role": "assistant", "content": "At 05:40."}, {"role": "user", "content": "And on Sundays?"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the ferry timetable."}, {"role": "user", "content": "And on Sundays?"}, {"role": "assistant", "content": "At 07:10."}, {"role": "user", "content": "Does it take bicycles?"}]}
    ```

    ```jsonl good
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the ferry timetable."}, {"role": "user", "content": "When does the first ferry leave?"}, {"role": "assistant", "content": "At 05:40."}, {"role": "user", "content": "And on Sundays?"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the ferry timetable."}, {"role": "user", "content": "When does the first ferry leave?"}, {"role": "assistant", "content": "At 05:40."}, {"role": "user", "content": "And on Sundays?"}, {"role": "assistant", "content": "At 07:10."}, {"role": "user", "content": "Does it take bicycles?"}]}
    ```

    In code:

    ```python bad
    from openai import OpenAI

    RULES = (
        "You answer questions on ferry timetables. Name the quay, the time and the fare in every answer, and "
        "say which office to call when a ferry is late, and never promise a seat. Answer in the language of the "
        "question, in at most three sentences. Quays have numbers and children under six travel for nothing. "
    )


    def ask(history, question):
        return OpenAI().chat.completions.create(
            model="gpt-4o",
            messages=[{"role": "system", "content": RULES}, *history[-10:], {"role": "user", "content": question}],
        )
    ```

    ```python good
    from openai import OpenAI

    RULES = (
        "You answer questions on ferry timetables. Name the quay, the time and the fare in every answer, and "
        "say which office to call when a ferry is late, and never promise a seat. Answer in the language of the "
        "question, in at most three sentences. Quays have numbers and children under six travel for nothing. "
    )


    def ask(history, question):
        return OpenAI().chat.completions.create(
            model="gpt-4o",
            messages=[{"role": "system", "content": RULES}, *history, {"role": "user", "content": question}],
        )
    ```
    """  # noqa: E501

    name = "history-window-slides"
    code = "PW303"
    modes = (Mode.LOG, Mode.STATIC)
    volatile = frozenset({VolatileKind.WINDOW})
    summary = "Old messages are dropped on every turn, so the head of the history never stays the same"
    severity = Severity.HIGH
    fix = "Drop old messages in blocks, with many turns between two drops, or sum them up once at a mark."
    rank = 12

    def look(self, pair: Compared, alignment: Alignment) -> Claim | None:
        dropped = _dropped(alignment)
        if not dropped or _are_of(alignment, dropped, (BlockKind.THOUGHT,)):
            return None
        if alignment.start > _PINNED and _are_of(alignment, dropped, (BlockKind.CALL, BlockKind.RESULT)):
            return None
        left, right = alignment.before(alignment.start), alignment.after(alignment.start)
        same_role = left.entry.role == right.entry.role
        texts = left.entry.text, right.entry.text
        kept = len(alignment.contents_a) - alignment.start - dropped
        claim = self.claim(
            pair,
            right.field if same_role else right.entry.pointer,
            f"The history starts {messages(dropped)} later than in the request before, so no message stands where it "
            "stood: all of them are computed again.",
            *texts,
        )
        claim.char_offset = offset_in(*texts) if same_role and _begins_with_text(alignment) else None
        claim.confidence = Confidence.CERTAIN
        claim.evidence = (f"{messages(kept)} of the earlier request follow in the same order",)
        claim.cause = "window"
        return claim

    def weigh(self, log: Log, claims: Sequence[Claim]) -> Severity | None:
        rows = {claim.after for claim in claims}
        slides = turns = 0
        for number in {log.conversations.conversation[row] for row in rows}:
            thread = [row for row in log.threads[number] if (link := log.conversations.links[row]) and link.turn]
            places = [at for at, row in enumerate(thread) if row in rows]
            slides += len(places)
            turns += len(thread) - places[0]
        interval = turns / slides
        if slides == 1 and interval < _GRID and _is_block(log, claims[0]):
            return Severity.INFO
        if interval >= _GRID:
            return Severity.INFO
        return Severity.LOW if interval >= _SELDOM else None


def _dropped(alignment: Alignment) -> int:
    """Return how many messages were dropped at the start so that the others follow in its place; 0 for none."""
    tail = alignment.tail
    return tail[0] - tail[1] if tail is not None and tail[1] == alignment.start else 0


def _are_of(alignment: Alignment, dropped: int, kinds: tuple[BlockKind, ...]) -> bool:
    """Say whether all that was dropped is of some kinds."""
    numbers = range(alignment.start, alignment.start + dropped)
    blocks = (block for number in numbers for block in alignment.before(number).blocks)
    return all(block.kind in kinds for block in blocks)


def _begins_with_text(alignment: Alignment) -> bool:
    sides = alignment.before(alignment.start).blocks[:1] + alignment.after(alignment.start).blocks[:1]
    return len(sides) == 2 and all(block.kind is BlockKind.TEXT for block in sides)


def _is_block(log: Log, claim: Claim) -> bool:
    """Say whether a single drop takes away far more than a turn adds."""
    assert claim.before is not None  # noqa: S101 - it is of a pair
    before, after = log.outlines.messages[claim.before], log.outlines.messages[claim.after]
    end = max(at for at, content in enumerate(after) if content == before[-1])
    dropped, added = len(before) - 1 - end, len(after) - 1 - end
    return dropped >= max(_BLOCK, _BLOCK_TURNS * added)


RULES.add(HistoryWindowSlides.name, HistoryWindowSlides())
