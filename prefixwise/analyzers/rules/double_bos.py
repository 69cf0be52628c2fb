"""`double-bos`."""

from __future__ import annotations

from collections.abc import Iterable

from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.rule import RULES, LogRule
from prefixwise.core.finding import Confidence, Mode, Severity, Where
from prefixwise.corpus.rows import NONE

_TWICE = 2


class DoubleBos(LogRule):
    r"""# A prompt begins with the start token twice

    A prompt that was rendered with a chat template begins with the start token (`<s>`, `<|begin_of_text|>`), and an
    endpoint that takes bare prompts puts one in front of it by itself. Two of them do the answer no good. The cache
    minds only where one path to the engine doubles it and another does not: the prompts of the two have not even their
    first block in common.

    Reported above info only where both kinds of prompt are seen for one model.

    Render without the start token, or tell the endpoint not to add special tokens (`add_special_tokens: false`); on
    every path the same.

    ```jsonl bad
    {"model": "llama-3-8b", "prompt": "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nWhen does the first ferry leave?<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n"}
    {"model": "llama-3-8b", "prompt": "<|begin_of_text|><|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nWhen does the first ferry leave?<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\nAt 05:40.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nAnd the second?<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n"}
    ```

    ```jsonl good
    {"model": "llama-3-8b", "prompt": "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nWhen does the first ferry leave?<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n"}
    {"model": "llama-3-8b", "prompt": "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nWhen does the first ferry leave?<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\nAt 05:40.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nAnd the second?<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n"}
    ```

    In a model's chat template:

    ```jinja bad
    {{ bos_token }}
    {%- for message in messages %}
    <|{{ message.role }}|>
    {{ message.content }}<|end|>
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

    name = "double-bos"
    code = "PW803"
    modes = (Mode.LOG, Mode.STATIC)
    summary = "Some prompts begin with the start token twice, others once"
    severity = Severity.LOW
    fix = "Render without the start token, or tell the endpoint not to add it; on every path the same."
    where = (Where.ENGINE,)
    rank = 40

    def detect(self, log: Log) -> Iterable[Claim]:
        outlines, rows = log.outlines, log.rows
        last: dict[tuple[int, bool], int] = {}
        told: set[int] = set()
        bare = [row for row in log.conversations.order if outlines.is_bare(row)]
        counts = {row: outlines.starts[outlines.messages[row][0]] for row in bare}
        both = {rows.model[row] for row in bare if counts[row] == 1} & {rows.model[r] for r in bare if counts[r] > 1}
        for row in bare:
            model, twice = rows.model[row], counts[row] >= _TWICE
            link = log.conversations.links[row]
            before = link.before if link is not None and link.before in counts else last.get((model, not twice))
            last[model, twice] = row
            if model in both and before is not None and (counts[before] >= _TWICE) != twice:
                yield self._claim(log, row, before)
            elif twice and model not in both and model not in told:
                told.add(model)
                yield self._claim(log, row, None)

    def _claim(self, log: Log, row: int, before: int | None) -> Claim:
        turn = (link := log.conversations.links[row]) is not None and link.turn
        shared = 0 if before is None or not turn else min(log.rows.prompt_tokens[before], log.rows.prompt_tokens[row])
        tokens, uncached = log.scaled(row, shared), log.uncached(row)
        message = "Prompts begin with the start token twice."
        if before is not None:
            message = "Some prompts begin with the start token twice and others once, so they have no block in common."
        return Claim(
            rule=self.name,
            where=Where.ENGINE,
            after=row,
            before=before,
            field="/prompt" if log.rows.family[row] != NONE else "/prompt_token_ids",
            char_offset=None,
            confidence=Confidence.CERTAIN,
            message=message,
            severity=Severity.INFO if before is None else None,
            lost=tokens if uncached is None else min(tokens, uncached),
            cause="start",
        )


RULES.add(DoubleBos.name, DoubleBos())
