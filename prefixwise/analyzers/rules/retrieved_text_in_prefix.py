"""`retrieved-text-in-prefix`."""

from __future__ import annotations

from collections.abc import Sequence

from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.moved_values import with_moved_values
from prefixwise.analyzers.lint.moving import MovingValue
from prefixwise.analyzers.lint.slots import Slot
from prefixwise.analyzers.rule import RULES
from prefixwise.analyzers.static.volatile import VolatileKind
from prefixwise.analyzers.values.kinds import Candidate, SpanKind
from prefixwise.core.finding import Mode, Severity, Where
from prefixwise.core.request import Request


class RetrievedTextInPrefix(MovingValue):
    r"""# Retrieved text in the prefix

    Passages found for the question, recalled notes or search results that are rendered into the system prompt, or into
    the first message, are others on each turn. The instructions behind them and the whole history are computed again,
    though only the passages are new.

    Not reported: documents that stay the same, and passages in the newest message that are kept there afterwards.

    Put passages for one question into the newest message and send them again as they were. Documents that a whole
    conversation needs belong in front, unchanged.

    ```jsonl bad
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferry timetables. Say which quay, and what to do when a crossing is cancelled.\n\n## Recalled notes\n- The traveller prefers mornings and sits outside when it is dry.\n- Asked about bicycles in spring.\n\n## Rules\nName the quay in every answer, and never guess a time."}, {"role": "user", "content": "When does the last ferry leave?"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferry timetables. Say which quay, and what to do when a crossing is cancelled.\n\n## Recalled notes\n- The traveller was late twice last month because of the bridge.\n- Wants to know about refunds for cancelled crossings.\n\n## Rules\nName the quay in every answer, and never guess a time."}, {"role": "user", "content": "When does the last ferry leave?"}, {"role": "assistant", "content": "At 20:30 from quay 1."}, {"role": "user", "content": "And on day 2?"}]}
    ```

    ```jsonl good
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferry timetables. Say which quay, and what to do when a crossing is cancelled.\n\n## Recalled notes\n- The traveller prefers mornings and sits outside when it is dry.\n- Asked about bicycles in spring.\n\n## Rules\nName the quay in every answer, and never guess a time."}, {"role": "user", "content": "When does the last ferry leave?"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferry timetables. Say which quay, and what to do when a crossing is cancelled.\n\n## Recalled notes\n- The traveller prefers mornings and sits outside when it is dry.\n- Asked about bicycles in spring.\n\n## Rules\nName the quay in every answer, and never guess a time."}, {"role": "user", "content": "When does the last ferry leave?"}, {"role": "assistant", "content": "At 20:30 from quay 1."}, {"role": "user", "content": "And on day 2?"}]}
    ```

    In a template:

    ```jinja bad
    What the timetable says:
    {% for doc in retrieved_documents %}
    - {{ doc.text }}
    {% endfor %}

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

    What the timetable says:
    {% for doc in retrieved_documents %}
    - {{ doc.text }}
    {% endfor %}
    ```
    """  # noqa: E501

    name = "retrieved-text-in-prefix"
    code = "PW105"
    modes = (Mode.LOG, Mode.STATIC)
    volatile = frozenset({VolatileKind.RETRIEVED})
    summary = "Passages, notes or search results in the prefix change from turn to turn"
    severity = Severity.CRITICAL
    fix = (
        "Put retrieved passages into the newest message and keep them there; only documents that never "
        "change belong in the prefix."
    )
    where = (
        Where.SYSTEM,
        Where.MESSAGES,
    )
    rank = 30
    kinds = frozenset({SpanKind.PROSE})
    noun = "Retrieved text"

    def accepts(self, slot: Slot, reading: Candidate) -> bool:
        return super().accepts(slot, reading) and (slot.in_turns > 0 or len(slot.changes) > 1)

    def repair(self, request: Request, claims: Sequence[Claim]) -> Request | None:
        return with_moved_values(request, claims)


RULES.add(RetrievedTextInPrefix.name, RetrievedTextInPrefix())
