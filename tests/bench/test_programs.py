"""Programs of many calls: their shape, what their runs come to, and runs on the bundled server."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from support.serving import serving

from prefixwise.bench.program.plan import Arm, Call, Plan, Row
from prefixwise.bench.program.programs import PROGRAMS, levels
from prefixwise.bench.program.result import ProgramResult, Verdict, result
from prefixwise.bench.rows import read_rows
from prefixwise.core.errors import UserError
from prefixwise.core.report import Report
from prefixwise.workflows.programming import ProgramAsked, bench_program, plan_of, size_of


def made(name: str) -> tuple[list[list[list[int]]], list[list[int]]]:
    """Return the prompts of a program's levels, and all answers; no token is drawn twice."""
    number = itertools.count()
    answers: list[list[int]] = []

    def draw(tokens: int) -> list[int]:
        return [next(number) for _ in range(tokens)]

    def answer(prompts: list[list[int]], output: int) -> list[list[int]]:
        found = [draw(output) for _ in prompts]
        answers.extend(found)
        return found

    return [prompts for prompts, _ in levels(PROGRAMS[name](draw), answer)], answers


@pytest.mark.parametrize(
    ("name", "calls", "tokens"),
    # chat: 230 tokens, then 42 more each turn; agent: 300 and 48 more; tree: 250, 3 of 268, 9 of 286.
    [
        ("chat", [1] * 8, sum(230 + 42 * turn for turn in range(8))),
        ("agent", [1] * 12, sum(300 + 48 * turn for turn in range(12))),
        ("few-shot", [20], 20 * 320),
        ("tree", [1, 3, 9], 250 + 3 * 268 + 9 * 286),
    ],
)
def test_programs_have_so_many_calls_and_tokens(name: str, calls: list[int], tokens: int) -> None:
    found, answers = made(name)
    assert [len(level) for level in found] == calls
    assert sum(len(prompt) for level in found for prompt in level) == tokens
    assert len(answers) == sum(calls)


@pytest.mark.parametrize("name", ["chat", "agent"])
def test_each_turn_begins_with_all_before_it(name: str) -> None:
    found, answers = made(name)
    prompts = [level[0] for level in found]
    for before, after, answer in zip(prompts, prompts[1:], answers, strict=False):
        assert after[: len(before) + len(answer)] == before + answer


def test_thoughts_share_their_parents_and_no_more() -> None:
    found, _ = made("tree")
    root, thoughts, deeper = found
    assert all(thought[:250] == root[0] for thought in thoughts)
    parents = Counter(tuple(one[:276]) for one in deeper)  # a thought and its answer
    assert sorted(parents.values()) == [3, 3, 3]
    assert {one[:268] for one in parents} == {tuple(thought) for thought in thoughts}
    assert len({tuple(one) for one in deeper}) == 9


def plan_with(**more: Any) -> Plan:
    given = {"run": "r", "target": "t", "protocol": "vllm", "model": "m", "programs": ("chat",)}
    return Plan(**{**given, **more})


def rows_of(off: Sequence[float], on: Sequence[float], control: Sequence[float] = (), **more: Any) -> list[Row]:
    found = []
    for arm, times, cached in ((Arm.OFF, off, 0), (Arm.ON, on, 90), (Arm.CONTROL, control, 0)):
        for turn, seconds in enumerate(times):
            calls = (Call(0.1, 0.2, 100, cached),)
            found.append(Row(program="chat", round=turn, arm=arm, order=len(found), seconds=seconds, calls=calls))
    return [msgspec.structs.replace(row, **more) for row in found]


def judged(rows: Sequence[Row]) -> ProgramResult:
    return result(plan_with(), rows, around=20).programs[0]


TEN = [1.0, 1.01, 0.99, 1.02, 0.98, 1.0, 1.01, 0.99, 1.02, 0.98]


@pytest.mark.parametrize(
    ("off", "on", "control", "verdict"),
    [
        ([2 * one for one in TEN], TEN, TEN[:0], Verdict.FASTER),
        (TEN, [2 * one for one in TEN], TEN[:0], Verdict.SLOWER),
        (TEN, TEN[::-1], TEN[:0], Verdict.SAME),
        (TEN, [0.97 * one for one in TEN], TEN[:0], Verdict.SAME),
        ([2, 0.5] * 5, TEN, TEN[:0], Verdict.INCONCLUSIVE),
        ([2.0] * 5, TEN[:5], TEN[:0], Verdict.INCONCLUSIVE),
        ([2.0, 3.0] * 5, TEN, [2.6, 2.6, 1.7, 1.7, 2.6, 2.6], Verdict.FASTER),
        # Runs without reuse differ by up to 0.4 among themselves: 1.3 times as fast is no effect.
        ([1.3 * one for one in TEN], TEN, [1.8, 1.8, 0.95, 0.95, 1.8, 1.8], Verdict.INCONCLUSIVE),
        (TEN, TEN[::-1], [1.1] * 6, Verdict.SAME),
        (TEN, TEN[::-1], [1.3, 0.7] * 3, Verdict.INCONCLUSIVE),
    ],
)
def test_verdicts(off: list[float], on: list[float], control: list[float], verdict: Verdict) -> None:
    found = judged(rows_of(off, on, control))
    assert found.judged.verdict is verdict, found
    assert (found.hit_rate, found.off_rate) == (0.9, 0.0)


def test_runs_without_reuse_that_find_something_make_it_invalid() -> None:
    rows = rows_of([2.0] * 10, TEN)
    spoiled = [
        msgspec.structs.replace(row, calls=(Call(0.1, 0.2, 100, 64),)) if row.arm is Arm.OFF and row.round < 2 else row
        for row in rows
    ]
    assert judged(spoiled).judged.verdict is Verdict.INVALID
    # What stands around the words may be found in any call.
    header = [
        msgspec.structs.replace(row, calls=(Call(0.1, 0.2, 100, 16),)) if row.arm is Arm.OFF else row for row in rows
    ]
    assert judged(header).judged.verdict is Verdict.FASTER


def test_what_is_left_out_has_a_cause_and_breaks_its_pair() -> None:
    rows = rows_of([2.0] * 10, TEN)
    for place, more in ((0, {"ok": False}), (1, {"opened": True}), (2, {"late": 0.5})):
        rows[place] = msgspec.structs.replace(rows[place], **more)
    found = judged(rows)
    assert found.estimate.n == 7
    assert sum(found.left_out.values()) == 3
    assert len(found.left_out) == 3


def test_an_attempt_that_was_broken_off_is_not_looked_at() -> None:
    broken = Row(program="chat", round=3, arm=Arm.OFF, order=99, seconds=50.0)
    rows = [
        broken,
        *(msgspec.structs.replace(row, attempt=1 if row.round == 3 else 0) for row in rows_of([2.0] * 10, TEN)),
    ]
    assert judged(rows).estimate.n == 10
    assert judged(rows).off == 2.0


def ran(path: Path, *, faults: Sequence[str] = (), model: str = "sim:a=0.001,b=0.00002,c=0", **more: Any) -> Report:
    with serving(model, faults=faults) as running:
        usual = {"programs": ("chat",), "rounds": 6, "controls": 2, "keep": path / "rows.jsonl"}
        asked = ProgramAsked(target=running.url, protocol="prefixwise", model="sim", **{**usual, **more})
        return bench_program(asked, lambda line: None, lambda line: None)


def test_reuse_makes_a_conversation_faster(tmp_path: Path) -> None:
    # 8 turns of 377 tokens on average, 0.1 ms each without reuse; 12 steps of 1 ms for an answer besides.
    report = ran(tmp_path, model="sim:a=0.001,b=0.0001,c=0", controls=0)
    (found,) = report.values.programs
    assert found.calls == 8
    assert found.off_rate == 0.0
    assert found.hit_rate > 0.7
    assert found.judged.verdict in (Verdict.FASTER, Verdict.INCONCLUSIVE)  # a busy machine leaves too few pairs
    if found.estimate is not None:
        assert found.estimate.speedup > 1.2


def test_every_arm_sends_the_same_words_and_each_call_without_reuse_is_apart(tmp_path: Path) -> None:
    ran(tmp_path, programs=("tree",), rounds=1, controls=1)
    _, rows = read_rows(tmp_path / "rows.jsonl", Plan, Row)
    assert {row.arm for row in rows} == set(Arm)
    assert len({row.prompt for row in rows}) == 1
    by_arm = {row.arm: [call.cached for call in row.calls] for row in rows}
    assert by_arm[Arm.OFF] == by_arm[Arm.CONTROL] == [0] * 13
    assert by_arm[Arm.ON][0] == 0
    assert sum(cached > 200 for cached in by_arm[Arm.ON]) >= 11


@pytest.mark.parametrize(
    ("faults", "verdicts"),
    [
        (["no-cache"], {Verdict.SAME, Verdict.INCONCLUSIVE}),
        (["usage=lie"], {Verdict.INVALID}),
        (["contaminated=0.7"], {Verdict.INVALID}),
    ],
    ids=["no cache", "lies", "salts ignored"],
)
def test_what_is_no_reuse_is_not_taken_for_it(tmp_path: Path, faults: list[str], verdicts: set[Verdict]) -> None:
    report = ran(tmp_path, faults=faults)
    (found,) = report.values.programs
    left = sum(found.left_out.values())
    assert found.judged.verdict in verdicts | ({Verdict.INCONCLUSIVE} if left > 6 else set())
    assert report.exit_code in ((5, 4) if Verdict.INVALID in verdicts else (0, 4))


def test_uncounted_tokens_are_absent_not_zero(tmp_path: Path) -> None:
    report = ran(tmp_path, faults=["usage=missing"], rounds=1, controls=0)
    (found,) = report.values.programs
    assert (found.hit_rate, found.off_rate, found.prompt) == (None, None, None)
    assert any("not verified" in note for note in report.notes)


def test_an_interrupted_run_goes_on_with_what_is_left(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    with serving("sim:a=0,b=0,c=0") as running:
        asked = ProgramAsked(
            target=running.url,
            protocol="prefixwise",
            model="sim",
            programs=("chat", "tree"),
            rounds=3,
            controls=0,
            keep=path,
        )
        bench_program(asked, lambda line: None, lambda line: None)
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join(lines[:4]))  # three of the four runs of the first round
        bench_program(asked, lambda line: None, lambda line: None)
    _, rows = read_rows(path, Plan, Row)
    assert path.read_bytes().startswith(b"".join(lines[:4]))
    whole = Counter((row.program, row.round, row.attempt) for row in rows)
    half = [place for place, number in whole.items() if number == 1]
    assert len(half) == 1
    assert (half[0][0], half[0][1], 1) in whole  # begun anew, with other prompts
    assert sorted(whole.values()) == [1] + [2] * 6


def test_plans_and_their_size() -> None:
    asked = ProgramAsked(target="http://localhost:1", protocol="vllm", model="m", rounds=2, controls=6)
    plan = plan_of(asked)
    assert (plan.programs, plan.controls) == (("chat", "agent", "few-shot", "tree"), 2)
    calls, prompt, output = size_of(msgspec.structs.replace(plan, programs=("few-shot",), scale=2))
    assert (calls, output) == (20 * 6, 20 * 4 * 6)
    assert prompt == (20 * 320 * 2 + 20 * 64) * 6
    with pytest.raises(UserError, match="no program called 'talk'"):
        plan_of(msgspec.structs.replace(asked, programs=("talk",)))
