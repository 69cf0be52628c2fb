"""`counter-in-prefix`."""

from __future__ import annotations

from collections.abc import Sequence

from prefixwise.analyzers.fixes.bench import Bench
from prefixwise.analyzers.fixes.edits import Mended
from prefixwise.analyzers.fixes.moves import moved_in_source
from prefixwise.analyzers.fixes.seen import Seen
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.moved_values import with_moved_values
from prefixwise.analyzers.lint.moving import MovingValue
from prefixwise.analyzers.rule import RULES
from prefixwise.analyzers.static.volatile import VolatileKind
from prefixwise.analyzers.values.kinds import SpanKind
from prefixwise.core.finding import Mode, Safety, Severity, Where
from prefixwise.core.request import Request


class CounterInPrefix(MovingValue):
    """# A counter in the prefix

    A remaining budget, a round number or a percentage in the system prompt, or rendered anew into an earlier message,
    moves with every step and takes everything behind it out of the cache.

    Not reported: limits that stay the same, and numbers in messages that are appended.

    Put the figure into the newest message, or say it in words that change rarely ("the budget is nearly used up").

    ```jsonl bad
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferry timetables. Say which quay, and what to do when a crossing is cancelled. Remaining budget: 118,400 tokens."}, {"role": "user", "content": "When does the last ferry leave?"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferry timetables. Say which quay, and what to do when a crossing is cancelled. Remaining budget: 112,950 tokens."}, {"role": "user", "content": "When does the last ferry leave?"}, {"role": "assistant", "content": "At 20:30 from quay 1."}, {"role": "user", "content": "And on day 2?"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferry timetables. Say which quay, and what to do when a crossing is cancelled. Remaining budget: 104,205 tokens."}, {"role": "user", "content": "When does the last ferry leave?"}, {"role": "assistant", "content": "At 20:30 from quay 1."}, {"role": "user", "content": "And on day 2?"}, {"role": "assistant", "content": "At 21:30 from quay 2."}, {"role": "user", "content": "And on day 3?"}]}
    ```

    ```jsonl good
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferry timetables. Say which quay, and what to do when a crossing is cancelled. Budget: 118,400 tokens."}, {"role": "user", "content": "When does the last ferry leave?"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferry timetables. Say which quay, and what to do when a crossing is cancelled. Budget: 118,400 tokens."}, {"role": "user", "content": "When does the last ferry leave?"}, {"role": "assistant", "content": "At 20:30 from quay 1."}, {"role": "user", "content": "And on day 2?"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferry timetables. Say which quay, and what to do when a crossing is cancelled. Budget: 118,400 tokens."}, {"role": "user", "content": "When does the last ferry leave?"}, {"role": "assistant", "content": "At 20:30 from quay 1."}, {"role": "user", "content": "And on day 2?"}, {"role": "assistant", "content": "At 21:30 from quay 2."}, {"role": "user", "content": "And on day 3?"}]}
    ```

    In a template:

    ```jinja bad
    Step {{ step_number }} of {{ max_steps }}.

    You answer questions on ferry timetables. Name the quay, the time and the fare in every answer, say which
    office to call when a ferry is late, and never promise a seat. Answer in the language of the question, in at most
    three sentences. Quays have numbers, fares are in euros, and children under six travel for nothing.
    ```

    ```jinja good
    You answer questions on ferry timetables. Name the quay, the time and the fare in every answer, say which
    office to call when a ferry is late, and never promise a seat. Answer in the language of the question, in at most
    three sentences. Quays have numbers, fares are in euros, and children under six travel for nothing.

    Step {{ step_number }} of {{ max_steps }}.
    ```
    """  # noqa: E501

    name = "counter-in-prefix"
    code = "PW103"
    modes = (Mode.LOG, Mode.STATIC)
    volatile = frozenset({VolatileKind.COUNTER})
    summary = "A number in the prefix counts up or down with each call"
    severity = Severity.CRITICAL
    fix = "Move the figure to the newest message, or render it in steps that change rarely."
    safety = Safety.UNSAFE
    where = (
        Where.SYSTEM,
        Where.MESSAGES,
    )
    rank = 24
    kinds = frozenset({SpanKind.COUNTER})
    noun = "A counter"

    def repair(self, request: Request, claims: Sequence[Claim]) -> Request | None:
        return with_moved_values(request, claims)

    def edit(self, seen: Seen, bench: Bench) -> Mended | None:
        return moved_in_source(seen, bench)


RULES.add(CounterInPrefix.name, CounterInPrefix())
