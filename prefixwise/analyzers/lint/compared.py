"""A request against the earlier one that it continues or resembles: what rules are asked about."""

from __future__ import annotations

from array import array
from enum import StrEnum

import msgspec

from prefixwise.analyzers.lint.alignment import Alignment
from prefixwise.analyzers.lint.change import Change
from prefixwise.analyzers.lint.claims import Parameter
from prefixwise.analyzers.lint.documents import Document
from prefixwise.analyzers.lint.log import Log
from prefixwise.core.finding import Verdict
from prefixwise.corpus.items import HEAD_KINDS
from prefixwise.corpus.outlines import Shape, common_tokens

_LEAST_SEEN = 256
"""Tokens below which reported counts cannot tell a hit from a miss: steps of counting and hidden framing."""
_SEEN_SHARE = 0.05
_LEAST_BEHIND = 64
"""Tokens by which counts that are known to be exact may be off, and that a break must cost."""
_FLIPS = frozenset({(Shape.STRING, Shape.ONE_BLOCK), (Shape.ONE_BLOCK, Shape.STRING)})


class Served(StrEnum):
    """What the reported usage says of the tokens that two requests have in common, or should have."""

    HIT = "hit"
    """Most of them were served, whatever the texts say."""
    MISS = "miss"
    """A good part of them was not served."""
    UNKNOWN = "unknown"
    """Nothing is reported, or too little is at stake for the counts to tell."""


class Compared(msgspec.Struct):
    """Two requests of which the later should have been served from the earlier one's cache, as far as they agree.

    Attributes:
        log: All requests.
        before, after: Rows.
        turn: Whether they are of one conversation.
        verdict: How the later stands to the earlier by what they say.
        same_items: How many leading items say the same.
        kept: Tokens that both prompts have from their start, as counted.
        served: What usage says.
        parameters: Those of the cache key that differ, by name.
        reshaped: First leading item that says the same in another shape (a string, a list of one text), None for none.
        change: Where their texts part, None where they do not; only while a rule is asked.
        a, b: The documents, while they are at hand.
        field, char_offset: Of `change`, kept.
    """

    log: Log
    before: int
    after: int
    turn: bool
    verdict: Verdict
    same_items: int
    kept: int
    served: Served
    parameters: tuple[Parameter, ...]
    reshaped: int | None = None
    change: Change | None = None
    a: Document | None = None
    b: Document | None = None
    field: str | None = None
    char_offset: int | None = None
    _aligned: Alignment | None = None

    @property
    def alignment(self) -> Alignment | None:
        """How the messages of one conversation lie in the later request; None where the texts part in front of them.

        A system message that follows the first one belongs to the history where only one of the two has it.
        """
        if self._aligned is None and self.turn and self.change and self.a is not None and self.b is not None:
            outlines, rows = self.log.outlines, (self.before, self.after)
            head = min(len(outlines.head[row]) for row in rows)
            entries = [document.entry(head) for document in (self.a, self.b)]
            if self.change.index >= head and all(entry is None or entry.kind not in HEAD_KINDS for entry in entries):
                contents = [array("q", outlines.head[row][head:]) + outlines.messages[row] for row in rows]
                self._aligned = Alignment(self.a, self.b, contents[0], contents[1], head, self.change.index - head)
        return self._aligned

    def served_behind(self, tokens: int) -> Served:
        """Return what usage says of the tokens behind the first `tokens`, as counted, that both have or should have."""
        rows, log = self.log.rows, self.log
        whole = log.scaled(self.after, min(rows.prompt_tokens[self.before], rows.prompt_tokens[self.after]))
        return _served_behind(log, self.after, whole, tokens)

    def forget_texts(self) -> None:
        """Drop everything that holds text."""
        self.a = self.b = self.change = self._aligned = None

    @property
    def gap(self) -> float | None:
        """Seconds from start to start, None where the log has no times."""
        gap = self.log.times[self.after] - self.log.times[self.before]
        return gap if 0 <= gap < float("inf") else None

    @property
    def expired(self) -> bool:
        """Whether the pause between the two outlived what the earlier one may have left in a cache."""
        system, gap, log = self.log.system(self.after), self.gap, self.log
        if system is None or system.ttl_s is None or gap is None:
            return False
        asked = [ttl for _, ttl in log.rows.markers.get(self.before, ())]
        longest = max(asked, default=system.ttl_s.stated or system.ttl_s.high)
        return longest is not None and gap > longest

    @property
    def same_model(self) -> bool:
        """Whether both went to one model."""
        return self.log.rows.model[self.before] == self.log.rows.model[self.after]

    @property
    def at_stake(self) -> int:
        """Tokens that could have been served, had everything agreed: as counted."""
        rows = self.log.rows
        if self.turn:
            return min(rows.prompt_tokens[self.before], rows.prompt_tokens[self.after])
        return min(rows.system_end[self.before], rows.system_end[self.after]) or min(
            rows.prompt_tokens[self.before], rows.prompt_tokens[self.after]
        )

    @property
    def lost(self) -> int:
        """Tokens of `after` that had to be computed because of the break: the provider's own, as reported at most."""
        log = self.log
        best = 0
        if self.verdict is Verdict.BREAKS:  # what another request left counts unless usage says that it was not there
            best = self.kept if self.served is Served.MISS else max(self.kept, log.sharing.shared[self.after])
        tokens = log.scaled(self.after, max(0, self.at_stake - best))
        uncached = log.uncached(self.after)
        return tokens if uncached is None else min(tokens, uncached)


def compare(log: Log, before: int, after: int, *, turn: bool) -> Compared:
    """Compare two rows by what their items say; no text is needed."""
    outlines, rows = log.outlines, log.rows
    head_a, head_b = outlines.head[before], outlines.head[after]
    a, b = outlines.messages[before], outlines.messages[after]
    kept = common_tokens(rows.tree, rows.node[before], rows.node[after])
    if turn and outlines.is_bare(before) and outlines.is_bare(after) and kept >= rows.prompt_tokens[before]:
        same, verdict = 1, Verdict.IDENTICAL if rows.node[before] == rows.node[after] else Verdict.EXTENDS
    elif head_a != head_b:
        same = _common(head_a, head_b)
        verdict = Verdict.BREAKS
    else:
        same = len(head_a) + (len(a) if b[: len(a)] == a else _common(a, b))
        verdict = _verdict(same - len(head_a), len(a), len(b), turn=turn)
    served = _served(log, before, after, kept, verdict)
    reshaped = _reshaped(outlines.shapes[before], outlines.shapes[after], same) if turn else None
    return Compared(log, before, after, turn, verdict, same, kept, served, _parameters(log, before, after), reshaped)


def _verdict(same: int, before: int, after: int, *, turn: bool) -> Verdict:
    if same == before:
        return Verdict.IDENTICAL if same == after else Verdict.EXTENDS
    if same == after:
        return Verdict.PREFIX
    return Verdict.BREAKS if turn else Verdict.SHARED


def _common(one: tuple[int, ...] | object, other: object) -> int:
    count = 0
    for left, right in zip(one, other, strict=False):  # type: ignore[call-overload]
        if left != right:
            break
        count += 1
    return count


def _reshaped(one: bytes, other: bytes, same: int) -> int | None:
    if one[:same] == other[:same]:
        return None
    return next((at for at, pair in enumerate(zip(one[:same], other[:same], strict=True)) if pair in _FLIPS), None)


def _served(log: Log, before: int, after: int, kept: int, verdict: Verdict) -> Served:
    """Judge by the reported cached tokens; a hit behind the break says that the break is not what it looks like."""
    cached = log.cached(after)
    if cached is None:
        return Served.UNKNOWN
    whole = _in_common(log, before, after, kept, verdict)
    seen = max(_LEAST_SEEN, _SEEN_SHARE * log.prompt(after))
    if verdict is Verdict.BREAKS:
        # Where a third request had more of it, the break still costs what came after that one.
        best = log.scaled(after, log.sharing.shared[after])
        by_another = log.scaled(after, kept) < best and cached <= best + _LEAST_BEHIND < whole
        judged = _served_behind(log, after, whole, kept)
        return Served.MISS if judged is Served.HIT and by_another else judged
    if whole - cached <= seen:
        return Served.HIT
    if log.may_be_too_short(after, whole, _LEAST_BEHIND if log.written(after) else seen):
        return Served.UNKNOWN
    return Served.MISS if cached < 0.75 * whole else Served.UNKNOWN


def _served_behind(log: Log, after: int, whole: int, kept: int) -> Served:
    """Judge whether more than the first `kept` tokens, as counted, of `whole` was served."""
    cached = log.cached(after)
    kept = log.scaled(after, kept)
    if cached is None or whole - kept <= max(_LEAST_SEEN, _SEEN_SHARE * log.prompt(after)):
        return Served.UNKNOWN
    return Served.HIT if cached >= kept + (whole - kept) / 2 else Served.MISS


def _in_common(log: Log, before: int, after: int, kept: int, verdict: Verdict) -> int:
    """Return the tokens that two requests have in common, or should have, in the provider's own."""
    rows = log.rows
    if verdict is Verdict.SHARED:
        return log.scaled(after, kept)
    reported = None if verdict is Verdict.BREAKS else log.reported_in_common(before, after)
    if reported is not None:
        return reported
    return log.scaled(after, min(rows.prompt_tokens[before], rows.prompt_tokens[after]))


def _parameters(log: Log, before: int, after: int) -> tuple[Parameter, ...]:
    rows = log.rows
    if rows.param_set[before] == rows.param_set[after]:
        return ()
    one, other = dict(rows.param_sets[rows.param_set[before]]), dict(rows.param_sets[rows.param_set[after]])
    names = sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))
    return tuple(Parameter(name, one.get(name, b""), other.get(name, b"")) for name in names)
