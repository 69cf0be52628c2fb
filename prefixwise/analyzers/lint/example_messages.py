"""Examples that are sent as messages in front of the question: others, or in another order, in the next request."""

from __future__ import annotations

from prefixwise.analyzers.lint.compared import Compared
from prefixwise.analyzers.lint.documents import Document
from prefixwise.analyzers.lint.slots import SpanChange
from prefixwise.analyzers.values.hunks import hunks
from prefixwise.analyzers.values.quotes import quoted
from prefixwise.core.finding import Verdict, Where

_FEW = 2
_MODEL = frozenset({"assistant", "model"})


def may_hold_examples(pair: Compared) -> bool:
    """Say whether two requests of an application open with messages of which they share some, in other places."""
    if pair.turn or pair.verdict is not Verdict.SHARED:
        return False
    one, other = pair.log.outlines.messages[pair.before][:-1], pair.log.outlines.messages[pair.after][:-1]
    at = pair.same_items - len(pair.log.outlines.head[pair.after])
    is_model = pair.log.outlines.is_model  # "Understood." is said in many conversations, and is no example
    asked = {content for content in one if not is_model.get(content)}
    return min(len(one), len(other)) >= _FEW and one != other and at < len(other) and not asked.isdisjoint(other)


def examples_change(pair: Compared) -> SpanChange | None:
    """Return how the examples in front of the newest message differ, as a change of one text that holds them all."""
    a, b, index = pair.a, pair.b, pair.same_items
    first = None if b is None else b.entry(index)
    if a is None or b is None or first is None or not first.parts:
        return None
    before, after = _told(a, index), _told(b, index)
    found = hunks(before, after)
    if not found:
        return None
    raw = sum(len(b.raw(at)) for at in range(index, len(b) - 1))
    return SpanChange(
        before=pair.before,
        after=pair.after,
        turn=False,
        where=Where.MESSAGES,
        field=first.pointer + first.parts[0].pointer,
        char_offset=None,
        hunk=found[0],
        quote=quoted(before, after, found[0]),
        more=(),
        length=len(after),
        equal_after=len(after),
        first_text=True,
        newest=False,
        lost=round(raw * pair.log.prompt(pair.after) / max(b.size, 1)),
        gap=pair.gap,
        before_text=before,
        after_text=after,
    )


def _told(document: Document, start: int) -> str:
    """Return the messages from `start` up to the newest one as examples, a paragraph for each question."""
    told: list[str] = []
    for index in range(start, len(document) - 1):
        entry = document.entry(index)
        if entry is None:
            continue
        if entry.role not in _MODEL or not told:
            told.append(f"Example:\n{entry.text}")
        else:
            told[-1] += f"\n{entry.text}"
    return "# Examples\n\n" + "\n\n".join(told)
