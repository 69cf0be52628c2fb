"""`costly-ignore`."""

from __future__ import annotations

from prefixwise.analyzers.rule import RULES, SourceRule
from prefixwise.core.finding import Severity, Where


class CostlyIgnore(SourceRule):
    """# A comment to the linter is sent to the model

    In Markdown and XML that is used as a prompt, a comment is text like any other: the model reads it, and its tokens
    are paid for on each call. Comments of Jinja, Handlebars, YAML, Python and JavaScript are taken away before anything
    is sent, and so is what stands in a front matter.

    Not reported: comments that say nothing to the linter.

    ```markdown bad
    <!-- prefixwise: ignore[user-data-first] the desk is told its own name -->
    You are the desk of {{ quay }}.
    ```

    ```markdown good
    ---
    # prefixwise: ignore-file[user-data-first] the desk is told its own name
    model: gpt-4o
    ---
    You are the desk of {{ quay }}.
    ```
    """

    name = "costly-ignore"
    code = "PW003"
    summary = "A comment to the linter is part of the prompt and costs tokens on each call"
    severity = Severity.INFO
    fix = "Say it in the front matter (`ignore-file`), in a comment of the template language, or in a baseline."
    where = (Where.TEMPLATE,)


RULES.add(CostlyIgnore.name, CostlyIgnore())
