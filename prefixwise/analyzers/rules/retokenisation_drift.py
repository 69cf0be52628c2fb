"""`retokenisation-drift`."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.rule import RULES, LogRule
from prefixwise.core.finding import Confidence, Severity, Where
from prefixwise.corpus.outlines import common_tokens
from prefixwise.corpus.rows import NONE
from prefixwise.corpus.tokenizer import BYTES_PER_ID
from prefixwise.corpus.tree import TokenTree

_LONGEST = 12
"""Ids on either side that may stand for the same text."""
_AGAIN = 6
"""Equal ids in a row by which the two lists are known to go on together."""


class RetokenisationDrift(LogRule):
    """# An answer that is encoded again has other token ids than the model sampled

    A model does not always write a text in the tokens that a tokenizer would cut it into. A client that keeps the text
    of an answer and encodes it for the next prompt sends other ids for the same words. An engine that keeps the tokens
    of its answers finds them up to the first one that differs, and computes the rest of the answer anew.

    It is seen where prompts and answers are logged as token ids: the ids of an answer part from those that the next
    prompt sends for it, and a few ids later both go on with the same ones. Whether the text is the same cannot be read
    off the ids, so the finding says "likely".

    Not reported: answers that were replaced, cut or added to, and logs that hold texts only.

    Keep the ids that the engine returned and send those. It is little: at most one answer a turn.

    ```jsonl bad
    {"request": {"model": "qwen3-14b", "prompt_token_ids": [11, 12, 13, 14, 15, 16, 17, 18, 19]}, "response": {"choices": [{"token_ids": [201, 202, 203, 31, 32, 33, 34, 35, 36, 37, 38, 2]}]}}
    {"request": {"model": "qwen3-14b", "prompt_token_ids": [11, 12, 13, 14, 15, 16, 17, 18, 19, 250, 251, 31, 32, 33, 34, 35, 36, 37, 38, 2, 51, 52, 53]}}
    ```

    ```jsonl good
    {"request": {"model": "qwen3-14b", "prompt_token_ids": [11, 12, 13, 14, 15, 16, 17, 18, 19]}, "response": {"choices": [{"token_ids": [201, 202, 203, 31, 32, 33, 34, 35, 36, 37, 38, 2]}]}}
    {"request": {"model": "qwen3-14b", "prompt_token_ids": [11, 12, 13, 14, 15, 16, 17, 18, 19, 201, 202, 203, 31, 32, 33, 34, 35, 36, 37, 38, 2, 51, 52, 53]}}
    ```
    """  # noqa: E501

    name = "retokenisation-drift"
    code = "PW802"
    summary = "An answer comes again in other token ids than the model sampled"
    severity = Severity.LOW
    fix = "Keep the token ids that the engine returned and send those, not the text encoded again."
    where = (Where.ENGINE,)
    rank = 70

    def detect(self, log: Log) -> Iterable[Claim]:
        rows, tree = log.rows, log.rows.tree
        if not isinstance(tree, TokenTree):
            return
        for before, row in log.turns():
            answer = rows.response_node[before]
            if rows.family[row] != NONE or answer == NONE or not log.outlines.is_bare(row):
                continue
            kept = common_tokens(tree, answer, rows.node[row])
            end = tree.depth[answer]
            if not rows.prompt_tokens[before] <= kept < end:
                continue
            parted = _parted(tree.ids(answer)[kept * BYTES_PER_ID :], tree.ids(rows.node[row])[kept * BYTES_PER_ID :])
            if parted is None:
                continue
            yield Claim(
                rule=self.name,
                where=Where.ENGINE,
                after=row,
                before=before,
                field="/prompt_token_ids",
                confidence=Confidence.LIKELY,
                evidence=(
                    f"{parted[0]} ids of the answer are {parted[1]} others in the prompt, and the next are equal",
                ),
                message="An answer comes again in other token ids than the model sampled: it was encoded anew.",
                lost=log.scaled(row, end - kept),
                cause="ids",
            )


def _parted(sampled: bytes, sent: bytes) -> tuple[int, int] | None:
    """Return how many ids differ on either side before both go on with the same ones; None where they do not."""
    size = BYTES_PER_ID
    for one, other in sorted(product(range(1, _LONGEST + 1), repeat=2), key=sum):
        first = sampled[one * size : (one + _AGAIN) * size]
        if len(first) == _AGAIN * size and first == sent[other * size : (other + _AGAIN) * size]:
            return one, other
    return None


RULES.add(RetokenisationDrift.name, RetokenisationDrift())
