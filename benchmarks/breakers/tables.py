"""Prints a score: families, rules, what was taken for what, and the targets."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.breakers.family import Family
from benchmarks.breakers.score import NOTHING, Score, Verdict


def tell(score: Score, families: dict[str, Family]) -> str:
    """Return the whole report as text."""
    parts = [_families(score, families), _rules(score), _confusion(score), _targets(score)]
    return "\n\n".join(parts)


def _families(score: Score, families: dict[str, Family]) -> str:
    rows = [("family", "cause", "named", "found", "wrong names", "alarms without a cause")]
    for name, family in families.items():
        verdicts = [verdict for verdict in score.verdicts if verdict.family == name]
        if not verdicts:
            continue
        broken = [verdict for verdict in verdicts if verdict.expected]
        healthy = [verdict for verdict in verdicts if not verdict.expected]
        named = f"{sum(verdict.is_named for verdict in broken)}/{len(broken)}" if broken else ""
        found = f"{sum(verdict.is_found for verdict in broken)}/{len(broken)}" if broken else ""
        rows.append((name, family.rule or "-", named, found, _wrong(broken), _wrong(healthy)))
    return table(rows)


def _wrong(verdicts: Sequence[Verdict]) -> str:
    return ", ".join(dict.fromkeys(rule for verdict in verdicts for rule in verdict.wrong))


def _rules(score: Score) -> str:
    rows = [("rule", "right", "wrong", "missed", "precision", "recall")]
    for rule, tally in sorted(score.rules.items()):
        counts = (str(tally.right), str(tally.wrong), str(tally.missed))
        rows.append((rule, *counts, _percent(tally.precision), _percent(tally.recall)))
    return table(rows)


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.0f} %"


def _confusion(score: Score) -> str:
    """Return the cells of the confusion matrix; a row is a cause, and most of its cells are empty."""
    rows = [("expected", "found (logs)")]
    for expected in sorted({cell[0] for cell in score.confusion}, key=lambda name: (name == NOTHING, name)):
        cells = [(found, logs) for (cause, found), logs in score.confusion.items() if cause == expected]
        cells.sort(key=lambda cell: (cell[0] != expected, -cell[1], cell[0]))
        rows.append((expected, ", ".join(f"{found} {logs}" for found, logs in cells)))
    return table(rows)


def _targets(score: Score) -> str:
    lines = [
        f"seed {each.seed}: {each.named} of {each.causes} causes of the {each.name} comparison named, "
        f"{each.needed} needed: {'reached' if each.is_reached else 'missed'}"
        for each in score.comparisons
    ]
    healthy = sum(not verdict.expected for verdict in score.verdicts)
    alarms = len(score.false_alarms)
    lines.append(f"{alarms} of {healthy} logs without a cause accused, 0 allowed: {'missed' if alarms else 'reached'}")
    return "\n".join(lines)


def table(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as aligned columns, the first row underlined."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)
