"""What a measuring run prints: one dictionary, and the same as plain tables."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from benchmarks.children import Rounds, Verdict, interval


def too_small(verdict: Verdict) -> Verdict:
    """Return a verdict on a log too small for its target: only a target reached all the same counts."""
    if verdict.verdict == "reached":
        return verdict
    reason = "start-up weighs on a log this small; measure with --kvlint-requests 20000"
    return replace(verdict, verdict="inconclusive", reason=reason)


def as_dict(measured: Mapping[str, Rounds], verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """Return all figures: CPU seconds with their intervals and peak memory by part and command, and the verdicts."""
    return {
        "machine": {
            "cores": os.cpu_count(),
            "load_average_max": max((rounds.load for rounds in measured.values()), default=0.0),
            "python": platform.python_version(),
        },
        "measures": [_row(part, name, rounds) for part, rounds in measured.items() for name in rounds.commands],
        "ratios": _ratios(measured),
        "verdicts": [asdict(verdict) for verdict in verdicts],
    }


def _row(part: str, name: str, rounds: Rounds) -> dict[str, Any]:
    low, high = interval(rounds.cpu(name))
    peak = max(cost.rss_mb for cost in rounds.costs[name])
    return {
        "part": part,
        "name": name,
        "n": len(rounds.cpu(name)),
        "cpu_s": rounds.median(name),
        "cpu_s_low": low,
        "cpu_s_high": high,
        "rss_mb": peak,
    }


def _ratios(measured: Mapping[str, Rounds]) -> dict[str, float]:
    """Return ratios of medians that stand behind the verdicts or explain them."""
    ratios: dict[str, float] = {}
    for part, rounds in measured.items():
        names = rounds.commands
        if "msgspec" in names:
            decoding = min(rounds.median("msgspec"), rounds.median("orjson"))
            ratios[f"{part}: hitrate / decoding"] = rounds.median("hitrate") / decoding
        if "tokenising" in names:
            ratios[f"{part}: hitrate / tokenising"] = rounds.median("hitrate") / rounds.median("tokenising")
            ratios[f"{part}: load / tokenising"] = rounds.median("load") / rounds.median("tokenising")
        if "kvlint" in names:
            ratios["kvlint / hitrate, whole log"] = rounds.median("kvlint") / rounds.median("hitrate")
            added = rounds.median("hitrate") - rounds.median("hitrate half")
            if added > 0:
                slower = rounds.median("kvlint") - rounds.median("kvlint half")
                ratios["kvlint / hitrate, CPU that the second half of the log adds"] = slower / added
    return ratios


def as_text(result: Mapping[str, Any]) -> str:
    """Return the tables."""
    machine = result["machine"]
    lines = [
        f"{machine['cores']} cores, load average at most {machine['load_average_max']:.2f}, Python {machine['python']}",
        "",
        f"{'part':10} {'command':14} {'n':>3} {'CPU s':>8} {'interval':>16} {'peak MB':>8}",
    ]
    for row in result["measures"]:
        span = f"{row['cpu_s_low']:.3f}-{row['cpu_s_high']:.3f}"
        lines.append(
            f"{row['part']:10} {row['name']:14} {row['n']:>3} {row['cpu_s']:>8.3f} {span:>16} {row['rss_mb']:>8.0f}"
        )
    lines.append("")
    lines += [f"{name}: {value:.2f}" for name, value in result["ratios"].items()]
    lines.append("")
    for verdict in result["verdicts"]:
        sign = "<=" if verdict["at_most"] else ">="
        reason = f" ({verdict['reason']})" if verdict["reason"] else ""
        figure = f"{verdict['value']:.2f} [{verdict['low']:.2f}, {verdict['high']:.2f}], n = {verdict['n']}"
        target = f"target {sign} {verdict['limit']:g}{reason}"
        lines.append(f"{verdict['verdict'].upper():12} {verdict['target']} = {figure}, {target}")
    return "\n".join(lines)
