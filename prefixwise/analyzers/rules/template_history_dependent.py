"""`template-history-dependent`."""

from __future__ import annotations

from collections.abc import Sequence

from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.compared import Compared
from prefixwise.analyzers.lint.likeness import common_start
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.lint.thoughts import has_thoughts, without_thoughts
from prefixwise.analyzers.rule import RULES, PairRule, Stage
from prefixwise.core.finding import Confidence, Mode, Severity, Where
from prefixwise.corpus.rendered_turns import turns_in

_SHOWN = 200
_LEAST = 16
"""Tokens that a template may add to open the answer, which the next prompt writes otherwise."""
_MUCH = 2_000
"""Tokens from which the loss of one turn is no trifle."""


class TemplateHistoryDependent(PairRule):
    r"""# The chat template writes earlier turns otherwise than it wrote them first

    Some chat templates look at the whole conversation while they render it: they show the model's thoughts for the
    current turn and leave them out of earlier ones, move the tools behind the newest message, or trim answers. The
    messages are the same as before, the prompt is not: with each new turn the one before it is computed again. It
    shows in prompts that come rendered, and in logs of chats where the model's own template is given (`--tokenizer`).

    Not reported: templates that only append, and what the template puts at the end to open the answer.

    Switch it off where the template has a switch for it (`clear_thinking`, `preserve_thinking`), or use a template that
    only appends. Otherwise one turn is the price: keep tool loops short.

    ```jsonl bad
    {"model": "qwen3-14b", "prompt": "<|im_start|>system\nAnswer from the ferry timetable.<|im_end|>\n<|im_start|>user\nWhen does the first ferry leave?<|im_end|>\n<|im_start|>assistant\n<think>\nI look at the table.\n</think>\n\nOne moment.<|im_end|>\n<|im_start|>user\n<tool_response>05:40</tool_response><|im_end|>\n<|im_start|>assistant\n"}
    {"model": "qwen3-14b", "prompt": "<|im_start|>system\nAnswer from the ferry timetable.<|im_end|>\n<|im_start|>user\nWhen does the first ferry leave?<|im_end|>\n<|im_start|>assistant\nOne moment.<|im_end|>\n<|im_start|>user\n<tool_response>05:40</tool_response><|im_end|>\n<|im_start|>assistant\nAt 05:40.<|im_end|>\n<|im_start|>user\nAnd the second one?<|im_end|>\n<|im_start|>assistant\n"}
    ```

    ```jsonl good
    {"model": "qwen3-14b", "prompt": "<|im_start|>system\nAnswer from the ferry timetable.<|im_end|>\n<|im_start|>user\nWhen does the first ferry leave?<|im_end|>\n<|im_start|>assistant\nOne moment.<|im_end|>\n<|im_start|>user\n<tool_response>05:40</tool_response><|im_end|>\n<|im_start|>assistant\n"}
    {"model": "qwen3-14b", "prompt": "<|im_start|>system\nAnswer from the ferry timetable.<|im_end|>\n<|im_start|>user\nWhen does the first ferry leave?<|im_end|>\n<|im_start|>assistant\nOne moment.<|im_end|>\n<|im_start|>user\n<tool_response>05:40</tool_response><|im_end|>\n<|im_start|>assistant\nAt 05:40.<|im_end|>\n<|im_start|>user\nAnd the second one?<|im_end|>\n<|im_start|>assistant\n"}
    ```

    In a model's chat template:

    ```jinja bad
    {%- for message in messages %}
    <|{{ message.role }}|>
    {{ message.content.split("</think>")[-1] if not loop.last else message.content }}<|end|>
    {%- endfor %}
    {%- if add_generation_prompt %}<|assistant|>{% endif %}
    ```

    ```jinja good
    {%- for message in messages %}
    <|{{ message.role }}|>
    {{ message.content }}<|end|>
    {%- endfor %}
    {%- if add_generation_prompt %}<|assistant|>{% endif %}
    ```
    """  # noqa: E501

    name = "template-history-dependent"
    code = "PW801"
    modes = (Mode.LOG, Mode.STATIC)
    summary = "The chat template renders earlier turns otherwise once the conversation goes on"
    severity = Severity.LOW
    fix = "Use the template's switch that keeps earlier turns as they were, or a template that only appends."
    where = (Where.TEMPLATE,)
    rank = 15
    stage = Stage.TEXT
    also_at = (Stage.BEHIND,)

    def detect(self, pair: Compared) -> Claim | None:
        if not pair.turn:
            return None
        return self._of_chat(pair) if pair.change is None else self._of_prompt(pair)

    def weigh(self, log: Log, claims: Sequence[Claim]) -> Severity | None:  # noqa: ARG002 - the claims tell enough
        return Severity.MEDIUM if max(claim.lost or 0 for claim in claims) >= _MUCH else Severity.LOW

    def _of_prompt(self, pair: Compared) -> Claim | None:
        """Return a claim where a prompt that came rendered shows no thoughts of a turn any more."""
        change, outlines = pair.change, pair.log.outlines
        if change is None or not change.is_text or not all(map(outlines.is_bare, (pair.before, pair.after))):
            return None
        at = common_start(outlines.turns(pair.before), outlines.turns(pair.after))
        sides = [_turn(text, at) for text in (change.before, change.after)]
        if not _only_thoughts_differ(*sides):
            return None
        return self._claim(
            pair,
            field=change.field,
            char_offset=change.char_offset,
            from_text=sides[0][:_SHOWN],
            to_text=sides[1][:_SHOWN],
            confidence=Confidence.CERTAIN,
        )

    def _of_chat(self, pair: Compared) -> Claim | None:
        """Return a claim where the messages go on and the tokens that the model's own template makes of them do not."""
        log, rows = pair.log, pair.log.rows
        missing = rows.prompt_tokens[pair.before] - pair.kept
        if missing <= _LEAST or not _is_rendered(log, pair.before):
            return None
        tokens, uncached = log.scaled(pair.after, missing), log.uncached(pair.after)
        claim = self._claim(pair, confidence=Confidence.LIKELY)
        claim.lost = tokens if uncached is None else min(tokens, uncached)
        claim.evidence = (f"{pair.kept:,} of {rows.prompt_tokens[pair.before]:,} tokens stay the same",)
        return claim

    def _claim(self, pair: Compared, **place: object) -> Claim:
        return Claim(
            rule=self.name,
            where=Where.TEMPLATE,
            after=pair.after,
            before=pair.before,
            message="The messages of the earlier request come again, and the chat template renders one of its turns "
            "otherwise; everything behind that is computed again.",
            cause="template",
            **place,  # type: ignore[arg-type]
        )


def _turn(prompt: str, number: int) -> str:
    """Return the text of a turn of a rendered prompt, the system prompt not counted; '' where it has no such turn."""
    turns = turns_in(prompt)
    heads = next((at for at, (role, _) in enumerate(turns) if role not in ("system", "developer")), len(turns))
    role, text = turns[heads + number] if heads + number < len(turns) else ("", "")
    return text if role == "assistant" else ""


def _only_thoughts_differ(before: str, after: str) -> bool:
    differ = bool(before and after) and (has_thoughts(before) or has_thoughts(after))
    return differ and without_thoughts(before) == without_thoughts(after)


def _is_rendered(log: Log, row: int) -> bool:
    """Say whether a row's prompt was rendered with the model's own template, and not with an assumed one."""
    index = log.corpus.index
    named = log.corpus.tokenizers.get(log.model(row))
    vocabulary = None if index is None or named is None else index.vocabularies.get(named[1])
    return vocabulary is not None and vocabulary.whole is not None and vocabulary.whole.tokenizer.template is not None


RULES.add(TemplateHistoryDependent.name, TemplateHistoryDependent())
