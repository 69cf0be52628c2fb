"""`user-data-first`."""

from __future__ import annotations

from collections.abc import Sequence

from prefixwise.analyzers.fixes.bench import Bench
from prefixwise.analyzers.fixes.edits import Mended
from prefixwise.analyzers.fixes.moves import moved_in_source
from prefixwise.analyzers.fixes.seen import Seen
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.moved_values import with_moved_values
from prefixwise.analyzers.lint.moving import MovingValue
from prefixwise.analyzers.lint.slots import Slot
from prefixwise.analyzers.rule import RULES
from prefixwise.analyzers.static.volatile import VolatileKind
from prefixwise.analyzers.values.kinds import SpanKind
from prefixwise.core.finding import Confidence, Mode, Safety, Severity, Where
from prefixwise.core.request import Request

_FEW = 2
_SHARED = 0.5
"""Share of a text that must be the same again behind the value."""
_OWN = 0.6
"""Share of the conversations that must have a value of their own."""
_OTHERS = frozenset(SpanKind) - {SpanKind.OTHER, SpanKind.PERSON, SpanKind.PROSE}


class UserDataFirst(MovingValue):
    """# Data of one user in front of text for all

    A name, an account or a locale at the top of the system prompt makes each user's prompt another one from that point
    on. The instructions behind it are the same for everybody, and are computed for each conversation anew.

    Not reported: data behind the shared text, and tools with a single user.

    Put what is the same for all first and the user's data last: at the end of the system prompt or into the first message.

    ```jsonl bad
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "You help Ines Aguirre, a member since 2019. You answer questions on ferry timetables. Say which quay, and what to do when a crossing is cancelled. Be brief, name the quay, and give times in local time. Never promise a refund; say where to ask for one."}, {"role": "user", "content": "When is the last ferry?"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "You help Tomasz Wrona, a member since 2022. You answer questions on ferry timetables. Say which quay, and what to do when a crossing is cancelled. Be brief, name the quay, and give times in local time. Never promise a refund; say where to ask for one."}, {"role": "user", "content": "Is quay 3 open?"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "You help Leila Haddad, a member since 2021. You answer questions on ferry timetables. Say which quay, and what to do when a crossing is cancelled. Be brief, name the quay, and give times in local time. Never promise a refund; say where to ask for one."}, {"role": "user", "content": "Do dogs pay?"}]}
    ```

    ```jsonl good
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferry timetables. Say which quay, and what to do when a crossing is cancelled."}, {"role": "user", "content": "You help Ines Aguirre, a member since 20When is the last ferry?"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferry timetables. Say which quay, and what to do when a crossing is cancelled."}, {"role": "user", "content": "You help Tomasz Wrona, a member since 20Is quay 3 open?"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferry timetables. Say which quay, and what to do when a crossing is cancelled."}, {"role": "user", "content": "You help Leila Haddad, a member since 20Do dogs pay?"}]}
    ```

    In a template:

    ```jinja bad
    Hello {{ user_name }}.

    You answer questions on ferry timetables. Name the quay, the time and the fare in every answer, say which
    office to call when a ferry is late, and never promise a seat. Answer in the language of the question, in at most
    three sentences. Quays have numbers, fares are in euros, and children under six travel for nothing.
    Dogs travel in the open part of the deck and bicycles on the car deck. When a crossing is cancelled, name the
    next one, and say that the ticket holds for it. Give no advice on trains, buses or hotels. Of two crossings that
    fit, name the earlier one. A timetable holds for one season; say so where somebody asks for a day of the next one.
    ```

    ```jinja good
    You answer questions on ferry timetables. Name the quay, the time and the fare in every answer, say which
    office to call when a ferry is late, and never promise a seat. Answer in the language of the question, in at most
    three sentences. Quays have numbers, fares are in euros, and children under six travel for nothing.
    Dogs travel in the open part of the deck and bicycles on the car deck. When a crossing is cancelled, name the
    next one, and say that the ticket holds for it. Give no advice on trains, buses or hotels. Of two crossings that
    fit, name the earlier one. A timetable holds for one season; say so where somebody asks for a day of the next one.

    Hello {{ user_name }}.
    ```
    """  # noqa: E501

    name = "user-data-first"
    code = "PW106"
    modes = (Mode.LOG, Mode.STATIC)
    volatile = frozenset({VolatileKind.PERSON})
    summary = "What belongs to one user stands in front of text that is the same for all"
    severity = Severity.HIGH
    fix = "Move the user's data behind the text that all users share."
    safety = Safety.UNSAFE
    where = (
        Where.SYSTEM,
        Where.MESSAGES,
    )
    rank = 40
    kinds = frozenset({SpanKind.PERSON})
    noun = "Data of one user"

    def detect(self, slot: Slot) -> Claim | None:
        if slot.in_turns and slot.in_turns == len(slot.changes):
            return None  # who the user is does not change inside a conversation
        found = super().detect(slot)
        if found is None and _one_a_conversation(slot):
            counted = slot.counted[0] if slot.counted else slot.first
            share = counted.equal_after / max(counted.length, 1)
            evidence = (f"{share:.0%} of the text behind it is the same again",)
            found = self.claim(slot, Confidence.LIKELY, evidence, noun="Text of one user or one conversation")
        return found

    def repair(self, request: Request, claims: Sequence[Claim]) -> Request | None:
        return with_moved_values(request, claims)

    def edit(self, seen: Seen, bench: Bench) -> Mended | None:
        return moved_in_source(seen, bench)


def _one_a_conversation(slot: Slot) -> bool:
    """Say whether nearly each conversation has a value of its own, in front of text that all have."""
    if slot.in_turns or len(slot.changes) < _FEW or (slot.reading is not None and slot.reading.kind in _OTHERS):
        return False
    shared = sum(change.equal_after >= _SHARED * change.length for change in slot.counted)
    return slot.variants > _OWN * len(slot.changes) and shared > _OWN * len(slot.counted)


RULES.add(UserDataFirst.name, UserDataFirst())
