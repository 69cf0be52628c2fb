"""`prefixwise providers` and `--rules` from outside: documents, exit codes, one clear line."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

OWN = '[[prices]]\nprovider = "openai"\nmodel = "gpt-4.1"\ninput = 1.25\n'


def test_without_a_name_all_systems(run: Any) -> None:
    document = json.loads(run(["providers", "--json"]).check(0).out)
    assert (document["schema"], document["schema_version"]) == ("prefixwise/providers", 1)
    systems = {system["id"]: system for system in document["values"]["overview"]}
    assert len(systems) == 35
    assert systems["openai_breakpoint"]["family"] == "breakpoint-boundary"
    assert systems["dashscope_implicit"]["min_tokens"] == {"low": 256, "high": 1024, "stated": 1024}
    text = run(["providers"], env={"COLUMNS": "80"}).check(0).out
    assert all(len(line) <= 80 for line in text.splitlines())
    assert "openai_breakpoint   breakpoint boundary" in text


@pytest.mark.parametrize("form", ["text", "json", "csv", "markdown"])
@pytest.mark.parametrize("name", ["anthropic", "openai", "gpt-5.5", "vllm"])
def test_every_format_has_sources_and_doubts(name: str, form: str, run: Any) -> None:
    out = run(["providers", name, "--output-format", form]).check(0).out
    assert "conflict" in out or name == "vllm"
    assert "UNVERIFIED" in out or form == "json" or name == "vllm"
    assert "2026-" in out


def test_a_model_has_its_rule_and_its_prices(run: Any) -> None:
    document = json.loads(run(["providers", "gpt-5.5", "--json"]).check(0).out)["values"]
    assert [system["id"] for system in document["systems"]] == ["openai_interval"]
    (prices,) = document["prices"]
    assert (prices["model"], prices["prices"][0]["input"]) == ("gpt-5.5", 5.0)
    tables = run(["providers", "gpt-5.5", "--output-format", "csv"]).check(0).out
    rows = [row for row in csv.reader(io.StringIO(tables)) if row[:1] == ["prices"]]
    assert rows == [["prices", "gpt-5.5", "5.0", "0.5", "30.0"]]


def test_an_unknown_name_is_2_with_near_ones(run: Any) -> None:
    err = run(["providers", "antropic"]).check(2).err
    assert "did you mean anthropic" in err
    assert "\x1b" not in run(["providers", "\x1b[31m"]).check(2).err


def test_own_rules_change_what_is_shown_and_counted(run: Any, tmp_path: Path, e2e: Any) -> None:
    (tmp_path / "own.toml").write_text(OWN, "utf-8")
    shown = json.loads(run(["providers", "gpt-4.1", "--rules", "own.toml", "--json"]).check(0).out)
    price = shown["values"]["prices"][0]["prices"][0]
    assert (price["input"], price["cached_read"], price["confidence"]) == (1.25, 0.5, "user")
    (tmp_path / "log.jsonl").write_bytes(e2e.lines({"request": {"model": "gpt-4.1", "prompt_token_ids": [1, 2, 3, 4]}}))
    plain, own = (
        json.loads(run(["hitrate", "log.jsonl", "--json", *extra]).check(0).out)["values"]["cost"]["rules"][0]
        for extra in ([], ["--rules", "own.toml"])
    )
    assert (plain["without_cache_usd"], own["without_cache_usd"]) == (8e-06, 5e-06)


@pytest.mark.parametrize("command", [["providers"], ["hitrate", "empty.jsonl"]])
def test_wrong_rules_are_one_line_before_anything_is_read(command: list[str], run: Any, tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_bytes(b"")
    (tmp_path / "own.toml").write_text("[systems.vllm]\nmin_tokens = 'x'", "utf-8")
    err = run([*command, "--rules", "own.toml"]).check(2).err
    assert "systems.vllm.min_tokens must be a whole number" in err
    assert "where: own.toml" in err
    assert "cannot be read" in run([*command, "--rules", "nothing.toml"]).check(2).err
