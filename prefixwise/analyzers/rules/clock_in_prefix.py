"""`clock-in-prefix`."""

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
from prefixwise.analyzers.values.kinds import Candidate, Precision, SpanKind
from prefixwise.core.finding import Mode, Safety, Severity, Where
from prefixwise.core.request import Request


class ClockInPrefix(MovingValue):
    """# A clock in the prefix

    A date or time that is rendered into the system prompt, or anew into an earlier message, makes the prompt another one
    each time it ticks. How much is lost depends on where it stands, not on how few tokens it takes: everything behind it
    is computed again. Seconds and minutes lose it on every call, hours once an hour, a date once a day.

    Not reported: a date that never changes, a clock in the newest message or in a tool result that is appended and then
    sent again as it was, dates in model names and versions.

    Give the date in the newest message, only when the answer needs it, and keep it there when the conversation goes on;
    or let the model ask a tool. Where the system prompt must have it, a day's precision at its end costs least.

    ```jsonl bad
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferry timetables. Say which quay, and what to do when a crossing is cancelled. Now it is 2026-03-11 09:14:07."}, {"role": "user", "content": "When does the last ferry leave?"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferry timetables. Say which quay, and what to do when a crossing is cancelled. Now it is 2026-03-11 09:14:52."}, {"role": "user", "content": "When does the last ferry leave?"}, {"role": "assistant", "content": "At 20:30 from quay 1."}, {"role": "user", "content": "And on day 2?"}]}
    ```

    ```jsonl good
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferry timetables. Say which quay, and what to do when a crossing is cancelled. Timetable of 2026-03-11."}, {"role": "user", "content": "When does the last ferry leave?"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferry timetables. Say which quay, and what to do when a crossing is cancelled. Timetable of 2026-03-11."}, {"role": "user", "content": "When does the last ferry leave?"}, {"role": "assistant", "content": "At 20:30 from quay 1."}, {"role": "user", "content": "And on day 2?"}]}
    ```

    In a template:

    ```jinja bad
    It is {{ now }}.

    You answer questions on ferry timetables. Name the quay, the time and the fare in every answer, say which
    office to call when a ferry is late, and never promise a seat. Answer in the language of the question, in at most
    three sentences. Quays have numbers, fares are in euros, and children under six travel for nothing.
    ```

    ```jinja good
    You answer questions on ferry timetables. Name the quay, the time and the fare in every answer, say which
    office to call when a ferry is late, and never promise a seat. Answer in the language of the question, in at most
    three sentences. Quays have numbers, fares are in euros, and children under six travel for nothing.

    It is {{ now }}.
    ```
    """  # noqa: E501

    name = "clock-in-prefix"
    code = "PW101"
    modes = (Mode.LOG, Mode.STATIC)
    volatile = frozenset({VolatileKind.CLOCK})
    summary = "A date or time in the prefix ticks from call to call"
    severity = Severity.CRITICAL
    fix = (
        "Move the date and time to the newest message, and keep it there when the conversation is sent "
        "again; or round it to the day and put it last in the system prompt."
    )
    safety = Safety.UNSAFE
    where = (
        Where.SYSTEM,
        Where.MESSAGES,
    )
    rank = 20
    kinds = frozenset({SpanKind.CLOCK})
    noun = "A clock"

    def severity_of(self, slot: Slot, reading: Candidate) -> Severity | None:
        if reading.precision in (Precision.DAY, Precision.LONGER):
            return Severity.LOW
        if reading.precision is Precision.HOUR:
            return Severity.HIGH
        return None if slot.in_turns or slot.variants > len(slot.changes) // 2 else Severity.MEDIUM

    def repair(self, request: Request, claims: Sequence[Claim]) -> Request | None:
        return with_moved_values(request, claims)

    def edit(self, seen: Seen, bench: Bench) -> Mended | None:
        return moved_in_source(seen, bench)


RULES.add(ClockInPrefix.name, ClockInPrefix())
