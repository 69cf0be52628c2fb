"""`unknown-ignore`."""

from __future__ import annotations

from prefixwise.analyzers.rule import RULES, SourceRule
from prefixwise.core.finding import Severity, Where


class UnknownIgnore(SourceRule):
    """# A comment ignores nothing that can be ignored

    Findings are ignored by the name or the code of their rule, and a reason may follow: `# prefixwise: ignore[rule,
    rule] reason`, or `ignore-file[rule] reason` above everything else in a file. A comment without a name, with a name
    that no rule has, or about the whole file from further down has no effect.

    There is no comment that ignores everything: it would hide the findings of rules that nobody had seen when it was
    written.

    Not reported: anything under `--since`.

    ```python bad
    # prefixwise: ignore
    system = f"It is {datetime.now()}."
    ```

    ```python good
    # prefixwise: ignore[clock-in-prefix] one call a day
    system = f"It is {datetime.now()}."
    ```
    """

    name = "unknown-ignore"
    code = "PW002"
    summary = "A comment to ignore findings names no rule, or one that does not exist"
    severity = Severity.MEDIUM
    fix = "Name rules as `prefixwise rules` lists them: `prefixwise: ignore[rule] reason`."
    where = (Where.SOURCE, Where.TEMPLATE)


RULES.add(UnknownIgnore.name, UnknownIgnore())
