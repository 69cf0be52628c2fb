"""`hitrate --prometheus` from outside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

LOG = str(Path(__file__).parents[2] / "fixtures" / "logs" / "desk-anthropic.jsonl")


def test_the_page_says_what_the_document_says(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "prefixwise.prom"
    path.write_text("what was there before")
    arguments = ["hitrate", LOG, "--under", "anthropic", "--under", "vllm", "--prometheus", str(path), "--json"]
    values = json.loads(run(arguments).check(0).out)["values"]
    samples = [one for family in text_string_to_metric_families(path.read_text()) for one in family.samples]
    ratios = {one.labels["rule"]: one.value for one in samples if one.name == "prefixwise_hitrate_ratio"}
    rates = [values["reported"], *values["rules"], values["ceiling"]]
    assert ratios == {rate["rule"]: rate["hit_rate"] for rate in rates}
    tokens = sum(one.value for one in samples if one.name == "prefixwise_hitrate_account_tokens")
    assert tokens == values["accounts"]["prompt_tokens"]
    assert list(tmp_path.iterdir()) == [path]


def test_a_log_is_not_written_over(run: Any) -> None:
    before = Path(LOG).read_bytes()
    run(["hitrate", LOG, "--prometheus", LOG]).check(2)
    assert Path(LOG).read_bytes() == before
