"""`line-ending-drift`."""

from __future__ import annotations

from collections.abc import Sequence

from prefixwise.analyzers.fixes.bench import Bench
from prefixwise.analyzers.fixes.edits import Mended
from prefixwise.analyzers.fixes.forms import one_line_end_in_source
from prefixwise.analyzers.fixes.seen import Seen
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.mending import areas_of, with_texts
from prefixwise.analyzers.lint.moving import MovingValue
from prefixwise.analyzers.lint.text_forms import one_line_end
from prefixwise.analyzers.rule import RULES
from prefixwise.analyzers.values.kinds import SpanKind
from prefixwise.core.finding import Mode, Safety, Severity, Where
from prefixwise.core.request import Request


class LineEndingDrift(MovingValue):
    r"""# The same text with other line ends

    `\r\n` and `\n` look alike and are different tokens. A prompt file that is checked out on two systems, or a store
    that turns one into the other, makes two prompts of one.

    A prompt file in which lines end in two ways is told as information, for the next editor makes one of them.

    Keep one line end in the repository (`.gitattributes`) and turn line ends into `\n` before a prompt is sent.

    ```jsonl bad
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the timetable.\r\nName the quay.\r\nBe brief."}, {"role": "user", "content": "When does the last ferry leave?"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the timetable.\nName the quay.\nBe brief."}, {"role": "user", "content": "When does the last ferry leave?"}, {"role": "assistant", "content": "At 21:30."}, {"role": "user", "content": "From where?"}]}
    ```

    ```jsonl good
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the timetable.\r\nName the quay.\r\nBe brief."}, {"role": "user", "content": "When does the last ferry leave?"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the timetable.\r\nName the quay.\r\nBe brief."}, {"role": "user", "content": "When does the last ferry leave?"}, {"role": "assistant", "content": "At 21:30."}, {"role": "user", "content": "From where?"}]}
    ```
    """  # noqa: E501

    name = "line-ending-drift"
    code = "PW112"
    modes = (Mode.LOG, Mode.STATIC)
    summary = "The same lines with other line ends"
    severity = Severity.MEDIUM
    fix = "Turn line ends into one form before a prompt is sent, and keep one form in the repository."
    safety = Safety.SAFE
    where = (Where.SYSTEM, Where.MESSAGES)
    rank = 9
    kinds = frozenset({SpanKind.LINE_ENDS})
    noun = "The form of line ends"
    of_answers = True
    of_whole_file = True

    def repair(self, request: Request, claims: Sequence[Claim]) -> Request | None:
        return with_texts(request, areas_of(claims), one_line_end)

    def edit(self, seen: Seen, bench: Bench) -> Mended | None:
        return one_line_end_in_source(seen, bench)


RULES.add(LineEndingDrift.name, LineEndingDrift())
