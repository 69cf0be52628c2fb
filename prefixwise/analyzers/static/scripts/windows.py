"""Histories that are cut to their last messages."""

from __future__ import annotations

import re

from prefixwise.analyzers.static.names import Use, name_words, use
from prefixwise.analyzers.static.scripts.module import Module, Write, reach
from prefixwise.analyzers.static.scripts.tree import LOOPS
from prefixwise.analyzers.static.scripts.values import Items, Moving, Named, Place, Rest, Value, cores
from prefixwise.analyzers.static.volatile import Frequency, VolatileKind
from prefixwise.core.finding import Confidence

_LEAST = 3
"""Fewer last messages are no history, but the newest exchange."""
_MANY = frozenset({"messages", "history", "conversation", "turns", "chat", "transcript", "dialogue", "dialog"})
_TRIMMERS = frozenset({"trimMessages", "pruneMessages", "trimHistory", "truncateMessages", "truncateHistory"})


def is_history(value: Value) -> bool:
    """Say whether a value is, or ends in, messages that are not in the source."""
    for found in cores(value):
        if isinstance(found, Named) and names_history(found.name):
            return True
        if isinstance(found, Items) and any(isinstance(item, Rest) and is_history(item.value) for item in found.items):
            return True
    return False


def names_history(name: str) -> bool:
    """Say whether a name is that of the messages of a conversation."""
    last = name_words(name.rpartition(".")[2])[-1:]
    return use(name) is Use.TURN and bool(_MANY & set(last))


def window(place: Place, because: str, confidence: Confidence = Confidence.LIKELY) -> Moving:
    """Return the sign of a history of which only the end is sent."""
    name = place.module.tree.source.text[place.start : place.end]
    return Moving(
        VolatileKind.WINDOW,
        Frequency.CALL,
        place,
        name=name[:80],
        evidence=(because,),
        confidence=confidence,
        order=True,
    )


def last_of(value: Value, first: str | None, place: Place, *, counted: bool) -> Moving | None:
    """Return the sign of a window for `history.slice(-n)`; None where it is none.

    Args:
        value: What is cut.
        first: The argument where it is a constant or a name.
        place: The call.
        counted: Whether there is one argument only.
    """
    if not counted or first is None or not first.startswith("-") or not is_history(value):
        return None
    count = first.lstrip("- ")
    if count.isdecimal() and int(count) < _LEAST:
        return None
    return window(place, f"only the last {count} messages are kept")


def trims(method: str) -> bool:
    """Say whether a function of this name cuts a history to its end."""
    return method in _TRIMMERS


def slides(module: Module, value: Value, write: Write) -> Moving | None:
    """Return the sign of a window for `messages.shift()` and `messages.splice(0, n)` under a condition of length."""
    target = write.node.fields["function"].bare().fields["object"]
    name = module.text(target)
    base, _ = reach(module, target)
    if not (is_history(value) or names_history(name.removeprefix("this."))) or base.kind not in (
        "identifier",
        "this",
    ):
        return None
    from_start = write.operation == "shift" or (write.operands and module.text(write.operands[0]) in ("0", "1"))
    for outer in write.node.ancestors():
        if outer.kind in LOOPS or outer.kind == "if_statement":
            condition = outer.fields.get("condition")
            limited = condition is not None and re.search(
                re.escape(name) + r"\.length\s*>(?!=?\s*[01]\b)", module.text(condition)
            )
            if limited and from_start:
                return window(module.place(write.node), "the oldest messages are dropped when there are too many")
    return None
