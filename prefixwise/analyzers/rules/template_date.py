"""`template-date`."""

from __future__ import annotations

from collections.abc import Sequence

from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.moved_values import with_constant_values
from prefixwise.analyzers.lint.moving import MovingValue
from prefixwise.analyzers.lint.slots import Slot
from prefixwise.analyzers.rule import RULES
from prefixwise.analyzers.values.kinds import Candidate, Precision, SpanKind
from prefixwise.core.finding import Mode, Severity, Where
from prefixwise.core.request import Request

_NEAR_THE_TOP = 2_000
"""Code points within which a chat template prints its date."""


class TemplateDate(MovingValue):
    r"""# The chat template prints today's date

    Some chat templates write the day into the system text of each prompt ("Today Date: 26 Jul 2024") when the caller
    passes no date. With the day, every prefix in the cache becomes useless at once, on all replicas, and for an hour
    or so after midnight all prompts are computed anew. It shows where rendered prompts are logged.

    Not reported: a template that falls back to a constant date, and dates in the text of the prompt's author.

    Pass a fixed date to the template (`date_string`, or the engine's own setting), or print it behind the messages.

    ```jsonl bad
    {"model": "llama-3.2-3b", "prompt": "<|start|>system\nToday Date: 02 Mar 2026\n\nAnswer from the ferry timetable, name the quay.<|end|><|start|>user\nWhen does the last ferry leave?<|end|>"}
    {"model": "llama-3.2-3b", "prompt": "<|start|>system\nToday Date: 03 Mar 2026\n\nAnswer from the ferry timetable, name the quay.<|end|><|start|>user\nIs there a ferry on Sunday?<|end|>"}
    ```

    ```jsonl good
    {"model": "llama-3.2-3b", "prompt": "<|start|>system\nToday Date: 26 Jul 2024\n\nAnswer from the ferry timetable, name the quay.<|end|><|start|>user\nWhen does the last ferry leave?<|end|>"}
    {"model": "llama-3.2-3b", "prompt": "<|start|>system\nToday Date: 26 Jul 2024\n\nAnswer from the ferry timetable, name the quay.<|end|><|start|>user\nIs there a ferry on Sunday?<|end|>"}
    ```

    In a model's chat template:

    ```jinja bad
    <|system|>
    Today Date: {{ strftime_now("%d %b %Y") }}
    {%- for message in messages %}
    <|{{ message.role }}|>
    {{ message.content }}<|end|>
    {%- endfor %}
    {%- if add_generation_prompt %}<|assistant|>{% endif %}
    ```

    ```jinja good
    <|system|>
    Today Date: 26 Jul 2024
    {%- for message in messages %}
    <|{{ message.role }}|>
    {{ message.content }}<|end|>
    {%- endfor %}
    {%- if add_generation_prompt %}<|assistant|>{% endif %}
    ```
    """  # noqa: E501

    name = "template-date"
    code = "PW806"
    modes = (Mode.LOG, Mode.STATIC)
    summary = "The chat template prints the day into every prompt"
    severity = Severity.LOW
    fix = "Pass the template a fixed date, or print the date behind the messages."
    where = (Where.TEMPLATE,)
    rank = 15
    kinds = frozenset({SpanKind.CLOCK})
    noun = "The date that the chat template prints"

    def accepts(self, slot: Slot, reading: Candidate) -> bool:
        change = slot.first
        rendered = change.field in ("/prompt", "/text") and (change.char_offset or 0) < _NEAR_THE_TOP
        return super().accepts(slot, reading) and rendered and reading.precision in (Precision.DAY, Precision.LONGER)

    def claim(self, slot: Slot, *details: object, **more: object) -> Claim:
        found = super().claim(slot, *details, **more)  # type: ignore[arg-type]
        found.where = Where.TEMPLATE
        return found

    def repair(self, request: Request, claims: Sequence[Claim]) -> Request | None:
        return with_constant_values(request, claims)


RULES.add(TemplateDate.name, TemplateDate())
