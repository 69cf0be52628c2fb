"""`hitrate --advise` and `--by replica` from outside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

LOG = str(Path(__file__).parents[2] / "fixtures" / "logs" / "desk-anthropic.jsonl")


def test_markers_are_advised(run: Any) -> None:
    values = json.loads(run(["hitrate", LOG, "--under", "anthropic", "--advise", "--json"]).check(0).out)["values"]
    (one,) = values["advice"]["markers"]
    cost = next(cost["cost_usd"] for cost in values["cost"]["rules"] if cost["rule"] == "anthropic")
    assert abs(one["before"]["usd"] - cost) < 1e-8
    assert one["after"]["usd"] < one["before"]["usd"]
    assert "Where to put cache markers" in run(["hitrate", LOG, "--under", "anthropic", "--advise"]).check(0).out


def test_without_being_asked_nothing_is_advised(run: Any) -> None:
    assert json.loads(run(["hitrate", LOG, "--json"]).check(0).out)["values"]["advice"] is None


def test_a_rule_without_markers_says_so(run: Any) -> None:
    assert "knows no markers" in run(["hitrate", LOG, "--under", "vllm", "--advise"]).check(0).out


def test_replicas_are_balanced_where_they_are_grouped_by(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    records = (
        {"request": {"model": "m", "prompt": [*range(8), 50 + number]}, "replica": "ab"[number % 2]}
        for number in range(4)
    )
    path.write_text("\n".join(map(json.dumps, records)))
    values = json.loads(run(["hitrate", str(path), "--by", "replica", "--json"]).check(0).out)["values"]
    assert values["replicas"]["request_entropy"] == 1
    assert json.loads(run(["hitrate", str(path), "--json"]).check(0).out)["values"]["replicas"] is None
