"""`placeholder-unrendered`."""

from __future__ import annotations

from collections.abc import Iterator

from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.lint.unfilled_place import Unfilled
from prefixwise.analyzers.rule import RULES, LogRule
from prefixwise.core.finding import Confidence, Severity, Where


class PlaceholderUnrendered(LogRule):
    """# A placeholder was sent where a value belongs

    `{{ customer_name }}`, `{name}`, `${name}`, `%(name)s` or `<%= name %>` in a prompt that has reached the provider
    means that nobody filled the template in: a variable was missing, two template languages were mixed up, or a text
    was sent past the code that renders it. The model then answers somebody called `{{ customer_name }}`. The day
    somebody repairs it, a value moves in the middle of the prefix.

    Reported as certain where another request of the same application, equal on both sides of the place, has a value
    there: then some calls are filled in and others not, and each form has a prefix of its own. Reported as likely, and
    low, where a system prompt holds a double brace, or ERB's tag, around one name. Prompts that speak of templates,
    variables or code, or that show what is to be written, are left alone, and so are code, formulas, JSON and what
    users say. Single braces, dollars and percent signs are never reported without a request that has a value.

    **Fix.** Fill the template in for every call, and let rendering fail where a variable has no value. What is filled
    in belongs behind the text that never changes.

    ```jsonl bad
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "You are the assistant of the northern ferries. You talk to {{ customer_name }} about times and fares, and you are short and kind."}, {"role": "user", "content": "When does the last ferry leave?"}]}
    ```

    ```jsonl good
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "You help people who write mail templates. A template holds placeholders such as {{ customer_name }}; leave them as they are."}, {"role": "user", "content": "Make the greeting shorter."}]}
    ```
    """  # noqa: E501

    name = "placeholder-unrendered"
    code = "PW116"
    summary = "A placeholder of a template reached the provider as it is written"
    severity = Severity.MEDIUM
    fix = "Fill the template in for every call, and let rendering fail where a variable has no value."
    where = (Where.SYSTEM, Where.MESSAGES)
    rank = 94
    deployable = False

    def detect(self, log: Log) -> Iterator[Claim]:
        seen: set[tuple[int, str, int]] = set()
        for place in sorted(log.unfilled, key=lambda place: not place.value):
            key = (place.row, place.field, place.char_offset)
            if key not in seen:
                seen.add(key)
                yield self._claim(log, place)

    def _claim(self, log: Log, place: Unfilled) -> Claim:
        name = place.text[:_SHOWN]
        if place.value:
            said = "another request, equal on both sides of the place, has a value there"
            message = f"`{name}` was sent as it is written, and other requests have a value in its place."
        else:
            rows = log.families[log.applications[place.row]]
            count = sum(place.content in log.outlines.head[row] for row in rows)
            said = f"{count:,} request{'s have' if count != 1 else ' has'} it"
            message = f"`{name}` stands in the system prompt as it is written: nothing filled the template in."
        return Claim(
            rule=self.name,
            where=place.where,
            after=place.row,
            field=place.field,
            char_offset=place.char_offset,
            from_text=place.value or None,
            to_text=place.text,
            confidence=Confidence.CERTAIN if place.value else Confidence.LIKELY,
            severity=self.severity if place.value else Severity.LOW,
            cause=(place.text, bool(place.value)),
            evidence=(said,),
            message=message,
        )


_SHOWN = 40

RULES.add(PlaceholderUnrendered.name, PlaceholderUnrendered())
