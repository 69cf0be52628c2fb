"""`unused-ignore`."""

from __future__ import annotations

from prefixwise.analyzers.rule import RULES, SourceRule
from prefixwise.core.finding import Severity, Where


class UnusedIgnore(SourceRule):
    """# A comment ignores what is not there

    A comment such as `# prefixwise: ignore[clock-in-prefix]` was written for a finding that is not there any more, or
    stands where it is not about it. It hides the same fault the day somebody writes it again.

    A comment is about its own line, and about the statement or text that begins or ends there. On a line of its own it
    is about the next line that says something, and about what begins there.

    Not reported: comments that ignore a rule that was not run; anything under `--since`.

    ```python bad
    # prefixwise: ignore[clock-in-prefix] the date is wanted here
    RULES = "Answer from the timetable, and name the quay."
    ```

    ```python good
    RULES = "Answer from the timetable, and name the quay."
    ```
    """

    name = "unused-ignore"
    code = "PW001"
    summary = "A comment ignores a rule that finds nothing there"
    severity = Severity.LOW
    fix = "Delete the comment, or the name from its brackets."
    where = (Where.SOURCE, Where.TEMPLATE)


RULES.add(UnusedIgnore.name, UnusedIgnore())
