"""`fewshot-unstable`."""

from __future__ import annotations

from collections.abc import Sequence

from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.moved_values import with_constant_values
from prefixwise.analyzers.lint.moving import MovingValue
from prefixwise.analyzers.rule import RULES
from prefixwise.analyzers.static.volatile import VolatileKind
from prefixwise.analyzers.values.kinds import SpanKind
from prefixwise.core.finding import Mode, Severity, Where
from prefixwise.core.request import Request


class FewshotUnstable(MovingValue):
    r"""# Examples that are drawn anew

    Examples that are sampled, shuffled or chosen by likeness to the question stand in the prefix in another order, or are
    others, on each call. Everything from the first moved example on is computed again.

    Draw the examples once for each version of the prompt and keep their order. Where the choice by likeness is worth its
    price, put the examples behind everything that is constant.

    ```jsonl bad
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferry timetables. Say which quay, and what to do when a crossing is cancelled.\n\nQ: Is quay 3 open?\nA: Yes, until nine.\n\nQ: Do dogs pay?\nA: Half the fare.\n\nQ: Is there a toilet?\nA: On deck two.\n\nAnswer like the examples."}, {"role": "user", "content": "When does the last ferry leave?"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferry timetables. Say which quay, and what to do when a crossing is cancelled.\n\nQ: Is there a toilet?\nA: On deck two.\n\nQ: Is quay 3 open?\nA: Yes, until nine.\n\nQ: Do dogs pay?\nA: Half the fare.\n\nAnswer like the examples."}, {"role": "user", "content": "When does the last ferry leave?"}, {"role": "assistant", "content": "At 20:30 from quay 1."}, {"role": "user", "content": "And on day 2?"}]}
    ```

    ```jsonl good
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferry timetables. Say which quay, and what to do when a crossing is cancelled.\n\nQ: Is quay 3 open?\nA: Yes, until nine.\n\nQ: Do dogs pay?\nA: Half the fare.\n\nQ: Is there a toilet?\nA: On deck two.\n\nAnswer like the examples."}, {"role": "user", "content": "When does the last ferry leave?"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferry timetables. Say which quay, and what to do when a crossing is cancelled.\n\nQ: Is quay 3 open?\nA: Yes, until nine.\n\nQ: Do dogs pay?\nA: Half the fare.\n\nQ: Is there a toilet?\nA: On deck two.\n\nAnswer like the examples."}, {"role": "user", "content": "When does the last ferry leave?"}, {"role": "assistant", "content": "At 20:30 from quay 1."}, {"role": "user", "content": "And on day 2?"}]}
    ```

    In code:

    ```python bad
    import random

    from openai import OpenAI

    EXAMPLES = ["Q: To Mill? A: 14:05.", "Q: Dogs? A: On deck.", "Q: Late? A: Call 7.", "Q: Fare? A: 4 euros."]
    RULES = (
        "You answer questions on ferry timetables. Name the quay, the time and the fare in every answer, and "
        "say which office to call when a ferry is late, and never promise a seat. Answer in the language of the "
        "question, in at most three sentences. Quays have numbers and children under six travel for nothing. "
    )


    def ask(question):
        system = " ".join(random.sample(EXAMPLES, 3)) + RULES
        return OpenAI().chat.completions.create(
            model="gpt-4o",
            messages=[{"role": "system", "content": system}, {"role": "user", "content": question}],
        )
    ```

    ```python good
    from openai import OpenAI

    EXAMPLES = ["Q: To Mill? A: 14:05.", "Q: Dogs? A: On deck.", "Q: Late? A: Call 7.", "Q: Fare? A: 4 euros."]
    RULES = (
        "You answer questions on ferry timetables. Name the quay, the time and the fare in every answer, and "
        "say which office to call when a ferry is late, and never promise a seat. Answer in the language of the "
        "question, in at most three sentences. Quays have numbers and children under six travel for nothing. "
    )


    def ask(question):
        system = " ".join(EXAMPLES[:3]) + RULES
        return OpenAI().chat.completions.create(
            model="gpt-4o",
            messages=[{"role": "system", "content": system}, {"role": "user", "content": question}],
        )
    ```
    """  # noqa: E501

    name = "fewshot-unstable"
    code = "PW107"
    modes = (Mode.LOG, Mode.STATIC)
    volatile = frozenset({VolatileKind.EXAMPLES})
    summary = "Few-shot examples come in another order, or are others, on each call"
    severity = Severity.MEDIUM
    fix = "Fix the examples and their order for each version of the prompt, or put them behind the constant text."
    where = (
        Where.SYSTEM,
        Where.MESSAGES,
    )
    rank = 28
    kinds = frozenset({SpanKind.EXAMPLES})
    noun = "A set of examples"

    def repair(self, request: Request, claims: Sequence[Claim]) -> Request | None:
        return with_constant_values(request, claims)


RULES.add(FewshotUnstable.name, FewshotUnstable())
