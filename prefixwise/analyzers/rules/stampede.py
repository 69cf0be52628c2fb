"""`stampede`."""

from __future__ import annotations

from collections.abc import Iterator

from prefixwise.analyzers.lint.breakpoints import missed, planned, stable_tokens
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.lifetimes import lifetime
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.rule import RULES, LogRule
from prefixwise.caches.facts import Readable, System
from prefixwise.core.finding import Confidence, Severity, Where
from prefixwise.core.request import Mark

_FEWEST = 3
_FIRST_TOKEN = 1.0
"""Seconds after which an answer has begun, where the log does not say: shorter than most take."""
_LATER = (Readable.RESPONSE_BEGUN, Readable.RESPONSE_DONE, Readable.SECONDS_LATER)


class Stampede(LogRule):
    """# Parallel calls start before the first of them has filled the cache

    What a call writes can be read only once its answer has begun; with some providers when it is done, or seconds later.
    A batch or a fan-out that sends many calls with one prefix at once therefore pays for the prefix many times: each
    finds the cache empty and writes it for itself, at the price of a write.

    Reported where at least three calls with one prefix start before the first of them has been answered, and usage
    shows that none of them read it. Without times of answers, only calls within one second count.

    Not reported: caches that share what is still being computed (some engines), and waves in which the prefix was
    warm already.

    **Fix.** Send one call first and the others when its answer has begun, or warm the cache with a small request.

    ```jsonl bad
    {"ts": "2026-10-06T09:00:00.0Z", "end_time": "2026-10-06T09:00:06Z", "request": {"model": "claude-sonnet-4-5", "max_tokens": 50, "system": [{"type": "text", "text": "You answer questions on ferries.", "cache_control": {"type": "ephemeral"}}], "messages": [{"role": "user", "content": "Is quay 2 open?"}]}, "response": {"usage": {"input_tokens": 11, "cache_creation_input_tokens": 2292, "cache_read_input_tokens": 0, "output_tokens": 20}}}
    {"ts": "2026-10-06T09:00:00.1Z", "end_time": "2026-10-06T09:00:06Z", "request": {"model": "claude-sonnet-4-5", "max_tokens": 50, "system": [{"type": "text", "text": "You answer questions on ferries.", "cache_control": {"type": "ephemeral"}}], "messages": [{"role": "user", "content": "May I take a bicycle?"}]}, "response": {"usage": {"input_tokens": 11, "cache_creation_input_tokens": 2292, "cache_read_input_tokens": 0, "output_tokens": 20}}}
    {"ts": "2026-10-06T09:00:00.2Z", "end_time": "2026-10-06T09:00:06Z", "request": {"model": "claude-sonnet-4-5", "max_tokens": 50, "system": [{"type": "text", "text": "You answer questions on ferries.", "cache_control": {"type": "ephemeral"}}], "messages": [{"role": "user", "content": "Who sells tickets?"}]}, "response": {"usage": {"input_tokens": 11, "cache_creation_input_tokens": 2292, "cache_read_input_tokens": 0, "output_tokens": 20}}}
    ```

    ```jsonl good
    {"ts": "2026-10-06T09:00:00Z", "end_time": "2026-10-06T09:00:06Z", "request": {"model": "claude-sonnet-4-5", "max_tokens": 50, "system": [{"type": "text", "text": "You answer questions on ferries.", "cache_control": {"type": "ephemeral"}}], "messages": [{"role": "user", "content": "Is quay 2 open?"}]}, "response": {"usage": {"input_tokens": 11, "cache_creation_input_tokens": 2292, "cache_read_input_tokens": 0, "output_tokens": 20}}}
    {"ts": "2026-10-06T09:00:07Z", "end_time": "2026-10-06T09:00:12Z", "request": {"model": "claude-sonnet-4-5", "max_tokens": 50, "system": [{"type": "text", "text": "You answer questions on ferries.", "cache_control": {"type": "ephemeral"}}], "messages": [{"role": "user", "content": "May I take a bicycle?"}]}, "response": {"usage": {"input_tokens": 12, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 2292, "output_tokens": 20}}}
    ```
    """  # noqa: E501

    name = "stampede"
    code = "PW603"
    summary = "Parallel calls with one prefix start before the first has filled the cache, and each writes it"
    severity = Severity.MEDIUM
    fix = "Send one call first and the others when its answer has begun, or warm the cache with a small request."
    where = (Where.TRANSPORT,)
    rank = 20

    def detect(self, log: Log) -> Iterator[Claim]:
        by_head: dict[tuple[int, tuple[int, ...]], list[int]] = {}
        for row in log.conversations.order:
            if log.outlines.head[row] and not log.rows.marks[row] & Mark.ABORTED and log.times[row] > 0:
                by_head.setdefault((log.rows.model[row], log.outlines.head[row]), []).append(row)
        for rows in by_head.values():
            system = log.marker_system(rows[0]) or log.system(rows[0])
            if len(rows) >= _FEWEST and system is not None and system.readable_after in _LATER:
                for before, wave in _waves(log, rows, system):
                    if log.cached(wave[0]) is not None or _is_cold(log, before, wave[0]):
                        yield from self._claims(log, wave, system)

    def _claims(self, log: Log, wave: list[int], system: System) -> Iterator[Claim]:
        first, least = wave[0], planned(system, log.model(wave[0]))
        reported = log.cached(first) is not None
        missing = [row for row in wave if not log.cached(row) and log.written(row) != 0]
        if not reported:
            missing = [row for row in missing if log.times[row] < log.times[first] + _FIRST_TOKEN]
        if least is None or first not in missing:
            return
        late = [row for row in missing if row != first and row not in log.explained]
        late = [row for row in late if stable_tokens(log, row) >= least]
        if len(late) + 1 < _FEWEST:
            return
        took = log.times[late[-1]] - log.times[first]
        for row in late:
            yield Claim(
                rule=self.name,
                where=Where.TRANSPORT,
                after=row,
                before=first,
                lost=missed(log, row, stable_tokens(log, row)),
                confidence=Confidence.LIKELY if reported else Confidence.POSSIBLE,
                severity=self.severity,
                cause="wave",
                evidence=("none of them read from the cache",) if reported else ("the log reports no usage",),
                message=f"{len(late) + 1} calls with one prefix start within {max(took, 0.01):.2g} s, before the first "
                "can be read from the cache: each computes the prefix for itself.",
            )


def _waves(log: Log, rows: list[int], system: System) -> Iterator[tuple[int | None, list[int]]]:
    """Yield (call before it, calls of one head that start before the first of them can be read), in order."""
    wave: list[int] = []
    before: int | None = None
    for row in rows:
        if wave and log.times[row] < _readable(log, wave[0], system):
            wave.append(row)
            continue
        if len(wave) >= _FEWEST:
            yield before, wave
        before, wave = (wave[-1] if wave else None), [row]
    if len(wave) >= _FEWEST:
        yield before, wave


def _is_cold(log: Log, before: int | None, row: int) -> bool:
    """Say whether nothing is left of what an earlier call with the same head wrote, as far as times tell."""
    return before is None or log.times[row] - log.times[before] > lifetime(log, before).high


def _readable(log: Log, row: int, system: System) -> float:
    """Return when what a call writes can be read."""
    start, end, ttft = log.times[row], log.rows.end[row], log.rows.ttft[row]
    if system.readable_after is Readable.RESPONSE_BEGUN and ttft == ttft:
        return start + ttft
    return end if end == end and end > start else start + _FIRST_TOKEN


RULES.add(Stampede.name, Stampede())
