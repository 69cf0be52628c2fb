"""`adapter-changed`."""

from __future__ import annotations

from collections.abc import Sequence

from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.compared import Compared
from prefixwise.analyzers.lint.mended_settings import with_first_adapter
from prefixwise.analyzers.lint.stakes import only_goes_back, usage_says, warm
from prefixwise.analyzers.rule import RULES, PairRule, Stage
from prefixwise.analyzers.values.hunks import common_prefix
from prefixwise.core.finding import Confidence, Severity, Where
from prefixwise.core.request import Request


class AdapterChanged(PairRule):
    """# The adapter changes inside a conversation

    A LoRA adapter changes the keys and values of every layer, so engines keep the cache of each adapter apart, and that
    of the bare model too. A conversation that goes on with another adapter, or drops it for one call, is computed from
    its first token.

    Not reported: going back to an adapter whose entry must still be there; conversations that each keep to one adapter;
    a change after which usage shows a hit.

    Choose the adapter when the conversation starts. Where one step needs another one, give it a short prompt of its own.

    ```jsonl bad
    {"model": "llama-3-8b", "lora_path": "legal", "messages": [{"role": "user", "content": "What does clause 4 of the lease say about repairs in the stairwell, and who pays for them?"}]}
    {"model": "llama-3-8b", "lora_path": "summary", "messages": [{"role": "user", "content": "What does clause 4 of the lease say about repairs in the stairwell, and who pays for them?"}, {"role": "assistant", "content": "The landlord does."}, {"role": "user", "content": "Sum it up."}]}
    ```

    ```jsonl good
    {"model": "llama-3-8b", "lora_path": "legal", "messages": [{"role": "user", "content": "What does clause 4 of the lease say about repairs in the stairwell, and who pays for them?"}]}
    {"model": "llama-3-8b", "lora_path": "legal", "messages": [{"role": "user", "content": "What does clause 4 of the lease say about repairs in the stairwell, and who pays for them?"}, {"role": "assistant", "content": "The landlord does."}, {"role": "user", "content": "Sum it up."}]}
    ```
    """  # noqa: E501

    name = "adapter-changed"
    code = "PW407"
    summary = "A conversation goes on with another LoRA adapter, whose cache has none of it"
    severity = Severity.HIGH
    fix = "Keep a conversation on one adapter, and give steps that need another one a prompt of their own."
    where = (Where.PARAMS,)
    stage = Stage.FRONT
    rank = 12
    deployable = False

    def detect(self, pair: Compared) -> Claim | None:
        rows = pair.log.rows
        before, after = (rows.namespaces[rows.namespace[row]].adapter for row in (pair.before, pair.after))
        if not pair.turn or before == after:
            return None
        left = warm(pair.log, pair.after, lambda row: rows.namespaces[rows.namespace[row]].adapter == after)
        lost = max(0, pair.at_stake - left)
        if only_goes_back(pair, left, lost):
            return None
        return Claim(
            rule=self.name,
            where=Where.PARAMS,
            after=pair.after,
            before=pair.before,
            field="/lora_path",
            char_offset=common_prefix(before, after) if before is not None and after is not None else None,
            from_text=before,
            to_text=after,
            confidence=Confidence.CERTAIN,
            evidence=usage_says(pair.log, pair.after),
            message=f"The conversation goes on {_with(after)} instead of {_with(before)}: "
            "each adapter has a cache of its own.",
            cause="adapter",
        )

    def repair(self, request: Request, claims: Sequence[Claim]) -> Request | None:
        return with_first_adapter(request, claims)


def _with(adapter: str | None) -> str:
    return "without an adapter" if adapter is None else f"with the adapter `{adapter[:60]}`"


RULES.add(AdapterChanged.name, AdapterChanged())
