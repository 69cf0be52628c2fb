"""`lookback-exceeded`."""

from __future__ import annotations

from collections.abc import Iterator

from prefixwise.analyzers.lint.breakpoints import entry_tokens, is_extension, missed, tokens_to, where_of
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.lifetimes import idle_seconds, lifetime
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.lint.marker_places import MarkerPlace
from prefixwise.analyzers.rule import RULES, LogRule
from prefixwise.core.finding import Confidence, Severity, Where

_LEAST = 4
"""Tokens by which a reported read may fall short of an entry that was found."""


class LookbackExceeded(LogRule):
    """# One step adds more blocks than a marker looks back

    A marker finds an earlier entry only a limited number of positions before it (20 on Anthropic, the marker's own
    included). A step that adds more blocks than that, for example a wave of parallel tool calls with their results, or
    many attachments in one message, puts the new marker out of reach of the last one: the history between them is
    written again though not a byte of it changed. What an earlier marker covers, such as the system text, is still
    read, which hides the loss.

    Positions are blocks; the provider may count a run of tool calls, or of results, as one. Where the runs make the
    difference, only the reported usage can tell, and it is asked.

    Not reported: steps after which usage shows that the last entry was found, and pauses longer than the entry lives.

    **Fix.** When a step adds many blocks, put a marker in between, so that no more than about 15 blocks lie between
    one marker and the next; requests may carry several.

    ```jsonl bad
    {"request": {"model": "claude-sonnet-4-5", "max_tokens": 50, "system": [{"type": "text", "text": "You answer questions on ferries.", "cache_control": {"type": "ephemeral"}}], "messages": [{"role": "user", "content": [{"type": "text", "text": "Is quay 2 open?", "cache_control": {"type": "ephemeral"}}]}]}, "response": {"usage": {"input_tokens": 3, "cache_creation_input_tokens": 2600, "cache_read_input_tokens": 0, "output_tokens": 20}}}
    {"request": {"model": "claude-sonnet-4-5", "max_tokens": 50, "system": [{"type": "text", "text": "You answer questions on ferries.", "cache_control": {"type": "ephemeral"}}], "messages": [{"role": "user", "content": [{"type": "text", "text": "Is quay 2 open?"}]}, {"role": "assistant", "content": "Yes."}, {"role": "user", "content": [{"type": "text", "text": "1"}, {"type": "text", "text": "2"}, {"type": "text", "text": "3"}, {"type": "text", "text": "4"}, {"type": "text", "text": "5"}, {"type": "text", "text": "6"}, {"type": "text", "text": "7"}, {"type": "text", "text": "8"}, {"type": "text", "text": "9"}, {"type": "text", "text": "10"}, {"type": "text", "text": "11"}, {"type": "text", "text": "12"}, {"type": "text", "text": "13"}, {"type": "text", "text": "14"}, {"type": "text", "text": "15"}, {"type": "text", "text": "16"}, {"type": "text", "text": "17"}, {"type": "text", "text": "18"}, {"type": "text", "text": "19"}, {"type": "text", "text": "20", "cache_control": {"type": "ephemeral"}}]}]}, "response": {"usage": {"input_tokens": 3, "cache_creation_input_tokens": 900, "cache_read_input_tokens": 1800, "output_tokens": 20}}}
    ```

    ```jsonl good
    {"request": {"model": "claude-sonnet-4-5", "max_tokens": 50, "system": [{"type": "text", "text": "You answer questions on ferries.", "cache_control": {"type": "ephemeral"}}], "messages": [{"role": "user", "content": [{"type": "text", "text": "Is quay 2 open?", "cache_control": {"type": "ephemeral"}}]}]}, "response": {"usage": {"input_tokens": 3, "cache_creation_input_tokens": 2600, "cache_read_input_tokens": 0, "output_tokens": 20}}}
    {"request": {"model": "claude-sonnet-4-5", "max_tokens": 50, "system": [{"type": "text", "text": "You answer questions on ferries.", "cache_control": {"type": "ephemeral"}}], "messages": [{"role": "user", "content": [{"type": "text", "text": "Is quay 2 open?"}]}, {"role": "assistant", "content": "Yes."}, {"role": "user", "content": [{"type": "text", "text": "1"}, {"type": "text", "text": "2", "cache_control": {"type": "ephemeral"}}]}]}, "response": {"usage": {"input_tokens": 3, "cache_creation_input_tokens": 100, "cache_read_input_tokens": 2600, "output_tokens": 20}}}
    ```
    """  # noqa: E501

    name = "lookback-exceeded"
    code = "PW506"
    summary = "A step adds more blocks than a cache marker looks back, so the last entry is not found"
    severity = Severity.MEDIUM
    fix = "Put a marker in between when a step adds many blocks: no more than about 15 from one marker to the next."
    where = (Where.MESSAGES,)
    rank = 16

    def detect(self, log: Log) -> Iterator[Claim]:
        for before, row in log.turns():
            claim = self._claim(log, before, row)
            if claim is not None:
                yield claim

    def _claim(self, log: Log, before: int, row: int) -> Claim | None:
        one, other = log.of(before).markers, log.of(row).markers
        if not one or not other or row in log.explained or not is_extension(log, before, row):
            return None
        system = log.marker_system(row)
        if system is None or system.lookback_positions is None or log.rows.model[before] != log.rows.model[row]:
            return None
        last = one[-1]
        behind = [place for place in other if place.block >= last.block]
        if not behind:
            return None
        reach = system.lookback_positions
        blocks = min(place.block - last.block for place in behind)
        positions = min(place.position - last.position for place in behind)
        idle = idle_seconds(log, before, row)
        if blocks < reach or (idle is not None and idle > lifetime(log, before).low):
            return None
        confidence = self._how_sure(log, before, row, is_far=positions >= reach)
        if confidence is None:
            return None
        return self._found(log, (before, row), behind[-1], last, blocks, confidence)

    def _how_sure(self, log: Log, before: int, row: int, *, is_far: bool) -> Confidence | None:
        """Ask the usage whether the last entry was found; None where it was, or nobody can say."""
        cached, entry = log.cached(row), entry_tokens(log, before)
        if cached is None or not entry:
            return Confidence.POSSIBLE if cached is None and is_far else None
        return Confidence.LIKELY if cached < entry - _LEAST else None

    def _found(
        self,
        log: Log,
        pair: tuple[int, int],
        place: MarkerPlace,
        last: MarkerPlace,
        blocks: int,
        confidence: Confidence,
    ) -> Claim:
        before, row = pair
        cached, entry = log.cached(row), entry_tokens(log, before) or tokens_to(log, before, last)
        seen = () if cached is None else (f"{cached:,} tokens read, though an entry of {entry:,} was left behind",)
        return Claim(
            rule=self.name,
            where=where_of(place),
            after=row,
            before=before,
            field=place.pointer,
            lost=missed(log, row, entry),
            confidence=confidence,
            evidence=seen,
            message=f"The step adds {blocks} blocks behind the last marker, more than the next one looks back: the "
            "history between them is written again though it did not change.",
        )


RULES.add(LookbackExceeded.name, LookbackExceeded())
