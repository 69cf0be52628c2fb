"""What fixes bring: the same figures as an index of the mended requests that is made anew."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from support.linting import lint_records

from prefixwise.analyzers.accounts.chain import accounts
from prefixwise.analyzers.accounts.fixed import Fixed, fixed
from prefixwise.analyzers.accounts.repairs import in_order, mended_by_all, repairs_of
from prefixwise.analyzers.lint.run import Linted
from prefixwise.caches.policy import parse_policy
from prefixwise.caches.rulebook import Rulebook
from prefixwise.corpus.again import requests_again
from prefixwise.corpus.index import CorpusIndex
from prefixwise.corpus.reader import ReadOptions

RULES = "Name the quay, the time and the fare in every answer, and never promise a seat. " * 60
TOOLS = ("departures", "fares", "weather", "lost_property")


def tool(name: str) -> dict[str, Any]:
    about = f"Looks up {name.replace('_', ' ')} of the ferries, by harbour and day. " * 6
    return {"type": "function", "function": {"name": name, "description": about, "parameters": {"type": "object"}}}


def log(*, clock: bool, shuffled: bool, requests: int = 12) -> list[dict[str, Any]]:
    """Return single questions: under a clock, with tools in another order from call to call, or both."""
    records = []
    for number in range(requests):
        at = f"It is 2026-03-17T09:{10 + number}:07Z. " if clock else ""
        names = TOOLS[number % 4 :] + TOOLS[: number % 4] if shuffled else TOOLS
        messages = [{"role": "system", "content": at + RULES}, {"role": "user", "content": f"Question {number}?"}]
        body = {"model": "gpt-4.1", "messages": messages, "tools": [tool(name) for name in names]}
        records.append({"ts": f"2026-03-17T09:{10 + number}:08Z", "request": body})
    return records


def counted(linted: Linted, under: str = "vllm") -> Fixed:
    return fixed(linted, again(linted), parse_policy(under), [1.0], Rulebook())


def again(linted: Linted) -> Any:
    corpus = linted.log.corpus
    return partial(requests_again, [file.path for file in corpus.inputs], corpus.rows, ReadOptions())


def anew(linted: Linted, under: str, rules: set[str]) -> tuple[int, int]:
    """Return (prompt, cached) tokens of the mended requests, counted from nothing."""
    rows = range(len(linted.log.rows))
    repairs = in_order(repair for repair in repairs_of(linted, rows) if repair.finding.rule in rules)
    index = CorpusIndex()
    for row, request in again(linted)():
        index.add(mended_by_all(repairs, row, request))
    index.finish()
    return sum(index.rows.prompt_tokens), sum(parse_policy(under).replay(index.rows).matched)


@pytest.mark.parametrize("under", ["vllm:block=16", "sglang", "openai:model=gpt-4.1", "vllm:capacity=400"])
@pytest.mark.parametrize(
    ("which", "rule"),
    [({"clock": True, "shuffled": False}, "clock-in-prefix"), ({"clock": False, "shuffled": True}, "tools-reordered")],
)
def test_the_figures_are_those_of_the_mended_requests(
    which: dict[str, bool], rule: str, under: str, tmp_path: Path
) -> None:
    linted = lint_records(tmp_path, log(**which))
    found = counted(linted, under)
    (gain,) = found.gains
    assert gain.finding.rule == rule
    assert (gain.count.prompt_tokens, gain.count.cached_tokens) == anew(linted, under, {rule})
    assert gain.saved_tokens == found.before.computed - gain.count.computed == found.saved_tokens > 4000
    assert (found.after, found.interaction) == (gain.count, 0)


def test_a_cause_behind_another_one_is_found_once_that_is_mended(tmp_path: Path) -> None:
    linted = lint_records(tmp_path, log(clock=True, shuffled=True))
    assert [one.rule for one in linted.values.findings] == ["tools-reordered"]
    both = counted(linted)
    assert [(gain.finding.rule, gain.behind) for gain in both.gains] == [
        ("tools-reordered", False),
        ("clock-in-prefix", True),
    ]
    assert both.saved_tokens == sum(gain.saved_tokens for gain in both.gains) + both.interaction
    # With both mended hardly anything but the questions is new: 12 calls share all but their last words.
    assert both.after.hit_rate is not None
    assert both.after.hit_rate > 0.85 > 0.3 > (both.before.hit_rate or 0)
    assert (both.saved_usd or 0) > 0


def test_the_original_requests_count_as_before(tmp_path: Path) -> None:
    linted = lint_records(tmp_path, log(clock=True, shuffled=False))
    rows, policy = linted.log.rows, parse_policy("vllm")
    before = list(policy.replay(rows).matched)
    found = counted(linted)
    assert list(policy.replay(rows).matched) == before
    assert found.before.cached_tokens == sum(before)


def test_unstable_is_what_the_fixes_save_of_the_new_tokens(tmp_path: Path) -> None:
    linted = lint_records(tmp_path, log(clock=True, shuffled=False))
    found = counted(linted)
    rows = linted.log.rows
    told = accounts(rows, parse_policy("vllm"), found.rows).columns
    # Of the first call all is new; of each later one the rules behind its clock are unstable, and hardly more.
    assert told["unstable"][0] == 0
    behind = sum(told["unstable"][1:]) / 11
    assert 1000 < behind < rows.system_end[0] - rows.tools_end[0]
    assert sum(sum(column) for column in told.values()) == sum(rows.prompt_tokens)


def test_without_findings_nothing_is_changed(tmp_path: Path) -> None:
    linted = lint_records(tmp_path, log(clock=False, shuffled=False))
    found = counted(linted)
    assert (found.gains, found.saved_tokens, found.interaction, found.unmended) == ((), 0, 0, ())
    assert found.before == found.after
