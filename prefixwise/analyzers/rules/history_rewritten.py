"""`history-rewritten`."""

from __future__ import annotations

from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.compared import Compared
from prefixwise.analyzers.rule import RULES, PairRule
from prefixwise.core.finding import Severity, Where


class HistoryRewritten(PairRule):
    """# An earlier message is sent again in other words

    A request that continues a conversation must repeat what was sent before, byte for byte. Where an earlier message
    differs, everything from it on is computed again: typically because the live turn is wrapped in a template and the
    history stores only the raw text.

    Not reported: a message that the user edited, after which the conversation goes on from there.

    Store each message as it was sent, template and all, and send it again as it was stored.

    ```jsonl bad
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the timetable."}, {"role": "user", "content": "<question>When does the last ferry leave?</question> Answer in one sentence."}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the timetable."}, {"role": "user", "content": "When does the last ferry leave?"}, {"role": "assistant", "content": "At 21:30."}, {"role": "user", "content": "<question>From where?</question> Answer in one sentence."}]}
    ```

    ```jsonl good
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the timetable."}, {"role": "user", "content": "When does the last ferry leave?"}]}
    {"model": "gpt-4o", "messages": [{"role": "system", "content": "Answer from the timetable."}, {"role": "user", "content": "When does the last ferry leave?"}, {"role": "assistant", "content": "At 21:30."}, {"role": "user", "content": "From where?"}]}
    ```
    """  # noqa: E501

    name = "history-rewritten"
    code = "PW302"
    summary = "An earlier message differs from what was sent before"
    severity = Severity.HIGH
    fix = "Store each message exactly as it was sent, and send it again as it was stored."
    where = (Where.MESSAGES,)
    rank = 100

    def detect(self, pair: Compared) -> Claim | None:  # noqa: ARG002 - other rules know better
        return None

    def otherwise(self, pair: Compared) -> Claim | None:
        change = pair.change
        if change is None or not pair.turn or change.where is not Where.MESSAGES:
            return None
        return Claim(
            rule=self.name,
            where=Where.MESSAGES,
            after=pair.after,
            before=pair.before,
            field=change.field,
            char_offset=change.char_offset,
            from_text=change.before[:200],
            to_text=change.after[:200],
            message="An earlier message is sent again in other words; everything behind it is computed again.",
        )


RULES.add(HistoryRewritten.name, HistoryRewritten())
