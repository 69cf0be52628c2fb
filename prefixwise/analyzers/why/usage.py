"""What the log reports of one request, held against what the texts say."""

from __future__ import annotations

from prefixwise.analyzers.lint.compared import Served
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.lint.run import Linted
from prefixwise.analyzers.why.document import Said
from prefixwise.analyzers.why.examine import Examined
from prefixwise.core.finding import Verdict

_SAME_COUNT = 0.01
"""How far our count may be off the provider's before it is said whose a number is."""


def said_of(linted: Linted, examined: Examined) -> Said:
    """Return what the log reports of one request, and whether that fits the texts."""
    log, row = linted.log, examined.row
    prompt, written = log.rows.reported_prompt[row], log.written(row)
    agrees, sentence = _agreement(linted, examined)
    return Said(None if prompt < 0 else prompt, log.cached(row), written, agrees, sentence)


def _agreement(linted: Linted, examined: Examined) -> tuple[bool | None, str]:
    """Return whether usage fits the texts, None where it cannot tell, and that as a sentence."""
    log, pair = linted.log, examined.pair
    cached = log.cached(examined.row)
    if cached is None:
        return None, "The log does not report cached tokens for this request."
    said = f"Usage reports {cached:,} cached tokens of {log.prompt(examined.row):,}"
    own = " as the provider counts" if abs(log.ratio[examined.row] - 1) > _SAME_COUNT else ""
    if pair is None:
        more = ": requests before it are missing from the log" if cached else ""
        return None, f"{said}; no earlier request of its application is in the log{more}."
    kept = log.scaled(examined.row, pair.kept)
    alike = f"the same {kept:,}{own}"
    if pair.served is Served.UNKNOWN:
        return None, f"{said}; both prompts begin with {alike}: too little is at stake to tell hit from miss."
    if pair.served is Served.HIT:
        if pair.verdict is Verdict.BREAKS:
            return False, f"{said}, though both texts begin with {alike} only: the break is not what it seems."
        return True, f"{said}: what both prompts begin with was served."
    if pair.verdict is Verdict.BREAKS:
        return True, f"{said}: nothing behind the first difference was served{_short_of(log, examined.row, kept)}."
    return False, f"{said}, though both texts begin with {alike}: it is not the text that missed."


def _short_of(log: Log, row: int, kept: int) -> str:
    """Say in a clause that not even what the texts share was served, and whether that was too little for the cache."""
    if (log.cached(row) or 0) >= kept / 2:
        return ""
    least = log.minimum(row)
    if least is not None and least.high is not None and kept < least.high:
        return f", and of the {kept:,} before it none, for {least.high:,} is the least that this cache keeps"
    return f", and not even the {kept:,} before it"
