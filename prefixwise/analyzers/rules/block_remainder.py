"""`block-remainder`."""

from __future__ import annotations

from collections.abc import Iterator

from prefixwise.analyzers.lint.block_steps import Step, steps
from prefixwise.analyzers.lint.breakpoints import head_of, missed
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.rule import RULES, LogRule
from prefixwise.core.finding import Confidence, Severity, Where

_FEWEST = 5
_WORTH = 64


class BlockRemainder(LogRule):
    """# What requests share is shorter than one block of the engine

    Engines reuse prompts in whole blocks, and of a prompt that repeats to the end, all but the last token. A block is
    usually 16 tokens, and then the remainder is nothing to speak of; but hybrid models, some backends and external
    stores work with blocks of hundreds or thousands of tokens. A common system prompt that is shorter than one block is
    computed again in every request, though it never changes.

    Reported where many single requests begin with the same text, the engine reports that none of it was reused, and
    its reports for other requests of the same model (all of them multiples of one large number), or the known facts on
    it, show a block longer than that text.

    Not reported: blocks of a few tokens, engines that report nothing, and conversations, which grow over the block.

    **Fix.** Move more of what never changes to the front until it fills a block, or configure a smaller one.

    ```jsonl bad
    {"request": {"model": "house/hybrid-9b", "messages": [{"role": "system", "content": "You translate notices of a ferry line into plain words, without names or numbers."}, {"role": "user", "content": "Quay 1 is closed."}]}, "response": {"usage": {"prompt_tokens": 3300, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 0}}}}
    {"request": {"model": "house/hybrid-9b", "messages": [{"role": "system", "content": "You translate notices of a ferry line into plain words, without names or numbers."}, {"role": "user", "content": "Boat 4 is late."}]}, "response": {"usage": {"prompt_tokens": 3300, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 1056}}}}
    {"request": {"model": "house/hybrid-9b", "messages": [{"role": "system", "content": "You translate notices of a ferry line into plain words, without names or numbers."}, {"role": "user", "content": "No bikes today."}]}, "response": {"usage": {"prompt_tokens": 3300, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 1056}}}}
    {"request": {"model": "house/hybrid-9b", "messages": [{"role": "system", "content": "You translate notices of a ferry line into plain words, without names or numbers."}, {"role": "user", "content": "Fog at sea."}]}, "response": {"usage": {"prompt_tokens": 3300, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 1056}}}}
    {"request": {"model": "house/hybrid-9b", "messages": [{"role": "system", "content": "You answer questions on ferries, quays, tickets, bicycles and the weather at sea."}, {"role": "user", "content": "Is quay 2 open?"}]}, "response": {"usage": {"prompt_tokens": 900, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 0}}}}
    {"request": {"model": "house/hybrid-9b", "messages": [{"role": "system", "content": "You answer questions on ferries, quays, tickets, bicycles and the weather at sea."}, {"role": "user", "content": "May I take a bicycle?"}]}, "response": {"usage": {"prompt_tokens": 900, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 0}}}}
    {"request": {"model": "house/hybrid-9b", "messages": [{"role": "system", "content": "You answer questions on ferries, quays, tickets, bicycles and the weather at sea."}, {"role": "user", "content": "Who sells tickets?"}]}, "response": {"usage": {"prompt_tokens": 900, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 0}}}}
    {"request": {"model": "house/hybrid-9b", "messages": [{"role": "system", "content": "You answer questions on ferries, quays, tickets, bicycles and the weather at sea."}, {"role": "user", "content": "Is there fog?"}]}, "response": {"usage": {"prompt_tokens": 900, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 0}}}}
    {"request": {"model": "house/hybrid-9b", "messages": [{"role": "system", "content": "You answer questions on ferries, quays, tickets, bicycles and the weather at sea."}, {"role": "user", "content": "When is the last boat?"}]}, "response": {"usage": {"prompt_tokens": 900, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 0}}}}
    ```

    ```jsonl good
    {"request": {"model": "house/hybrid-9b", "messages": [{"role": "system", "content": "You translate notices of a ferry line into plain words, without names or numbers."}, {"role": "user", "content": "Quay 1 is closed."}]}, "response": {"usage": {"prompt_tokens": 3300, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 0}}}}
    {"request": {"model": "house/hybrid-9b", "messages": [{"role": "system", "content": "You translate notices of a ferry line into plain words, without names or numbers."}, {"role": "user", "content": "Boat 4 is late."}]}, "response": {"usage": {"prompt_tokens": 3300, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 1056}}}}
    {"request": {"model": "house/hybrid-9b", "messages": [{"role": "system", "content": "You translate notices of a ferry line into plain words, without names or numbers."}, {"role": "user", "content": "No bikes today."}]}, "response": {"usage": {"prompt_tokens": 3300, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 1056}}}}
    {"request": {"model": "house/hybrid-9b", "messages": [{"role": "system", "content": "You translate notices of a ferry line into plain words, without names or numbers."}, {"role": "user", "content": "Fog at sea."}]}, "response": {"usage": {"prompt_tokens": 3300, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 1056}}}}
    ```
    """  # noqa: E501

    name = "block-remainder"
    code = "PW804"
    summary = "What requests share is shorter than one block of the engine, so nothing of it is reused"
    severity = Severity.LOW
    fix = "Move more of what never changes to the front until it fills a block, or configure a smaller block."
    where = (Where.ENGINE,)
    rank = 30

    def detect(self, log: Log) -> Iterator[Claim]:
        for step in steps(log):
            by_head: dict[tuple[int, ...], list[int]] = {}
            for row in step.rows:
                if log.outlines.head[row] and len(log.threads[log.conversations.conversation[row]]) == 1:
                    by_head.setdefault(log.outlines.head[row], []).append(row)
            for rows in by_head.values():
                if len(rows) >= _FEWEST and all(log.cached(row) == 0 for row in rows):
                    yield from self._claims(log, step, rows)

    def _claims(self, log: Log, step: Step, rows: list[int]) -> Iterator[Claim]:
        tokens = max(log.scaled(row, log.sharing.shared[row]) for row in rows[1:])
        if not _WORTH <= tokens < step.tokens:
            return
        for row in rows[1:]:
            if row in log.explained:
                continue
            yield Claim(
                rule=self.name,
                where=Where.ENGINE,
                after=row,
                field=head_of(log, row)[1],
                lost=missed(log, row, log.scaled(row, log.sharing.shared[row])),
                confidence=Confidence.LIKELY if step.is_seen else Confidence.POSSIBLE,
                severity=self.severity,
                cause="head",
                evidence=(
                    f"the engine reuses {step.tokens:,} tokens at a time, by "
                    + ("its own reports for this model" if step.is_seen else "what is known of it"),
                ),
                message=f"{len(rows):,} requests share their first {tokens:,} tokens, which is less than one block of "
                f"{step.tokens:,}: nothing of them is reused.",
            )


RULES.add(BlockRemainder.name, BlockRemainder())
