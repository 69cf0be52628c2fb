"""What turns costs into verdicts, and the two measuring scripts on stand-ins for the command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.children import CannotRunError, Verdict, exit_code, interval, judge, run
from benchmarks.startup import parse
from benchmarks.tables import too_small

ROOT = Path(__file__).parents[2]
APP = """
import typer
app = typer.Typer(rich_markup_mode={style}, context_settings={{"help_option_names": ["-h", "--help"]}})
@app.callback()
def root(version: bool = typer.Option(False, "--version", help="Show it.")): "A tool."
@app.command("count")
def count(path: str, under: str = "x"): "Count what a cache serves."
@app.command("part-ways")
def part(one: str, other: str): "Say where two prompts part."
group = typer.Typer()
@group.command("first")
def first(): "Go first."
@group.command("last")
def last(): "Go last."
app.add_typer(group, name="races", help="Several in a row.")
if __name__ == "__main__":
    app()
"""


def script(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", f"benchmarks.{module}", *arguments], cwd=ROOT, capture_output=True, text=True
    )


def test_five_rounds_span_the_interval_and_fifteen_leave_out_three_at_each_end() -> None:
    assert interval([3.0, 1.0, 2.0, 5.0, 4.0]) == (1.0, 5.0)
    assert interval([float(n) for n in range(15)]) == (3.0, 11.0)
    assert interval([2.0]) == (2.0, 2.0)


@pytest.mark.parametrize(
    ("values", "loaded", "expected"),
    [
        ([0.90, 0.92, 0.94, 0.91, 0.93], False, "reached"),
        ([1.10, 1.12, 1.14, 1.11, 1.13], False, "missed"),
        ([0.90, 0.92, 1.04, 0.91, 0.93], False, "inconclusive"),
        ([0.60, 0.92, 0.94, 0.91, 0.93], False, "inconclusive"),
        ([0.90, 0.92, 0.94, 0.91, 0.93], True, "inconclusive"),
        ([0.10, 0.15, 0.12, 0.20, 0.11], False, "reached"),
    ],
)
def test_a_verdict_needs_a_quiet_machine_and_rounds_that_agree(
    values: list[float], loaded: bool, expected: str
) -> None:
    verdict = judge("ratio", values, 1.0, loaded=loaded)
    assert verdict.verdict == expected
    assert bool(verdict.reason) == (expected == "inconclusive")


def test_at_least_turns_the_comparison_round() -> None:
    assert judge("times", [80.0], 50.0, at_most=False).verdict == "reached"
    few = judge("times", [20.0], 50.0, at_most=False)
    assert few.verdict == "missed"
    assert too_small(few).verdict == "inconclusive"


def test_the_exit_code_is_that_of_the_worst_verdict() -> None:
    def of(*words: str) -> int:
        return exit_code([Verdict("t", 1, 1, 1, 1, 1, True, word) for word in words])

    assert [of("reached"), of("reached", "inconclusive"), of("inconclusive", "missed")] == [0, 4, 1]


def test_a_child_that_fails_is_reported_with_its_own_words() -> None:
    with pytest.raises(CannotRunError, match=r"ended with 1: no luck"):
        run([sys.executable, "-c", "raise SystemExit('no luck')"])
    with pytest.raises(CannotRunError, match="No such file"):
        run(["/no/such/command"])


def test_a_child_costs_its_own_processor_time() -> None:
    burn = "import time\nwhile time.process_time() < .3: pass"
    assert 0.3 <= run([sys.executable, "-c", burn]).cpu_s < 0.6
    assert run([sys.executable, "-c", "import time; time.sleep(.5)"]).cpu_s < 0.3


def test_measuring_a_hashed_trace_with_a_stand_in(tmp_path: Path) -> None:
    stand_in = f'{sys.executable} -c "pass"'
    options = ["--parts", "hashed,memory", "--rounds", "1", "--requests", "50", "--memory-requests", "20", "--json"]
    done = script("measure", "--command", stand_in, "--data", str(tmp_path), *options)
    assert done.returncode in (0, 4), done.stderr
    result = json.loads(done.stdout)
    assert [row["name"] for row in result["measures"]] == ["msgspec", "orjson", "hitrate", "hitrate"]
    assert [verdict["limit"] for verdict in result["verdicts"]] == [3.0, 500.0]


def test_measuring_what_cannot_run_ends_with_two(tmp_path: Path) -> None:
    options = ["--parts", "memory", "--memory-requests", "5", "--data", str(tmp_path)]
    done = script("measure", "--command", "/no/such/command", *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert "error: /no/such/command" in done.stderr
    assert script("measure", "--rounds", "2").returncode == 2


@pytest.mark.parametrize("style", ["'rich'", "None"])
def test_the_empty_app_has_the_commands_of_the_real_one(style: str, tmp_path: Path) -> None:
    app, copy = tmp_path / "whole.py", tmp_path / "empty.py"
    app.write_text(APP.format(style=style), "utf-8")
    shown = script("startup", "--command", f"{sys.executable} {app}", "--show")
    assert shown.returncode == 0, shown.stderr
    copy.write_text(f"{shown.stdout}\napp()\n", "utf-8")
    ours, theirs = (
        parse(run([sys.executable, str(path), "--help"], {"COLUMNS": "200"}, 99_999).output) for path in (app, copy)
    )
    assert sorted(ours.commands.items()) == sorted(theirs.commands.items())
    assert set(ours.commands) == {"count", "part-ways", "races"}
    assert sorted(ours.help_names) == sorted(theirs.help_names) == ["--help", "-h"]
    assert (ours.boxed, len(ours.options)) == (theirs.boxed, len(theirs.options)) == (style != "None", 3)
