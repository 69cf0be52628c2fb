"""`locale-dependent-format`."""

from __future__ import annotations

from prefixwise.analyzers.lint.moving import MovingValue
from prefixwise.analyzers.rule import RULES
from prefixwise.analyzers.static.volatile import VolatileKind
from prefixwise.analyzers.values.kinds import SpanKind
from prefixwise.core.finding import Mode, Safety, Severity, Where


class LocaleDependentFormat(MovingValue):
    """# A value in the format of whoever renders it

    Numbers and dates that are formatted for the locale of the process or of the user are the same value in other bytes
    when another worker, or another user, renders the prompt.

    Render prompts with one fixed locale.

    ```jsonl bad
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferry timetables. Say which quay, and what to do when a crossing is cancelled. A ticket costs 1,250.50 crowns."}, {"role": "user", "content": "When does the last ferry leave?"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferry timetables. Say which quay, and what to do when a crossing is cancelled. A ticket costs 1.250,50 crowns."}, {"role": "user", "content": "When does the last ferry leave?"}, {"role": "assistant", "content": "At 20:30 from quay 1."}, {"role": "user", "content": "And on day 2?"}]}
    ```

    ```jsonl good
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferry timetables. Say which quay, and what to do when a crossing is cancelled. A ticket costs 1,250.50 crowns."}, {"role": "user", "content": "When does the last ferry leave?"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "You answer questions on ferry timetables. Say which quay, and what to do when a crossing is cancelled. A ticket costs 1,250.50 crowns."}, {"role": "user", "content": "When does the last ferry leave?"}, {"role": "assistant", "content": "At 20:30 from quay 1."}, {"role": "user", "content": "And on day 2?"}]}
    ```

    In code:

    ```python bad
    import locale

    from openai import OpenAI

    FARE = 1250.5
    RULES = (
        "You answer questions on ferry timetables. Name the quay, the time and the fare in every answer, and "
        "say which office to call when a ferry is late, and never promise a seat. Answer in the language of the "
        "question, in at most three sentences. Quays have numbers and children under six travel for nothing. "
    )


    def ask(question):
        system = f"Fares up to {locale.currency(FARE)}. {RULES}"
        return OpenAI().chat.completions.create(
            model="gpt-4o",
            messages=[{"role": "system", "content": system}, {"role": "user", "content": question}],
        )
    ```

    ```python good
    from openai import OpenAI

    FARE = 1250.5
    RULES = (
        "You answer questions on ferry timetables. Name the quay, the time and the fare in every answer, and "
        "say which office to call when a ferry is late, and never promise a seat. Answer in the language of the "
        "question, in at most three sentences. Quays have numbers and children under six travel for nothing. "
    )


    def ask(question):
        system = f"Fares up to {FARE:.2f} euros. {RULES}"
        return OpenAI().chat.completions.create(
            model="gpt-4o",
            messages=[{"role": "system", "content": system}, {"role": "user", "content": question}],
        )
    ```
    """  # noqa: E501

    name = "locale-dependent-format"
    code = "PW109"
    modes = (Mode.LOG, Mode.STATIC)
    volatile = frozenset({VolatileKind.LOCALE})
    summary = "The same value is formatted for another locale"
    severity = Severity.MEDIUM
    fix = "Format numbers and dates of prompts with one fixed locale."
    safety = Safety.SAFE
    where = (
        Where.SYSTEM,
        Where.MESSAGES,
    )
    rank = 25
    kinds = frozenset({SpanKind.LOCALE})
    noun = "A number or date"


RULES.add(LocaleDependentFormat.name, LocaleDependentFormat())
