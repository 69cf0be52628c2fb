"""`unordered-iteration`."""

from __future__ import annotations

from collections.abc import Sequence

from prefixwise.analyzers.fixes.bench import Bench
from prefixwise.analyzers.fixes.edits import Mended
from prefixwise.analyzers.fixes.orders import sorted_in_source
from prefixwise.analyzers.fixes.seen import Seen
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.mended_order import with_sorted_parts
from prefixwise.analyzers.lint.moving import MovingValue
from prefixwise.analyzers.rule import RULES
from prefixwise.analyzers.static.volatile import VolatileKind
from prefixwise.analyzers.values.kinds import SpanKind
from prefixwise.core.finding import Mode, Safety, Severity, Where
from prefixwise.core.request import Request


class UnorderedIteration(MovingValue):
    r"""# Parts of a text in no fixed order

    A list that is built from a set, a map or a directory listing comes out in another order in each process, or on each
    call. The words are the same, the prompt is not.

    The same holds for JSON in a text whose keys come in another order, or with other spacing.

    Sort what is rendered into a prompt, by name or by a number that stays.

    ```jsonl bad
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferry timetables. Say which quay, and what to do when a crossing is cancelled.\nStops: Harbour, Old Town, Mill, Airport.\nName the stop."}, {"role": "user", "content": "When does the last ferry leave?"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferry timetables. Say which quay, and what to do when a crossing is cancelled.\nStops: Mill, Harbour, Airport, Old Town.\nName the stop."}, {"role": "user", "content": "When does the last ferry leave?"}, {"role": "assistant", "content": "At 20:30 from quay 1."}, {"role": "user", "content": "And on day 2?"}]}
    ```

    ```jsonl good
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferry timetables. Say which quay, and what to do when a crossing is cancelled.\nStops: Harbour, Old Town, Mill, Airport.\nName the stop."}, {"role": "user", "content": "When does the last ferry leave?"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferry timetables. Say which quay, and what to do when a crossing is cancelled.\nStops: Harbour, Old Town, Mill, Airport.\nName the stop."}, {"role": "user", "content": "When does the last ferry leave?"}, {"role": "assistant", "content": "At 20:30 from quay 1."}, {"role": "user", "content": "And on day 2?"}]}
    ```

    In code:

    ```python bad
    from openai import OpenAI

    STOPS = {"Harbour", "Mill", "Airport"}
    RULES = (
        "You answer questions on ferry timetables. Name the quay, the time and the fare in every answer, and "
        "say which office to call when a ferry is late, and never promise a seat. Answer in the language of the "
        "question, in at most three sentences. Quays have numbers and children under six travel for nothing. "
    )


    def ask(question):
        system = f"Stops: {', '.join(STOPS)}. {RULES}"
        return OpenAI().chat.completions.create(
            model="gpt-4o",
            messages=[{"role": "system", "content": system}, {"role": "user", "content": question}],
        )
    ```

    ```python good
    from openai import OpenAI

    STOPS = {"Harbour", "Mill", "Airport"}
    RULES = (
        "You answer questions on ferry timetables. Name the quay, the time and the fare in every answer, and "
        "say which office to call when a ferry is late, and never promise a seat. Answer in the language of the "
        "question, in at most three sentences. Quays have numbers and children under six travel for nothing. "
    )


    def ask(question):
        system = f"Stops: {', '.join(sorted(STOPS))}. {RULES}"
        return OpenAI().chat.completions.create(
            model="gpt-4o",
            messages=[{"role": "system", "content": system}, {"role": "user", "content": question}],
        )
    ```
    """  # noqa: E501

    name = "unordered-iteration"
    code = "PW108"
    modes = (Mode.LOG, Mode.STATIC)
    volatile = frozenset({VolatileKind.UNORDERED})
    summary = "Lines or parts of the prefix come in another order"
    severity = Severity.HIGH
    fix = "Sort the parts before they are rendered."
    safety = Safety.SAFE
    where = (
        Where.SYSTEM,
        Where.MESSAGES,
    )
    rank = 27
    kinds = frozenset({SpanKind.ORDER, SpanKind.JSON_FORM})
    noun = "The order of a list or of keys"

    def repair(self, request: Request, claims: Sequence[Claim]) -> Request | None:
        return with_sorted_parts(request, claims)

    def edit(self, seen: Seen, bench: Bench) -> Mended | None:
        return sorted_in_source(seen, bench)


RULES.add(UnorderedIteration.name, UnorderedIteration())
