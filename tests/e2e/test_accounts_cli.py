"""`hitrate` with accounts and fixes from outside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

LOGS = Path(__file__).parents[2] / "fixtures" / "logs"
CLOCK = str(LOGS / "desk-clock.jsonl")


def test_what_a_fix_saves_is_counted_and_can_be_required(run: Any, tmp_path: Path) -> None:
    each = tmp_path / "each.jsonl"
    asked = ["hitrate", CLOCK, "--fixes", "--per-request", str(each), "--require", "achievable_hit_rate>=0.8", "--json"]
    values = json.loads(run(asked).check(0).out)["values"]
    accounts = values["accounts"]
    (fix,) = accounts["fixes"]["each"]
    assert (fix["rule"], fix["requests"]) == ("clock-in-prefix", 9)
    # Behind the clock stand about 1,330 tokens of rules, in eight calls after the first.
    assert 8 * 1300 < fix["saved_tokens"] == accounts["fixes"]["saved_tokens"] < 8 * 1350
    assert sum(one["tokens"] for one in accounts["accounts"]) == accounts["prompt_tokens"] == 13717
    told = [json.loads(line) for line in each.read_text().splitlines()]
    assert [one["at"]["record"] for one in told] == list(range(9))
    assert all(sum(one["accounts"].values()) == one["prompt_tokens"] for one in told)


def test_without_fixes_the_accounts_are_there_and_nothing_is_unstable(run: Any) -> None:
    out = run(["hitrate", CLOCK, "--by", "tenant"]).check(0).out
    assert "Where the prompt tokens went" in out
    assert "\nunstable text" not in out
    assert "--fixes tells what of the new tokens is only unstable text" in out


def test_the_achievable_hit_rate_needs_the_fixes(run: Any) -> None:
    result = run(["hitrate", CLOCK, "--require", "achievable_hit_rate>=0.8"]).check(2)
    assert "add --fixes" in result.err


def test_requests_are_not_written_over_an_input(run: Any, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(Path(CLOCK).read_bytes())
    assert "overwrite" in run(["hitrate", str(log), "--per-request", str(log)]).check(2).err
    assert log.read_bytes() == Path(CLOCK).read_bytes()
