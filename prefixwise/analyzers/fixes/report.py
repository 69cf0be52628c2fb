"""What a report says of fixes: what was mended, what a cache keeps now, and what was not done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec

from prefixwise.analyzers.fixes.fixed_log import LogRepairs
from prefixwise.analyzers.fixes.rounds import FixedSources, PromptGain
from prefixwise.core.excerpt import Excerpts, mask
from prefixwise.core.finding import Finding, Safety
from prefixwise.core.report import Block, Cell, Column, Table, Text, Unit

_COLUMNS = (
    Column("path", "file"),
    Column("rules", "mended"),
    Column("lost_before", "lost before", Unit.TOKENS),
    Column("lost_after", "after", Unit.TOKENS),
    Column("prefix_before", "stable prefix before", Unit.TOKENS),
    Column("prefix_after", "after", Unit.TOKENS),
    Column("hit_rate_before", "hit rate before", Unit.RATE),
    Column("hit_rate_after", "after", Unit.RATE),
)


def fixes_blocks(fixed: FixedSources, found: Iterable[Finding], *, written: bool) -> Iterator[Block]:
    """Yield the table of the files that were mended, if any was.

    Args:
        fixed: What came of the fixes.
        found: What was found before.
        written: Whether the files were written.
    """
    if not fixed.after:
        return
    mended = {path: Counter(one.rule for one in fixed.made if _touches(one, path)) for path in fixed.after}
    lost = _lost(found), _lost(fixed.left)
    rows = [row for path in fixed.after for row in _rows(path, mended[path], lost, fixed.prompts)]
    note = (
        "Lost: tokens of constant text behind what changes. Hit rate: of ten requests rendered from the prompt file "
        "with made-up values, under a cache with blocks of 16 tokens and no limits."
    )
    title = "Fixes that were made" if written else "Fixes that would be made"
    yield Table("fixes", title, _COLUMNS, tuple(rows), note)


def fixes_notes(fixed: FixedSources, *, unsafe: bool) -> Iterator[str]:
    """Yield a note a fix that was not made, and one on what else could be.

    Args:
        fixed: What came of the fixes.
        unsafe: Whether unsafe ones were asked for too.
    """
    for one in fixed.refused:
        yield f"{one.finding.place}: {one.finding.rule} is not mended: {one.why}"
    refused = {one.finding.fingerprint for one in fixed.refused}
    waiting = [one for one in fixed.left if one.fix.edits and one.fingerprint not in refused]
    unsafes = sum(one.fix.safety is Safety.UNSAFE for one in waiting)
    if not fixed.made and fixed.left:
        kind = "fix" if unsafe else "safe fix"
        yield f"nothing was mended: no finding has a {kind} that a tool can apply"
    if unsafes and not unsafe:
        yield f"{unsafes} more {'has' if unsafes == 1 else 'have'} a fix that needs a look: --unsafe-fixes applies it"


def with_shown_edits(finding: Finding, excerpts: Excerpts) -> Finding:
    """Return a finding whose edits show no more of a source than its excerpts may: else it has none.

    Edits take text to another place word for word; with a secret or a person's data masked they would be other edits.
    """
    texts = [edit.text for edit in finding.fix.edits]
    if excerpts is Excerpts.FULL or not texts:
        return finding
    if excerpts is Excerpts.MASKED and all(mask(text) == text for text in texts):
        return finding
    return msgspec.structs.replace(finding, fix=msgspec.structs.replace(finding.fix, edits=()))


def copy_blocks(repairs: LogRepairs, path: str) -> Iterator[Block]:
    """Yield what a copy of a log at `path` brings, in all and by rule."""
    before, after = repairs.before, repairs.after
    rates = f"{before.hit_rate:.1%} of the prompt tokens would be served, then {after.hit_rate:.1%}"
    said = [f"{path}: under {repairs.under}, {rates}."]
    if not repairs.gains:
        said = [f"{path}: nothing was found that requests can show a repair of; it holds what the log holds."]
    yield Text("fixed_copy", tuple(said), "Copy with repairs")
    if repairs.gains:
        columns = (
            Column("rule", "rule"),
            Column("requests", "requests changed", Unit.COUNT),
            Column("hit_rate_before", "hit rate before", Unit.RATE),
            Column("hit_rate_after", "after", Unit.RATE),
            Column("kept", "kept"),
        )
        rows = tuple(
            (gain.rule, gain.requests, gain.before.hit_rate, gain.after.hit_rate, gain.kept) for gain in repairs.gains
        )
        yield Table("repairs", "What each repair brings, on top of those above it", columns, rows)


def copy_notes(repairs: LogRepairs) -> Iterator[str]:
    """Yield what a copy does not mend, and why."""
    for gain in repairs.refused:
        yield (
            f"{gain.rule} is not repaired in the copy: the hit rate would go from {gain.before.hit_rate:.1%} to "
            f"{gain.after.hit_rate:.1%}"
        )
    for rule in repairs.unmended:
        yield f"{rule} is not repaired in the copy: no request shows what its fix would send"


def _touches(finding: Finding, path: str) -> bool:
    return any(edit.path == path for edit in finding.fix.edits)


def _lost(found: Iterable[Finding]) -> Counter[str]:
    lost: Counter[str] = Counter()
    for one in found:
        lost[one.path] += 0 if one.tokens_lost is None else one.tokens_lost.value
    return lost


def _rows(
    path: str, rules: Counter[str], lost: tuple[Counter[str], Counter[str]], prompts: Iterable[PromptGain]
) -> Iterator[tuple[Cell, ...]]:
    named = ", ".join(f"{rule} ({count})" if count > 1 else rule for rule, count in sorted(rules.items()))
    head: tuple[Cell, ...] = (path, named, lost[0][path], lost[1][path])
    gains = [gain for gain in prompts if gain.path == path]
    for gain in gains:
        before, after = gain.before, gain.after
        yield (*head, before.stable_prefix, after.stable_prefix, before.hit_rate, after.hit_rate)
    if not gains:
        yield (*head, None, None, None, None)
