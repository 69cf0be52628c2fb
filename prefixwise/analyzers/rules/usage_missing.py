"""`usage-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.rule import RULES, LogRule
from prefixwise.core.finding import Confidence, Severity, Where
from prefixwise.core.request import Mark
from prefixwise.corpus.rows import NONE

_FEWEST = 3
_SHARE = 0.05
_WORTH = 10
"""Calls from which a log without figures is worth a word."""


class UsageMissing(LogRule):
    """# The log does not say what calls cost

    Without the reported usage nobody can tell whether a cache was hit; with it for some calls only, rates are taken over
    the wrong calls. The usual reason is streaming: some APIs send the usage of a stream only when the request asks for
    it (`stream_options: {"include_usage": true}`), and exporters that read only the first or last event lose it. Engines
    need a flag before they report cached tokens (vLLM: `--enable-prompt-tokens-details`, SGLang:
    `--enable-cache-report`), and what they do not report is not zero.

    Reported where some calls of a model have usage and a good part of the others, whose answers are in the log, have
    none. A log without any usage, or one whose usage never mentions the cache, is worth knowing only.

    Not reported: calls that were given up, and calls whose answers are not in the log while others' are.

    **Fix.** Ask for usage in streams, and store the last figures of each stream; switch on the engine's report.

    ```jsonl bad
    {"request": {"model": "gpt-4o", "messages": [{"role": "user", "content": "Is quay 2 open?"}]}, "response": {"choices": [{"message": {"role": "assistant", "content": "Yes."}}], "usage": {"prompt_tokens": 12, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 0}}}}
    {"request": {"model": "gpt-4o", "stream": true, "messages": [{"role": "user", "content": "May I take a bicycle?"}]}, "response": {"choices": [{"message": {"role": "assistant", "content": "Yes."}}]}}
    {"request": {"model": "gpt-4o", "stream": true, "messages": [{"role": "user", "content": "Who sells tickets?"}]}, "response": {"choices": [{"message": {"role": "assistant", "content": "The kiosk."}}]}}
    {"request": {"model": "gpt-4o", "stream": true, "messages": [{"role": "user", "content": "Is there a later one?"}]}, "response": {"choices": [{"message": {"role": "assistant", "content": "No."}}]}}
    ```

    ```jsonl good
    {"request": {"model": "gpt-4o", "messages": [{"role": "user", "content": "Is quay 2 open?"}]}, "response": {"choices": [{"message": {"role": "assistant", "content": "Yes."}}], "usage": {"prompt_tokens": 12, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 0}}}}
    {"request": {"model": "gpt-4o", "messages": [{"role": "user", "content": "May I take a bicycle?"}]}, "response": {"choices": [{"message": {"role": "assistant", "content": "Yes."}}], "usage": {"prompt_tokens": 13, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 0}}}}
    ```
    """  # noqa: E501

    name = "usage-missing"
    code = "PW702"
    summary = "The usage of calls is not in the log, or does not mention the cache"
    severity = Severity.MEDIUM
    fix = "Ask for usage in streams and store their last figures; switch on the engine's report of cached tokens."
    where = (Where.USAGE,)
    everywhere = True
    rank = 90

    def detect(self, log: Log) -> Iterator[Claim]:
        by_model: dict[int, list[int]] = {}
        for row in log.conversations.order:
            if not log.rows.marks[row] & Mark.ABORTED:
                by_model.setdefault(log.rows.model[row], []).append(row)
        for rows in by_model.values():
            yield from self._of_model(log, rows)

    def _of_model(self, log: Log, rows: list[int]) -> Iterator[Claim]:
        without = [row for row in rows if log.rows.reported_prompt[row] == NONE]
        answered = [row for row in without if log.rows.response_node[row] != NONE]
        if len(without) < len(rows):
            with_answers = any(log.rows.response_node[row] != NONE for row in rows)
            yield from self._mixed(log, answered if with_answers else without, len(rows))
        if len(answered) == len(rows) >= _WORTH:
            yield self._claim(log, rows[0], "The log reports no usage for this model's calls.", Severity.INFO)
        if len(rows) >= _WORTH and not without and all(log.cached(row) is None for row in rows):
            message = "The usage of this model's calls never mentions the cache: that is not the same as zero."
            yield self._claim(log, rows[0], message, Severity.INFO)

    def _mixed(self, log: Log, without: list[int], calls: int) -> Iterator[Claim]:
        if len(without) >= max(_FEWEST, _SHARE * calls):
            message = f"{len(without):,} of {calls:,} calls of this model report no usage, and the others do."
            for row in without:
                yield self._claim(log, row, message, self.severity)

    def _claim(self, log: Log, row: int, message: str, severity: Severity) -> Claim:
        return Claim(
            rule=self.name,
            where=Where.USAGE,
            after=row,
            field=log.usage_field(row),
            confidence=Confidence.CERTAIN,
            severity=severity,
            cause=(severity, log.rows.model[row]),
            message=message,
        )


RULES.add(UsageMissing.name, UsageMissing())
