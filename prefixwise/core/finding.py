"""What a check found: the record that every rule fills in, every format shows and `prefixwise/lint` promises.

Field names and their order are those of the JSON document; all are always present, null where there is nothing.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from prefixwise.core.request import Ref


class Severity(StrEnum):
    """How much it hurts, from position and frequency, worst first.

    `critical`: the whole prefix, or nearly, is lost on most calls, or calls fail. `high`: history or prefix is lost on
    many calls, or once with a very large context. `medium`: partial or occasional. `low`: bounded and rare, or on
    some engines only. `info`: worth knowing, nothing to repair.
    """

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    INFO = "info"

    @property
    def level(self) -> Level:
        """The level at which `--fail-on` looks."""
        return _LEVELS[self]

    @property
    def rank(self) -> int:
        """0 for the worst."""
        return list(Severity).index(self)


class Level(StrEnum):
    """What `--fail-on` compares, worst first."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """0 for the worst."""
        return list(Level).index(self)


_LEVELS = {
    Severity.CRITICAL: Level.ERROR,
    Severity.HIGH: Level.ERROR,
    Severity.MEDIUM: Level.WARNING,
    Severity.LOW: Level.WARNING,
    Severity.INFO: Level.INFO,
}


class Confidence(StrEnum):
    """How sure a finding is: `certain` is proven by the input, `likely` has evidence, `possible` may be wrong."""

    CERTAIN = "certain"
    LIKELY = "likely"
    POSSIBLE = "possible"


class Mode(StrEnum):
    """What was looked at: requests that were sent, or sources from which prompts are built."""

    STATIC = "static"
    LOG = "log"


class Where(StrEnum):
    """Which part of a request, or of what makes one, a finding is about."""

    TOOLS = "tools"
    SYSTEM = "system"
    MESSAGES = "messages"
    PARAMS = "params"
    TRANSPORT = "transport"
    USAGE = "usage"
    TEMPLATE = "template"
    SOURCE = "source"
    ENGINE = "engine"


class Verdict(StrEnum):
    """How a request stands to the earlier one that it is compared with."""

    IDENTICAL = "identical"
    EXTENDS = "extends"
    PREFIX = "prefix_of_previous"
    BREAKS = "breaks"
    SHARED = "shared_prefix"
    """Two conversations of one application; what they have in common ends where their own text begins."""
    TTL_GAP = "ttl_gap"
    PARAM_BREAK = "param_break"
    COMPACTION = "compaction"


class Safety(StrEnum):
    """Whether a tool may apply a fix: without a look, after a look, or not at all."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    NONE = "none"


class Per(StrEnum):
    """How often a loss occurs."""

    CALL = "call"
    DAY = "day"
    ONCE = "once"


class Span(msgspec.Struct, frozen=True):
    """A stretch of a source file: lines and columns are 1-based, offsets are code points, end-exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int
    start: int
    end: int


class Pair(msgspec.Struct, frozen=True, rename={"before": "from", "after": "to"}):
    """Two requests that were compared: the earlier one and the one that should have continued it."""

    before: Ref
    after: Ref


class Occurrence(msgspec.Struct, frozen=True):
    """One place where a finding shows: in a pair of requests, or in one record."""

    pair: Pair | None
    record: Ref | None
    field: str | None
    char_offset: int | None


class Step(msgspec.Struct, frozen=True):
    """One step on the way from a volatile source to the prompt."""

    path: str
    span: Span
    note: str


class Lost(msgspec.Struct, frozen=True):
    """Prompt tokens that had to be computed again: over all calls, every time, or once a day."""

    value: int
    exact: bool
    per: Per


class Edit(msgspec.Struct, frozen=True):
    """Replace code points `start` to `end` (end-exclusive) of a file by `text`."""

    path: str
    start: int
    end: int
    text: str


class Fix(msgspec.Struct, frozen=True):
    """How to mend it, in words and, where a tool can, as edits."""

    summary: str
    safety: Safety
    edits: tuple[Edit, ...] = ()


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One cause, wherever it shows.

    Attributes:
        rule, code: Name of the kind and its alias.
        path: File, relative, with `/`; `span`: where in a source file.
        record, pair: The first record, or pair of records, where it shows.
        occurrences: Every place where it shows, in order of time.
        field: Pointer (RFC 6901) into the request body, of values outside it with the prefix `record:`.
        char_offset: Code points before the first difference inside the string at `field`; None where it is no string.
        from_text, to_text: What differs, masked and cut as excerpts are.
        flow: How a volatile value gets from its source to the prompt.
        tokens_lost, usd_lost: What it cost; never more than what was really uncached.
        evidence: What in the input supports it apart from the difference.
        fingerprint: Stays the same when lines move and values change; tells the findings of a rule in a file apart.
        also_rules: Other kinds that show in the same places, behind this one.
    """

    rule: str
    code: str
    severity: Severity
    level: Level
    confidence: Confidence
    mode: Mode
    where: Where
    path: str
    span: Span | None = None
    record: Ref | None = None
    pair: Pair | None = None
    occurrences: tuple[Occurrence, ...] = ()
    field: str | None = None
    char_offset: int | None = None
    from_text: str | None = None
    to_text: str | None = None
    flow: tuple[Step, ...] = ()
    tokens_lost: Lost | None = None
    usd_lost: float | None = None
    evidence: tuple[str, ...] = ()
    message: str
    fix: Fix
    fingerprint: str
    also_rules: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """`FILE:LINE` of a source, `FILE#N` of a record, else the file."""
        if self.span is not None:
            return f"{self.path}:{self.span.line}"
        ref = self.pair.after if self.pair is not None else self.record
        return self.path if ref is None else str(ref)


class ComparedPair(msgspec.Struct, frozen=True, rename={"before": "from", "after": "to"}):
    """A request and the earlier one it was compared with: how they stand to each other, and where they part."""

    before: Ref
    after: Ref
    verdict: Verdict
    field: str | None
    char_offset: int | None
    kept_tokens: int
