"""`reasoning-stripped`."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import NamedTuple

from prefixwise.analyzers.lint.alignment import Alignment
from prefixwise.analyzers.lint.blocks import Block, BlockKind
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.compared import Compared, Served
from prefixwise.analyzers.lint.history import HistoryRule, Replaced, replaced
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.lint.mended_replays import with_first_sent
from prefixwise.analyzers.lint.thoughts import without_thoughts
from prefixwise.analyzers.rule import RULES
from prefixwise.core.finding import Confidence, Severity
from prefixwise.core.request import Request

# Models whose provider leaves thoughts of earlier turns out of the prompt by itself, so that nothing else can be sent.
_STRIPPED_BY_PROVIDER = re.compile(
    r"claude-(?:3|4-|haiku-[34]|sonnet-4[-.]5|(?:opus|sonnet)-4(?:[-.][01])?(?:[-@]\d{8}|[-:@]v\d|$))"
    r"|deepseek-(?:reasoner|r1)|qwq|qwen3|gpt-oss",
    re.IGNORECASE,
)


class ReasoningStripped(HistoryRule):
    """# Thoughts of earlier turns are left out when the history is sent again

    Reasoning models answer with their thoughts (thinking blocks, `reasoning_content`, reasoning items) beside the
    words. A tool loop sends them back, and when the next question of the user comes, an adapter or a chat template
    leaves those of the finished turn out: the turn reads otherwise than it did before, and everything from its first
    thought on is computed again, once a turn. The reverse does the same: an empty `reasoning_content` that appears on
    replay, or thoughts that are put back from summaries.

    Some models are made for it: their provider drops old thoughts by itself, and nothing can be won. It is a lower
    severity there.

    Send thoughts back unchanged to models that keep them. Otherwise accept one rewrite a turn, and put the cache
    marker in front of the first message with thoughts.

    ```jsonl bad
    {"model": "claude-opus-4-5", "max_tokens": 900, "system": "Answer from the ferry timetable.", "messages": [{"role": "user", "content": "When does the first ferry leave?"}, {"role": "assistant", "content": [{"type": "thinking", "thinking": "The table has it.", "signature": "c2ln"}, {"type": "tool_use", "id": "toolu_1", "name": "departures", "input": {"day": 1}}]}, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "05:40, 07:10"}]}]}
    {"model": "claude-opus-4-5", "max_tokens": 900, "system": "Answer from the ferry timetable.", "messages": [{"role": "user", "content": "When does the first ferry leave?"}, {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "departures", "input": {"day": 1}}]}, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "05:40, 07:10"}]}, {"role": "assistant", "content": "At 05:40."}, {"role": "user", "content": "And the second?"}]}
    ```

    ```jsonl good
    {"model": "claude-opus-4-5", "max_tokens": 900, "system": "Answer from the ferry timetable.", "messages": [{"role": "user", "content": "When does the first ferry leave?"}, {"role": "assistant", "content": [{"type": "thinking", "thinking": "The table has it.", "signature": "c2ln"}, {"type": "tool_use", "id": "toolu_1", "name": "departures", "input": {"day": 1}}]}, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "05:40, 07:10"}]}]}
    {"model": "claude-opus-4-5", "max_tokens": 900, "system": "Answer from the ferry timetable.", "messages": [{"role": "user", "content": "When does the first ferry leave?"}, {"role": "assistant", "content": [{"type": "thinking", "thinking": "The table has it.", "signature": "c2ln"}, {"type": "tool_use", "id": "toolu_1", "name": "departures", "input": {"day": 1}}]}, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "05:40, 07:10"}]}, {"role": "assistant", "content": "At 05:40."}, {"role": "user", "content": "And the second?"}]}
    ```
    """  # noqa: E501

    name = "reasoning-stripped"
    code = "PW306"
    summary = "The model's thoughts of earlier turns vanish or appear when the history is sent again"
    severity = Severity.MEDIUM
    fix = (
        "Send thoughts back unchanged to models that keep them; else mark the cache in front of the first message with "
        "thoughts."
    )
    rank = 22

    def detect(self, pair: Compared) -> Claim | None:
        if pair.change is None:
            return self._empty_key(pair)
        return super().detect(pair)

    def look(self, pair: Compared, alignment: Alignment) -> Claim | None:
        found = _thoughts(alignment)
        if found is None:
            return None
        message = (
            f"Thoughts of an earlier turn {found.verb} when the history is sent again; the turn is computed anew from "
            "there."
        )
        claim = self.claim(pair, found.field, message, found.before, found.after)
        claim.confidence = Confidence.CERTAIN
        claim.cause = found.verb
        claim.evidence = ("it happens at the first call of a new turn",) if _opens_turn(alignment) else ()
        self._soften(pair.log, claim)
        return claim

    def _soften(self, log: Log, claim: Claim) -> None:
        if _STRIPPED_BY_PROVIDER.search(log.model(claim.after)):
            claim.severity = Severity.LOW
            claim.evidence = (*claim.evidence, "this model is made to go without the thoughts of earlier turns")

    def _empty_key(self, pair: Compared) -> Claim | None:
        """Return a claim where nothing but an empty field of thoughts has come or gone, and usage says miss."""
        if pair.served is not Served.MISS or not pair.turn or pair.a is None or pair.b is None:
            return None
        for index in range(pair.same_items):
            one, other = pair.a.raw(index), pair.b.raw(index)
            key = b'"reasoning_content"'
            if one != other and (key in one) != (key in other):
                entry = pair.b.entry(index)
                assert entry is not None  # noqa: S101 - the items of both are the same up to here
                texts = ("", "reasoning_content") if key in other else ("reasoning_content", "")
                message = "An empty `reasoning_content` comes or goes in an earlier message; chat templates render it."
                claim = self.claim(pair, entry.pointer + "/reasoning_content", message, *texts)
                self._soften(pair.log, claim)
                return claim
        return None

    def repair(self, request: Request, claims: Sequence[Claim]) -> Request | None:
        return with_first_sent(request, claims)


class _Thoughts(NamedTuple):
    """Thoughts that are not the same before and after; `verb` is what they do."""

    field: str
    before: str
    after: str
    verb: str


def _thoughts(alignment: Alignment) -> _Thoughts | None:
    """Return the thoughts at the first difference, None where something else differs."""
    start = alignment.start
    change = replaced(alignment) if alignment.partner.get(start) == start else None
    if change is not None:
        lefts, rights = _leading(change.lefts), _leading(change.rights)
        if not (lefts or rights) or (lefts and rights and len(lefts) != len(change.lefts)):
            return _spelt_out(change)
        pointers = (
            change.right.entry.pointer + (rights or lefts)[0].pointer,
            _text(lefts),
            _text(rights),
        )
        return _Thoughts(*pointers, "differ" if lefts and rights else "vanish" if lefts else "appear")
    if start in alignment.dropped and alignment.partner:
        gone = alignment.before(start)
        if gone.blocks and _leading(gone.blocks) == gone.blocks:
            return _Thoughts(gone.entry.pointer, _text(gone.blocks), "", "vanish")
    if start in alignment.inserted:
        new = alignment.after(start)
        if new.blocks and _leading(new.blocks) == new.blocks:
            return _Thoughts(new.entry.pointer, "", _text(new.blocks), "appear")
    return None


def _leading(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    return tuple(itertools.takewhile(lambda block: block.kind is BlockKind.THOUGHT, blocks))


def _text(blocks: tuple[Block, ...]) -> str:
    return "\n".join(block.text for block in blocks)


def _spelt_out(change: Replaced) -> _Thoughts | None:
    """Return what happened to thoughts that stand between tags in the text of an answer."""
    if [block.kind for block in change.lefts + change.rights] != [BlockKind.TEXT] * 2:
        return None
    one, other = change.lefts[0].text, change.rights[0].text
    field = change.right.entry.pointer + change.rights[0].place
    if without_thoughts(one) == other.strip() != one.strip():
        return _Thoughts(field, one, other, "vanish")
    return _Thoughts(field, one, other, "appear") if without_thoughts(other) == one.strip() != other.strip() else None


def _opens_turn(alignment: Alignment) -> bool:
    """Say whether the later request ends with words of the user, not with a tool's result."""
    newest = alignment.after(alignment.newest)
    return newest.entry.role == "user" and all(block.kind is not BlockKind.RESULT for block in newest.blocks)


RULES.add(ReasoningStripped.name, ReasoningStripped())
