"""One line a request, in order of start: what it continues, what it keeps, what was served, and which rule says why.

Written straight to text or JSON, for logs of any size: no tables, no wrapping.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.compared import Compared
from prefixwise.analyzers.lint.run import Linted
from prefixwise.analyzers.why.accounts import claims_by_row, pairs_by_row
from prefixwise.analyzers.why.words import gap_words
from prefixwise.core.excerpt import visible
from prefixwise.core.finding import Verdict
from prefixwise.core.request import Ref


class Reason(msgspec.Struct, frozen=True):
    """A rule that speaks of the request, and where it looks."""

    rule: str
    field: str | None
    char_offset: int | None


class Line(msgspec.Struct, frozen=True):
    """One request.

    Attributes:
        request: Where it stands.
        relation: `conversation` where it continues `compared_with`, `application` where it resembles it, `none` for
            the first of its application.
        seconds: From start to start; None where the log has no times.
        verdict: How the texts stand to each other.
        prompt_tokens, kept_tokens: As counted: of the request, and of those that both prompts begin with.
        cached_tokens: As reported, None where the log does not say.
        reasons: Empty where no rule has anything to say.
    """

    request: Ref
    relation: Literal["conversation", "application", "none"]
    compared_with: Ref | None
    seconds: float | None
    verdict: Verdict | None
    prompt_tokens: int
    kept_tokens: int
    cached_tokens: int | None
    reasons: tuple[Reason, ...]


def why_lines(linted: Linted, *, json: bool = False) -> Iterator[str]:
    """Yield a line for each request, with its line break; JSON objects of `Line` where `json`."""
    encode = msgspec.json.Encoder().encode
    for line in _lines(linted):
        yield encode(line).decode() + "\n" if json else _text(line)


def _lines(linted: Linted) -> Iterator[Line]:
    log = linted.log
    rows, pairs, claims = log.rows, pairs_by_row(linted), claims_by_row(linted)
    for row in log.conversations.order:
        pair = pairs.get(row)
        yield Line(
            rows.ref(row),
            "none" if pair is None else "conversation" if pair.turn else "application",
            None if pair is None else rows.ref(pair.before),
            None if pair is None or pair.gap is None else round(pair.gap, 6),
            None if pair is None else pair.verdict,
            rows.prompt_tokens[row],
            0 if pair is None else pair.kept,
            log.cached(row),
            tuple(_reason(claim, pair) for claim in claims.get(row, ())),
        )


def _reason(claim: Claim, pair: Compared | None) -> Reason:
    if claim.field is None and pair is not None:
        return Reason(claim.rule, pair.field, pair.char_offset)
    return Reason(claim.rule, claim.field, claim.char_offset)


def _text(line: Line) -> str:
    before = line.compared_with
    if before is None:
        told = f"first of its application  {line.prompt_tokens:,} tokens"
    else:
        verb = "continues" if line.relation == "conversation" else "resembles"
        name = f"#{before.record}" if before.path == line.request.path else visible(str(before))
        gap = "" if line.seconds is None else f" (+{gap_words(line.seconds)})"
        told = f"{verb} {name}{gap}  keeps {line.kept_tokens:,} of {line.prompt_tokens:,}"
    cached = "–" if line.cached_tokens is None else f"{line.cached_tokens:,}"
    why = "  ".join(map(_why, line.reasons)) or line.verdict or ""
    return f"{visible(str(line.request))}  {told}  cached {cached}  {why}".rstrip() + "\n"


def _why(reason: Reason) -> str:
    if reason.field is None:
        return reason.rule
    offset = "" if reason.char_offset is None else f":{reason.char_offset}"
    return f"{reason.rule} {visible(reason.field)}{offset}"
