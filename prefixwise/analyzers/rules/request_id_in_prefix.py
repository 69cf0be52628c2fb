"""`request-id-in-prefix`."""

from __future__ import annotations

import re
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

_FEW = 3
_BRACKETS = " \t[](){}<>\"'`.,;:#"
_NONCE = re.compile(r"[\w-]{4,40}")
_MIXED = re.compile(r"\d[A-Za-z]|[A-Za-z]\d|[a-z][A-Z]")


class RequestIdInPrefix(MovingValue):
    """# An id in the prefix

    A message id, trace id, nonce or session id that is printed into the system prompt is another one on each call, or in
    each conversation, and nothing behind it can be shared. A few characters at the top cost the whole prompt.

    Not reported: an id that stays the same (a tenant's, a template's), ids in headers and metadata, ids in messages that
    are appended and sent again as they were.

    Send ids as metadata or headers. Where the model must see one, put it into the newest message.

    ```jsonl bad
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferry timetables. Say which quay, and what to do when a crossing is cancelled. Request id: 7f31a0c2-06e4-4b1d-9c55-1f2e3d4c5b6a."}, {"role": "user", "content": "When does the last ferry leave?"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferry timetables. Say which quay, and what to do when a crossing is cancelled. Request id: 0b9d4e77-52aa-4f0c-8e21-6a7b8c9d0e1f."}, {"role": "user", "content": "When does the last ferry leave?"}, {"role": "assistant", "content": "At 20:30 from quay 1."}, {"role": "user", "content": "And on day 2?"}]}
    ```

    ```jsonl good
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferry timetables. Say which quay, and what to do when a crossing is cancelled. Tenant 7f31a0c2-06e4-4b1d-9c55-1f2e3d4c5b6a."}, {"role": "user", "content": "When does the last ferry leave?"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferry timetables. Say which quay, and what to do when a crossing is cancelled. Tenant 7f31a0c2-06e4-4b1d-9c55-1f2e3d4c5b6a."}, {"role": "user", "content": "When does the last ferry leave?"}, {"role": "assistant", "content": "At 20:30 from quay 1."}, {"role": "user", "content": "And on day 2?"}]}
    ```

    In code:

    ```python bad
    from uuid import uuid4

    from openai import OpenAI

    RULES = (
        "You answer questions on ferry timetables. Name the quay, the time and the fare in every answer, and "
        "say which office to call when a ferry is late, and never promise a seat. Answer in the language of the "
        "question, in at most three sentences. Quays have numbers and children under six travel for nothing. "
    )


    def ask(question):
        system = f"Request {uuid4()}. {RULES}"
        return OpenAI().chat.completions.create(
            model="gpt-4o",
            messages=[{"role": "system", "content": system}, {"role": "user", "content": question}],
        )
    ```

    ```python good
    from openai import OpenAI

    RULES = (
        "You answer questions on ferry timetables. Name the quay, the time and the fare in every answer, and "
        "say which office to call when a ferry is late, and never promise a seat. Answer in the language of the "
        "question, in at most three sentences. Quays have numbers and children under six travel for nothing. "
    )


    def ask(question):
        system = RULES
        return OpenAI().chat.completions.create(
            model="gpt-4o",
            messages=[{"role": "system", "content": system}, {"role": "user", "content": question}],
        )
    ```
    """  # noqa: E501

    name = "request-id-in-prefix"
    code = "PW102"
    modes = (Mode.LOG, Mode.STATIC)
    volatile = frozenset({VolatileKind.IDENTIFIER})
    summary = "An id in the prefix is another one on each call"
    severity = Severity.CRITICAL
    fix = "Move the id out of the prompt into metadata or a header; where the model needs it, into the newest message."
    safety = Safety.UNSAFE
    where = (
        Where.SYSTEM,
        Where.MESSAGES,
    )
    rank = 22
    kinds = frozenset({SpanKind.IDENTIFIER})
    noun = "An id"

    def detect(self, slot: Slot) -> Claim | None:
        found = super().detect(slot)
        if found is None and _is_nonce(slot):
            evidence = (f"{slot.variants} different values in {len(slot.changes)} changes",)
            found = self.claim(slot, Confidence.LIKELY, evidence)
        return found

    def repair(self, request: Request, claims: Sequence[Claim]) -> Request | None:
        return with_moved_values(request, claims)

    def edit(self, seen: Seen, bench: Bench) -> Mended | None:
        return moved_in_source(seen, bench)


def _is_nonce(slot: Slot) -> bool:
    """Say whether a short value that is no word and no plain number never comes twice."""
    values = {value.strip(_BRACKETS) for value in slot.values}
    mixed = sum(bool(_MIXED.search(value)) for value in values)
    return (
        len(slot.changes) >= _FEW
        and slot.variants > len(slot.changes)
        and (slot.reading is None or slot.reading.kind is SpanKind.OTHER)
        and all(_NONCE.fullmatch(value) for value in values)
        and mixed >= _FEW
        and mixed > len(values) / 2
    )


RULES.add(RequestIdInPrefix.name, RequestIdInPrefix())
