"""`hitrate --under` with hosted caches from outside: figures in the document, one clear line for what cannot be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

LOG = str(Path(__file__).parents[2] / "fixtures" / "logs" / "desk-anthropic.jsonl")


def test_a_provider_is_counted_beside_an_engine(run: Any) -> None:
    values = json.loads(run(["hitrate", LOG, "--under", "anthropic", "--under", "vllm", "--json"]).check(0).out)[
        "values"
    ]
    hosted, engine = values["rules"]
    assert hosted["written_tokens"] > 0
    assert engine["written_tokens"] is None
    assert abs(hosted["cached_tokens"] - values["reported"]["cached_tokens"]) < 50
    sources = {source["id"] for model in values["cost"]["models"] for p in model["prices"] for source in p["sources"]}
    assert "litellm-2026-11-20" in sources


@pytest.mark.parametrize(
    ("rule", "says"), [("antropic", "did you mean anthropic?"), ("openrouter", "passes requests on")]
)
def test_a_name_that_is_none_is_one_line_with_those_that_are(rule: str, says: str, run: Any) -> None:
    assert says in run(["hitrate", LOG, "--under", rule]).check(2).err


def test_a_trace_of_blocks_cannot_be_counted_and_one_of_tokens_can(run: Any, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    for block, code in ((0, 0), (16, 2)):
        trace = str(tmp_path / f"{block}.parquet")
        run(["trace", LOG, "-o", trace, *(["--block", str(block)] if block else [])]).check(0)
        result = run(["hitrate", trace, "--under", "anthropic"]).check(code)
        assert ("without --block" in result.err) == bool(block)
        assert ("look-back is taken to reach" in result.out + result.err) == (not block)
