"""`content-shape-flip`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.compared import Compared, Served
from prefixwise.analyzers.lint.mended_history import with_lists_of_blocks
from prefixwise.analyzers.rule import RULES, PairRule
from prefixwise.core.finding import Confidence, Safety, Severity, Where
from prefixwise.core.request import Part, Request
from prefixwise.corpus.outlines import Shape

_SHOWN = {Shape.STRING: '"…" (a plain string)', Shape.ONE_BLOCK: '[{"type": "text", …}] (a list of one block)'}
# Names under which people run open models on engines of their own, which see tokens and no bytes.
_OPEN_WEIGHTS = re.compile(r"(?i:local|\bvllm\b|sglang|lora|awq|gguf|fp8|int4)|^[A-Za-z][\w.-]*/[A-Z]")


class ContentShapeFlip(PairRule):
    """# The same text comes now as a string, now as a list of one block

    Both say the same to a model, and the makers' own APIs treat them as one. A relay or gateway that recognises
    prefixes by the bytes of the body does not: a message that was sent as `[{"type": "text", "text": "…"}]` and comes
    again as `"…"` ends what it can serve. It happens where code turns the newest message into a list to hang a cache
    marker on it, and sends the older ones as plain strings.

    Not reported: the makers' own APIs, engines (they see tokens), and requests whose usage shows that the history was
    served.

    Send every message in one shape, so that only the marker moves.

    ```jsonl bad
    {"model": "anthropic/claude-sonnet-4.5", "messages": [{"role": "system", "content": "Answer from the ferry timetable."}, {"role": "user", "content": [{"type": "text", "text": "When does the first ferry leave?", "cache_control": {"type": "ephemeral"}}]}]}
    {"model": "anthropic/claude-sonnet-4.5", "messages": [{"role": "system", "content": "Answer from the ferry timetable."}, {"role": "user", "content": "When does the first ferry leave?"}, {"role": "assistant", "content": "At 05:40."}, {"role": "user", "content": [{"type": "text", "text": "And the second?", "cache_control": {"type": "ephemeral"}}]}]}
    ```

    ```jsonl good
    {"model": "anthropic/claude-sonnet-4.5", "messages": [{"role": "system", "content": "Answer from the ferry timetable."}, {"role": "user", "content": [{"type": "text", "text": "When does the first ferry leave?", "cache_control": {"type": "ephemeral"}}]}]}
    {"model": "anthropic/claude-sonnet-4.5", "messages": [{"role": "system", "content": "Answer from the ferry timetable."}, {"role": "user", "content": [{"type": "text", "text": "When does the first ferry leave?"}]}, {"role": "assistant", "content": "At 05:40."}, {"role": "user", "content": [{"type": "text", "text": "And the second?", "cache_control": {"type": "ephemeral"}}]}]}
    ```
    """  # noqa: E501

    name = "content-shape-flip"
    code = "PW309"
    summary = "A message comes again as a string where it was a list of one block, or the reverse"
    severity = Severity.MEDIUM
    fix = "Send every message in one shape, lists of blocks for example, so that only the cache marker moves."
    safety = Safety.SAFE
    where = (Where.MESSAGES, Where.SYSTEM)
    rank = 60

    def detect(self, pair: Compared) -> Claim | None:
        at = pair.reshaped
        if at is None or pair.change is not None or pair.a is None or pair.b is None:
            return None
        kept = _tokens_before(pair, at)
        served = pair.served_behind(kept)
        if served is Served.HIT or (served is Served.UNKNOWN and not _is_relayed(pair)):
            return None
        left, right = pair.a.entry(at), pair.b.entry(at)
        assert left is not None and right is not None  # noqa: S101, PT018 - both have the item
        shapes = [Shape(pair.log.outlines.shapes[row][at]) for row in (pair.before, pair.after)]
        return Claim(
            rule=self.name,
            where=right.where,
            after=pair.after,
            before=pair.before,
            field=right.pointer + _value(right.parts[0]),
            from_text=_SHOWN[shapes[0]],
            to_text=_SHOWN[shapes[1]],
            confidence=Confidence.LIKELY if served is Served.MISS else Confidence.POSSIBLE,
            evidence=_evidence(left.parts[0], right.parts[0], served),
            message="The same text comes in another shape; a cache that goes by the bytes of the body ends there.",
            severity=None if _is_relayed(pair) else Severity.INFO,
            lost=_lost(pair, kept),
            cause="shape",
        )

    def repair(self, request: Request, claims: Sequence[Claim]) -> Request | None:  # noqa: ARG002 - all alike
        return with_lists_of_blocks(request)


def _lost(pair: Compared, kept: int) -> int:
    tokens, uncached = pair.log.scaled(pair.after, max(0, pair.at_stake - kept)), pair.log.uncached(pair.after)
    return tokens if uncached is None else max(0, min(tokens, uncached))


def _tokens_before(pair: Compared, at: int) -> int:
    """Return about how many tokens stand in front of an item of the later request."""
    assert pair.b is not None  # noqa: S101 - asked with both at hand
    lengths = [len(entry.text) for entry in pair.b.entries()]
    return round(pair.log.rows.prompt_tokens[pair.after] * sum(lengths[:at]) / max(1, sum(lengths)))


def _is_relayed(pair: Compared) -> bool:
    """Say whether a request goes, as far as can be told, through somebody who may look at the bytes of its body."""
    assert pair.b is not None  # noqa: S101 - asked with both at hand
    log, rows = pair.log, pair.log.rows
    if pair.b.request.api != "openai-chat" or log.is_engine(pair.after):
        return False
    provider, model = rows.providers[rows.provider[pair.after]], log.model(pair.after)
    if provider == "openai" and "/" not in model:
        return False
    return pair.served is Served.MISS or _OPEN_WEIGHTS.search(model) is None


def _value(part: Part) -> str:
    """Return the pointer of the value whose shape it is, relative to the item."""
    return "/content" if part.pointer.startswith("/content") else ""


def _evidence(left: Part, right: Part, served: Served) -> tuple[str, ...]:
    found = ["usage shows that the history was not served"] if served is Served.MISS else []
    if (left.marker is None) != (right.marker is None):
        found.append("the list carried the cache marker, which has moved on")
    return tuple(found)


RULES.add(ContentShapeFlip.name, ContentShapeFlip())
