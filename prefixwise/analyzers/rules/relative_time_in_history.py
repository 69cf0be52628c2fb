"""`relative-time-in-history`."""

from __future__ import annotations

from collections.abc import Sequence

from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.moved_values import with_moved_values
from prefixwise.analyzers.lint.moving import MovingValue
from prefixwise.analyzers.rule import RULES
from prefixwise.analyzers.static.volatile import VolatileKind
from prefixwise.analyzers.values.kinds import SpanKind
from prefixwise.core.finding import Mode, Severity, Where
from prefixwise.core.request import Request


class RelativeTimeInHistory(MovingValue):
    """# Ages that are rendered again

    "[2 minutes ago]" in front of an earlier message is true for a minute. Each call renders the ages of all messages
    again, and the first one that has moved takes the whole history out of the cache.

    Not reported: an age in the newest message.

    Write the time of a message once, as a date and time, and leave it as it is.

    ```jsonl bad
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the timetable."}, {"role": "user", "content": "[just now] When does the last ferry leave?"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the timetable."}, {"role": "user", "content": "[4 minutes ago] When does the last ferry leave?"}, {"role": "assistant", "content": "At 21:30."}, {"role": "user", "content": "[just now] From where?"}]}
    ```

    ```jsonl good
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the timetable."}, {"role": "user", "content": "[09:14] When does the last ferry leave?"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the timetable."}, {"role": "user", "content": "[09:14] When does the last ferry leave?"}, {"role": "assistant", "content": "At 21:30."}, {"role": "user", "content": "[09:18] From where?"}]}
    ```

    In a template:

    ```jinja bad
    The timetable was changed {{ changed_ago }}.

    You answer questions on ferry timetables. Name the quay, the time and the fare in every answer, say which
    office to call when a ferry is late, and never promise a seat. Answer in the language of the question, in at most
    three sentences. Quays have numbers, fares are in euros, and children under six travel for nothing.
    ```

    ```jinja good
    You answer questions on ferry timetables. Name the quay, the time and the fare in every answer, say which
    office to call when a ferry is late, and never promise a seat. Answer in the language of the question, in at most
    three sentences. Quays have numbers, fares are in euros, and children under six travel for nothing.

    The timetable was changed on {{ changed_on }}.
    ```
    """  # noqa: E501

    name = "relative-time-in-history"
    code = "PW110"
    modes = (Mode.LOG, Mode.STATIC)
    volatile = frozenset({VolatileKind.RELATIVE_TIME})
    summary = "Ages of messages are rendered again on each call"
    severity = Severity.HIGH
    fix = "Write the time of a message once, as a date and time, when it is stored."
    where = (Where.MESSAGES, Where.SYSTEM)
    rank = 18
    kinds = frozenset({SpanKind.RELATIVE_TIME})
    noun = "An age"

    def repair(self, request: Request, claims: Sequence[Claim]) -> Request | None:
        return with_moved_values(request, claims, told=False)


RULES.add(RelativeTimeInHistory.name, RelativeTimeInHistory())
