"""`breakpoint-misplaced`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from prefixwise.analyzers.lint.breakpoints import (
    FEWEST,
    Group,
    entry_tokens,
    groups,
    is_extension,
    missed,
    planned,
    stable_tokens,
    tokens_to,
    where_of,
)
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.lifetimes import lifetime
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.lint.marker_places import EMPTY, FRONT, THINKING, UNMARKABLE
from prefixwise.analyzers.rule import RULES, LogRule
from prefixwise.core.finding import Confidence, Severity, Where
from prefixwise.corpus.outlines import common_tokens

_LEAST = 256
"""Tokens of history below which a marker that does not move along costs little."""
_LEAST_UNREPORTED = 1024
_FEWEST_DEAD = 5
_WHAT = {
    EMPTY: "on an empty text, which cannot carry one",
    THINKING: "on a thinking block, which cannot carry one",
    FRONT: "in front of everything, where there is nothing to cache",
}
_SHARE = 0.2
_ALL = 0.7
"""Share of a prompt from which a write is one of all of it."""


class BreakpointMisplaced(LogRule):
    """# The cache marker stands at the wrong place

    A marker caches what stands before it. These places do not do what was meant:

    - It stays where the conversation began while tool calls and answers pile up behind it: the growing tail is paid
      for in full on every step, and what is read from the cache stays flat.
    - It stands on the question of a single-turn application. The question is never repeated, so every call writes an
      entry that nobody reads, though the text before it is the same each time.
    - It stands on a block that changes (environment, memory, retrieved text), and the constant block before it has
      none: again everything is written and nothing read.
    - It stands on an empty text or on a thinking block, which cannot carry one, or in front of everything; or it stands
      inside the data of a block (a tool's schema, a result of Bedrock's API), where nobody looks for one.

    Two more cost less. Where every conversation has one question, a second marker on that question writes, at the price
    of a write, what nobody comes back for (low). Two markers at one block are one too many: information, unless there
    is no room left for another one.

    Not reported: a marker that moves along with the newest message, short histories, calls that are cached all the
    same, and histories that are sent again in other words (that has rules of its own).

    **Fix.** Put one marker where the constant text ends and one on the last block of the newest message, tool results
    included; move the second along on each call.

    ```jsonl bad
    {"request": {"model": "claude-sonnet-4-5", "max_tokens": 50, "system": [{"type": "text", "text": "You answer questions on ferries."}], "messages": [{"role": "user", "content": [{"type": "text", "text": "Is quay 2 open?", "cache_control": {"type": "ephemeral"}}]}]}, "response": {"usage": {"input_tokens": 3, "cache_creation_input_tokens": 2300, "cache_read_input_tokens": 0, "output_tokens": 20}}}
    {"request": {"model": "claude-sonnet-4-5", "max_tokens": 50, "system": [{"type": "text", "text": "You answer questions on ferries."}], "messages": [{"role": "user", "content": [{"type": "text", "text": "May I take a bicycle?", "cache_control": {"type": "ephemeral"}}]}]}, "response": {"usage": {"input_tokens": 3, "cache_creation_input_tokens": 2301, "cache_read_input_tokens": 0, "output_tokens": 20}}}
    {"request": {"model": "claude-sonnet-4-5", "max_tokens": 50, "system": [{"type": "text", "text": "You answer questions on ferries."}], "messages": [{"role": "user", "content": [{"type": "text", "text": "Who sells tickets?", "cache_control": {"type": "ephemeral"}}]}]}, "response": {"usage": {"input_tokens": 3, "cache_creation_input_tokens": 2299, "cache_read_input_tokens": 0, "output_tokens": 20}}}
    ```

    ```jsonl good
    {"request": {"model": "claude-sonnet-4-5", "max_tokens": 50, "system": [{"type": "text", "text": "You answer questions on ferries.", "cache_control": {"type": "ephemeral"}}], "messages": [{"role": "user", "content": [{"type": "text", "text": "Is quay 2 open?"}]}]}, "response": {"usage": {"input_tokens": 11, "cache_creation_input_tokens": 2292, "cache_read_input_tokens": 0, "output_tokens": 20}}}
    {"request": {"model": "claude-sonnet-4-5", "max_tokens": 50, "system": [{"type": "text", "text": "You answer questions on ferries.", "cache_control": {"type": "ephemeral"}}], "messages": [{"role": "user", "content": [{"type": "text", "text": "May I take a bicycle?"}]}]}, "response": {"usage": {"input_tokens": 12, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 2292, "output_tokens": 20}}}
    ```
    """  # noqa: E501

    name = "breakpoint-misplaced"
    code = "PW503"
    summary = "A cache marker stands where it saves little or nothing"
    severity = Severity.HIGH
    fix = (
        "Put one marker where the constant text ends, and one on the last block of the newest message, tool results "
        "included; move the second along on each call."
    )
    where = (Where.MESSAGES, Where.SYSTEM, Where.TOOLS)
    rank = 15

    def detect(self, log: Log) -> Iterator[Claim]:
        yield from self._on_nothing(log)
        yield from self._twice(log)
        yield from self._stuck(log)
        for group in groups(log):
            yield from self._never_read(log, group)
            yield from self._never_returned_to(log, group)

    def _on_nothing(self, log: Log) -> Iterator[Claim]:
        for row in log.conversations.order:
            seen = log.of(row)
            place = next((one for one in seen.markers if one.on in UNMARKABLE), None)
            if not (place or seen.strays) or log.marker_system(row) is None:
                continue
            if place is None:
                yield self._stray(log, row, seen.strays[0])
                continue
            where, only_harmless = _WHAT[place.on], len(seen.markers) > 1 and place.on == FRONT
            yield Claim(
                rule=self.name,
                where=where_of(place),
                after=row,
                field=place.pointer,
                confidence=Confidence.CERTAIN,
                severity=Severity.INFO if only_harmless else self.severity,
                cause=("nothing", place.on),
                message=f"The marker stands {where}.",
                fix="Put the marker on the last block with text, a tool call or a tool result.",
            )

    def _stray(self, log: Log, row: int, pointer: str) -> Claim:
        marked = row in log.explained or bool(log.of(row).markers)
        return Claim(
            rule=self.name,
            where=Where.MESSAGES if pointer.startswith("/messages") else Where.TOOLS,
            after=row,
            field=pointer,
            confidence=Confidence.CERTAIN,
            severity=Severity.INFO if marked else Severity.MEDIUM,
            cause="stray",
            message="The marker stands inside the data of a block, where the API has no place for one.",
            fix="Put the marker on the block itself, or behind it.",
        )

    def _twice(self, log: Log) -> Iterator[Claim]:
        """Claim second markers at one block: each takes a place of the few that a request has."""
        for row in log.conversations.order:
            markers = [place for place in log.of(row).markers if place.on not in UNMARKABLE]
            second = next((b for a, b in pairwise(markers) if a.block == b.block and b.on != "automatic"), None)
            system = None if second is None else log.marker_system(row)
            if second is None or system is None:
                continue
            is_full = system.max_breakpoints == len(markers)
            yield Claim(
                rule=self.name,
                where=where_of(second),
                after=row,
                field=second.pointer,
                confidence=Confidence.CERTAIN,
                severity=Severity.LOW if is_full else Severity.INFO,
                cause="twice",
                evidence=(f"all {len(markers)} markers that are allowed are set",) if is_full else (),
                message="Two markers stand at one block: the second does nothing and takes the place of another.",
                fix="Set one marker a block.",
            )

    def _never_returned_to(self, log: Log, group: Group) -> Iterator[Claim]:
        """Claim what single questions write behind the part that they share, where no conversation ever goes on."""
        marked = [row for row in group.rows if (at := log.of(row).markers) and at[-1].kind == "messages"]
        if any(len(log.threads[log.conversations.conversation[row]]) > 1 or log.written(row) == 0 for row in marked):
            return
        last = max((log.times[row] for row in group.rows), default=0.0)
        rows = [row for row in marked if _is_dead_end(log, row, last)]
        if len(rows) < _FEWEST_DEAD:
            return
        dear = next(
            (f"{factor:g} times the price" for _, factor in group.system.multipliers_of(group.model).writes), ""
        )
        for row in rows:
            place, written = log.of(row).markers[-1], log.written(row) or 0
            yield Claim(
                rule=self.name,
                where=where_of(place),
                after=row,
                field=place.pointer,
                severity=Severity.LOW,
                cause="dead end",
                evidence=(f"{len(rows):,} calls write, and no conversation has a second one",),
                message=f"A second marker on the question writes {written:,} tokens"
                f"{f' at {dear} of input' if dear else ''} that nobody comes back for.",
                fix="Mark the constant text alone where conversations have one question.",
            )

    def _stuck(self, log: Log) -> Iterator[Claim]:
        """Claim steps of a conversation that leave the history behind the last marker uncached."""
        by_thread: dict[int, list[Claim]] = {}
        for before, row in log.turns():
            claim = self._left_behind(log, before, row)
            if claim is not None:
                by_thread.setdefault(log.conversations.conversation[row], []).append(claim)
        for claims in by_thread.values():
            if len(claims) > 1 or (claims[0].lost or 0) >= 2 * _LEAST_UNREPORTED:
                yield from claims

    def _left_behind(self, log: Log, before: int, row: int) -> Claim | None:
        one, other = log.of(before).markers, log.of(row).markers
        if not one or not other or other[-1].block > one[-1].block or not is_extension(log, before, row):
            return None
        system = log.marker_system(row)
        if system is None or row in log.explained or log.of(row).automatic:
            return None
        place, cached, whole = other[-1], log.cached(row), log.prompt(before)
        least = _LEAST if cached is not None else _LEAST_UNREPORTED
        if cached == 0 or (cached is not None and cached > entry_tokens(log, before) + _LEAST):
            return None
        lost = missed(log, row, whole) if cached is not None else whole - tokens_to(log, row, place)
        if lost < max(least, _SHARE * whole):
            return None
        seen = () if cached is None else (f"{cached:,} tokens read, {whole:,} had been sent before",)
        return Claim(
            rule=self.name,
            where=where_of(place),
            after=row,
            before=before,
            field=place.pointer,
            lost=lost,
            confidence=Confidence.POSSIBLE if cached is None else Confidence.LIKELY,
            severity=Severity.MEDIUM if cached is None else None,
            cause="stuck",
            evidence=seen,
            message="The last marker does not move along: the history behind it grows and is paid for in full on "
            "each step.",
        )

    def _never_read(self, log: Log, group: Group) -> Iterator[Claim]:
        least = planned(group.system, group.model)
        if least is None:
            return
        asked = [claim for row in group.rows if (claim := self._on_question(log, row, least)) is not None]
        moving = [claim for row in group.rows if (claim := self._behind_change(log, row, least)) is not None]
        for claims in (asked, moving):
            if len(claims) + 1 >= FEWEST:
                yield from claims

    def _on_question(self, log: Log, row: int, least: int) -> Claim | None:
        """Return what there is to say of a single question that carries the only marker."""
        link, markers = log.conversations.links[row], log.of(row).markers
        alone = len(log.threads[log.conversations.conversation[row]]) == 1
        if not alone or link is None or not markers or any(place.kind != "messages" for place in markers):
            return None
        tokens = stable_tokens(log, row)
        if tokens < least or row in log.explained or log.of(row).automatic:
            return None
        cached = log.cached(row)
        if cached or (cached is not None and not _writes_all(log, row)):
            return None
        place = markers[-1]
        return Claim(
            rule=self.name,
            where=where_of(place),
            after=row,
            before=link.before,
            field=place.pointer,
            lost=missed(log, row, tokens),
            confidence=Confidence.POSSIBLE if cached is None else Confidence.LIKELY,
            severity=Severity.MEDIUM if cached is None else None,
            cause="question",
            evidence=() if cached is None else ("nothing is read, and nearly the whole prompt is written each time",),
            message=f"The only marker stands on the question, which no other call repeats; the {tokens:,} tokens "
            "before it are the same each time and are never read.",
            fix="Put the marker at the end of the constant text before the question.",
        )

    def _behind_change(self, log: Log, row: int, least: int) -> Claim | None:
        """Return what there is to say of a request whose first marker stands behind a system block that changes."""
        link, seen = log.conversations.links[row], log.of(row)
        if link is None or not seen.markers or log.cached(row) != 0 or not _writes_all(log, row):
            return None
        one, other = log.outlines.head[link.before], log.outlines.head[row]
        same = next(
            (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
        )
        constant_blocks = same - (len(other) - seen.system_blocks)
        if same == len(other) or constant_blocks < 1 or seen.markers[0].block < same:
            return None
        tokens = log.scaled(row, common_tokens(log.rows.tree, log.rows.node[link.before], log.rows.node[row]))
        if tokens < least:
            return None
        place = seen.markers[0]
        return Claim(
            rule=self.name,
            where=where_of(place),
            after=row,
            before=link.before,
            field=place.pointer,
            lost=missed(log, row, tokens),
            severity=Severity.INFO if row in log.explained else None,  # the change is the first thing to mend
            cause="behind a change",
            evidence=("nothing is read, and nearly the whole prompt is written each time",),
            message="The first marker stands on a block that changes; the constant text before it has none and is "
            "written again with each call.",
            fix="Put a marker on the last block that never changes.",
        )


def _writes_all(log: Log, row: int) -> bool:
    written = log.written(row)
    return written is not None and written >= _ALL * log.prompt(row)


def _is_dead_end(log: Log, row: int, last: float) -> bool:
    """Say whether a call reads what others wrote, writes more, and had the time to be gone on with."""
    seen, written = log.of(row), log.written(row)
    if len(seen.markers) < 2 or seen.markers[-2].kind == "messages" or seen.automatic or row in log.explained:
        return False
    if not log.cached(row) or written is None or written < _LEAST:
        return False
    return not log.times[row] > 0 or log.times[row] + lifetime(log, row).high <= last


RULES.add(BreakpointMisplaced.name, BreakpointMisplaced())
