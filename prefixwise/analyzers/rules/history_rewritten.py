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
    """

    name = "history-rewritten"
    code = "PW302"
    summary = "An earlier message differs from what was sent before"
    severity = Severity.HIGH
    fix = "Store each message exactly as it was sent, and send it again as it was stored."
    where = (Where.MESSAGES,)
    rank = 100

    def detect(self, pair: Compared) -> Claim | None:
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
