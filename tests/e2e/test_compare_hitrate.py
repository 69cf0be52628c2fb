"""`compare` of two hitrate results from outside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

LOGS = Path(__file__).parents[2] / "fixtures" / "logs"


def result(run: Any, folder: Path, log: str) -> str:
    path = folder / f"{log}.json"
    run(["hitrate", str(LOGS / f"{log}.jsonl"), "--under", "vllm", "--by", "model", "--report", f"json={path}"]).check(
        0
    )
    return str(path)


def test_a_gate_on_the_change_of_the_hit_rate(run: Any, tmp_path: Path) -> None:
    clock, desk = result(run, tmp_path, "desk-clock"), result(run, tmp_path, "desk-anthropic")
    better = run(["compare", clock, desk, "--require", "hit_rate_change>=-0.01", "--json"]).check(0)
    document = json.loads(better.out)
    assert document["schema"] == "prefixwise/compare-hitrate"
    old, new = (json.loads(Path(path).read_text())["values"]["rules"][0]["hit_rate"] for path in (clock, desk))
    (rate,) = (rate for rate in document["values"]["rates"] if rate["rule"] == "vllm:block=16")
    assert rate["hit_rate"] == {"old": old, "new": new, "change": new - old}
    worse = run(["compare", desk, clock, "--require", "hit_rate_change>=-0.01"]).check(1)
    assert "hit_rate_change>=-0.01" in worse.out


def test_what_is_compared_says_which_figures_there_are(run: Any, tmp_path: Path) -> None:
    one = result(run, tmp_path, "desk-clock")
    assert "cost_ratio" in run(["compare", one, one, "--require", "speedup_ratio>=1"]).check(2).err
