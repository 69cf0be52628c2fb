"""`whitespace-drift`."""

from __future__ import annotations

from collections.abc import Sequence

from prefixwise.analyzers.fixes.bench import Bench
from prefixwise.analyzers.fixes.edits import Mended
from prefixwise.analyzers.fixes.forms import without_trailing_blanks
from prefixwise.analyzers.fixes.seen import Seen
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.mending import areas_of, with_texts
from prefixwise.analyzers.lint.moving import MovingValue
from prefixwise.analyzers.lint.text_forms import space_form
from prefixwise.analyzers.rule import RULES
from prefixwise.analyzers.static.volatile import VolatileKind
from prefixwise.analyzers.values.kinds import SpanKind
from prefixwise.core.finding import Mode, Safety, Severity, Where
from prefixwise.core.request import Request


class WhitespaceDrift(MovingValue):
    r"""# The same text with other white space

    A stripped line end, a doubled space or another indentation makes other tokens of the same words. It comes from
    code that trims messages before it stores them, from templates that are edited by different editors, and from
    clients that strip an answer before they send it again: an engine that keeps the tokens of its answers finds
    others then, and computes the answer anew.

    Blanks at the ends of a prompt file's lines are told as information, for editors and hooks take them away.

    Not reported: white space in a new message; two blanks that break a line in Markdown.

    Store and send texts exactly as they were sent or received.

    ```jsonl bad
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the ferry timetable."}, {"role": "user", "content": "When does the last ferry leave? \n"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the ferry timetable."}, {"role": "user", "content": "When does the last ferry leave?"}, {"role": "assistant", "content": "At 21:30."}, {"role": "user", "content": "From where?"}]}
    ```

    ```jsonl good
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the ferry timetable."}, {"role": "user", "content": "When does the last ferry leave? \n"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the ferry timetable."}, {"role": "user", "content": "When does the last ferry leave? \n"}, {"role": "assistant", "content": "At 21:30."}, {"role": "user", "content": "From where?"}]}
    ```
    """  # noqa: E501

    name = "whitespace-drift"
    code = "PW111"
    modes = (Mode.LOG, Mode.STATIC)
    volatile = frozenset({VolatileKind.WHITE_SPACE})
    summary = "The same words with other white space"
    severity = Severity.MEDIUM
    fix = "Store and send each text exactly as it was sent or received; do not trim."
    safety = Safety.SAFE
    where = (Where.SYSTEM, Where.MESSAGES)
    rank = 10
    kinds = frozenset({SpanKind.WHITE_SPACE})
    noun = "White space"
    of_answers = True

    def repair(self, request: Request, claims: Sequence[Claim]) -> Request | None:
        return with_texts(request, areas_of(claims), space_form(claims))

    def edit(self, seen: Seen, bench: Bench) -> Mended | None:
        return without_trailing_blanks(seen, bench)


RULES.add(WhitespaceDrift.name, WhitespaceDrift())
