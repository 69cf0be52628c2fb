"""`model-changed`."""

from __future__ import annotations

from prefixwise.analyzers.diff import common_characters
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.compared import Compared
from prefixwise.analyzers.rule import RULES, PairRule, Stage
from prefixwise.core.finding import Confidence, Severity, Where


class ModelChanged(PairRule):
    """# The model changes inside a conversation

    A cache belongs to one model. A request that continues a conversation on another model (a fallback after an
    overload, a router, a cheaper model for one step) computes the whole history again, and writes it a second time.
    Going back to the first model is free as long as its entry is alive.

    Not reported: a change after which usage shows a hit, and sub-agents, which have conversations of their own.

    ```jsonl bad
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the atlas."}, {"role": "user", "content": "Which river is longest?"}]}
    {"model": "gpt-4o-mini", "messages": [{"role": "system", "content": "Answer from the atlas."}, {"role": "user", "content": "Which river is longest?"}, {"role": "assistant", "content": "The Nile."}, {"role": "user", "content": "And the second?"}]}
    ```

    ```jsonl good
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the atlas."}, {"role": "user", "content": "Which river is longest?"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the atlas."}, {"role": "user", "content": "Which river is longest?"}, {"role": "assistant", "content": "The Nile."}, {"role": "user", "content": "And the second?"}]}
    ```
    """  # noqa: E501

    name = "model-changed"
    code = "PW401"
    summary = "A conversation goes on with another model, whose cache has none of it"
    severity = Severity.MEDIUM
    fix = "Keep a conversation on one model; fall back for whole conversations, and give side tasks their own."
    where = (Where.PARAMS,)
    stage = Stage.FRONT
    rank = 10

    def detect(self, pair: Compared) -> Claim | None:
        if not pair.turn or pair.same_model:
            return None
        before, after = pair.log.model(pair.before), pair.log.model(pair.after)
        return Claim(
            rule=self.name,
            where=Where.PARAMS,
            after=pair.after,
            before=pair.before,
            field="/model",
            char_offset=common_characters(before, after),
            from_text=before,
            to_text=after,
            confidence=Confidence.CERTAIN,
            message="The conversation goes on with another model: none of its history is in that model's cache.",
        )


RULES.add(ModelChanged.name, ModelChanged())
