"""`usage-double-counted`."""

from __future__ import annotations

from collections.abc import Iterator

from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.conventions import Convention, accounts
from prefixwise.analyzers.lint.figures import Doubled
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.rule import RULES, LogRule
from prefixwise.core.finding import Confidence, Severity, Where

_FEWEST = 3


class UsageDoubleCounted(LogRule):
    """# Cached tokens are counted twice

    APIs disagree on what their input count includes: on OpenAI it holds the cached tokens, on Anthropic and Bedrock it
    is the rest that was neither read nor written. An exporter that takes a count of the first kind for one of the
    second, or adds the parts and keeps them beside the sum, counts every cached token twice. No cache is lost, but costs
    come out too high and hit rates at about half of what they are, and decisions are taken on them.

    Reported where a record holds the provider's own figures beside the exporter's and the two contradict each other,
    where a total counts the cached part on top of an input that includes it, and where the reported input of an
    application's calls exceeds what their prompts can hold by just the cached part.

    Not reported: one call written as several records (they are joined), and calls without cached tokens.

    **Fix.** Store the uncached input and the two cache fields beside it, or the whole input and say so; a total is
    input, read and written once each.

    ```jsonl bad
    {"id": "o1", "traceId": "t1", "type": "GENERATION", "startTime": "2026-02-03T09:00:00Z", "endTime": "2026-02-03T09:00:04Z", "model": "claude-sonnet-4-5", "input": [{"role": "user", "content": "Is quay 2 open?"}], "output": {"role": "assistant", "content": "Yes."}, "usageDetails": {"input": 10120, "cache_read_input_tokens": 9702, "cache_creation_input_tokens": 288, "output": 14, "total": 20124}, "metadata": {"provider_usage": {"input_tokens": 130, "cache_read_input_tokens": 9702, "cache_creation_input_tokens": 288, "output_tokens": 14}}}
    ```

    ```jsonl good
    {"id": "o1", "traceId": "t1", "type": "GENERATION", "startTime": "2026-02-03T09:00:00Z", "endTime": "2026-02-03T09:00:04Z", "model": "claude-sonnet-4-5", "input": [{"role": "user", "content": "Is quay 2 open?"}], "output": {"role": "assistant", "content": "Yes."}, "usageDetails": {"input": 130, "cache_read_input_tokens": 9702, "cache_creation_input_tokens": 288, "output": 14, "total": 10134}, "metadata": {"provider_usage": {"input_tokens": 130, "cache_read_input_tokens": 9702, "cache_creation_input_tokens": 288, "output_tokens": 14}}}
    ```
    """  # noqa: E501

    name = "usage-double-counted"
    code = "PW701"
    summary = "The exported usage counts cached tokens twice"
    severity = Severity.MEDIUM
    fix = "Store the uncached input with the two cache fields beside it; a total is input, read and written, once each."
    where = (Where.USAGE,)
    everywhere = True
    rank = 5

    def detect(self, log: Log) -> Iterator[Claim]:
        for row in log.conversations.order:
            if (doubled := log.of(row).doubled) is not None:
                yield self._proven(row, doubled)
        for account in accounts(log):
            rows = [row for row in account.of(Convention.DOUBLED) if log.of(row).doubled is None]
            if len(rows) >= _FEWEST and not account.of(Convention.WHOLE) + account.of(Convention.LEFT_OUT):
                for row in rows:
                    yield self._counted(log, row, len(rows))

    def _proven(self, row: int, doubled: Doubled) -> Claim:
        parts = [("read", doubled.cached), ("written", doubled.written)]
        beside = " and ".join(f"{tokens:,} {what}" for what, tokens in parts if tokens)
        return Claim(
            rule=self.name,
            where=Where.USAGE,
            after=row,
            field="record:" + doubled.pointer,
            confidence=Confidence.CERTAIN,
            severity=self.severity,
            cause=doubled.pointer,
            evidence=(doubled.proof,),
            message=f"The exported input of {doubled.input:,} tokens "
            + (
                "holds the cached part twice: it is more than the prompt."
                if doubled.is_more
                else f"is the whole prompt, and {beside} stand beside it as if they came on top."
            ),
        )

    def _counted(self, log: Log, row: int, calls: int) -> Claim:
        cached = (log.cached(row) or 0) + (log.written(row) or 0)
        return Claim(
            rule=self.name,
            where=Where.USAGE,
            after=row,
            field=log.usage_field(row),
            severity=self.severity,
            cause="counted",
            evidence=(f"in {calls:,} calls the input exceeds the prompt by just the cached part",),
            message=f"The reported input includes the {cached:,} tokens that were read or written, though this API "
            "counts them apart: together they come to far more than the prompt holds.",
        )


RULES.add(UsageDoubleCounted.name, UsageDoubleCounted())
