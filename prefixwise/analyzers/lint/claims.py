"""What a rule says of one pair or record; claims of one cause become one finding."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Literal

import msgspec

from prefixwise.core.finding import Confidence, Severity, Where


class Parameter(msgspec.Struct, frozen=True):
    """A parameter of the cache key that differs: its JSON before and after, empty where it is absent."""

    name: str
    before: bytes
    after: bytes


class Around(msgspec.Struct, frozen=True):
    """Where a value stands that moves: a regular expression, with a group for the value, for texts of one field.

    Attributes:
        field: Pointer with `*` for the numbers of messages.
        label: What stands in front of the value on its line.
        pattern: Made of the literal text on both sides, digits apart.
        left: How many characters of text in front of the value it asks for.
    """

    field: str
    label: str
    pattern: str
    left: int = 0


class Said(msgspec.Struct, frozen=True):
    """A value at the turn of its request: `turn` is a hash of session, length and newest message."""

    turn: int
    value: str


class Claim(msgspec.Struct, kw_only=True):
    """One place where a rule sees its kind.

    Attributes:
        rule: Name of the rule.
        after: Row of the request that it is about; `before`: of the earlier one that it is compared with, if any.
        side: Which half of the exchange `field` is in.
        field: Pointer into the body of `after` (of `before` where the value is gone), `record:` in front of values
            outside the body.
        char_offset: Code points before the first difference in the string at `field`.
        from_text, to_text: What differs, as a person would quote it; not yet masked.
        confidence: How sure.
        evidence: What else supports it, a clause each.
        message: What happened, one sentence; that of the first claim of a cause is shown.
        severity: Where the rule knows better than its default; `INFO` for what needs no repair.
        lost: Tokens of `after` that had to be computed for it; None to take what the pair lost.
        cause: What tells causes of one rule in one family apart; by default the shape of `field`.
        fix: Where the rule knows better than its default.
        also: Names of rules that show in the same pair behind this one.
        explains: Rows beside `after` whose misses this explains.
        moved: Of a value that moves in a text: how it is found in other requests.
        settings: Parameters of the cache key that differ.
        tools: Of a difference of tools: the decoded tools of the earlier and of the later request.
        resent: Of a history that comes again otherwise: what messages are now, by session and place, and JSON of what
            they were when they were first sent.
        said: What stood there in the earlier and in the later request, each with the turn at which it was newest.
    """

    rule: str
    where: Where
    after: int
    before: int | None = None
    side: Literal["request", "response"] = "request"
    field: str | None = None
    char_offset: int | None = None
    from_text: str | None = None
    to_text: str | None = None
    confidence: Confidence = Confidence.LIKELY
    evidence: tuple[str, ...] = ()
    message: str = ""
    severity: Severity | None = None
    lost: int | None = None
    cause: Hashable = None
    fix: str | None = None
    also: tuple[str, ...] = ()
    explains: tuple[int, ...] = ()
    settings: tuple[Parameter, ...] = ()
    tools: tuple[tuple[Any, ...], ...] = ()
    resent: tuple[tuple[int, bytes], ...] = ()
    moved: tuple[Around, ...] = ()
    said: tuple[Said, ...] = ()
