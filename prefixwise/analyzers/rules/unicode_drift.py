"""`unicode-drift`."""

from __future__ import annotations

from collections.abc import Sequence

from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.mending import areas_of, with_texts
from prefixwise.analyzers.lint.moving import MovingValue
from prefixwise.analyzers.lint.text_forms import character_form
from prefixwise.analyzers.rule import RULES
from prefixwise.analyzers.values.kinds import SpanKind
from prefixwise.core.finding import Safety, Severity, Where
from prefixwise.core.request import Request


class UnicodeDrift(MovingValue):
    r"""# The same characters in other code points

    An é can be one code point or two, and an escape such as `\u00e9` is six characters where the letter is one. They
    look the same and are different tokens. A database, a file system or a JSON encoder that changes the form on the
    way makes another prompt of the same text.

    Bring texts to one form (NFC) where they enter, and do not change them afterwards.

    ```jsonl bad
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the timetable."}, {"role": "user", "content": "Does the Café Léman open on Sunday?"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the timetable."}, {"role": "user", "content": "Does the Cafe\u0301 Le\u0301man open on Sunday?"}, {"role": "assistant", "content": "Yes."}, {"role": "user", "content": "From when?"}]}
    ```

    ```jsonl good
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the timetable."}, {"role": "user", "content": "Does the Café Léman open on Sunday?"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the timetable."}, {"role": "user", "content": "Does the Café Léman open on Sunday?"}, {"role": "assistant", "content": "Yes."}, {"role": "user", "content": "From when?"}]}
    ```
    """  # noqa: E501

    name = "unicode-drift"
    code = "PW113"
    summary = "The same characters in another Unicode form, or as escapes"
    severity = Severity.MEDIUM
    fix = "Bring texts to one Unicode form (NFC) where they enter, and store and send them unchanged."
    safety = Safety.SAFE
    where = (Where.SYSTEM, Where.MESSAGES)
    rank = 8
    kinds = frozenset({SpanKind.UNICODE})
    noun = "The Unicode form of the text"
    of_answers = True

    def repair(self, request: Request, claims: Sequence[Claim]) -> Request | None:
        return with_texts(request, areas_of(claims), character_form(claims))


RULES.add(UnicodeDrift.name, UnicodeDrift())
