"""The two streams: stdout is the document and nothing else, whatever happens to it."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def noisy(tmp_path: Path, e2e: Any) -> Path:
    """Return a log that makes every warning fire: broken records, no times, no usage, unknown models."""
    path = tmp_path / "noisy.jsonl"
    broken = b'{"messages": 5}\nnot json\n[1, 2\n'
    claude = e2e.chat("hello", model="claude-sonnet-4-5")
    other = e2e.chat("hi", model="nobody-knows-9", user="ann")
    path.write_bytes(e2e.GOOD + broken + e2e.lines(claude, other, claude))
    return path


def test_json_is_the_only_thing_on_stdout(run: Any, noisy: Path) -> None:
    document = run(["hitrate", noisy, "--json", "--by", "model"]).check(0).json()
    assert document["inputs"][0]["broken"] == 3
    assert any("broken" in note for note in document["notes"])


def test_csv_is_the_only_thing_on_stdout(run: Any, noisy: Path) -> None:
    result = run(["hitrate", noisy, "--output-format", "csv"]).check(0)
    assert "note:" not in result.out
    assert "broken" in result.err


def test_quiet_says_nothing_on_stderr(run: Any, noisy: Path) -> None:
    assert run(["hitrate", noisy, "-q", "--json"]).check(0).err == ""


def test_the_environment_names_the_format_and_the_option_wins(run: Any, good: Path) -> None:
    env = {"PREFIXWISE_OUTPUT_FORMAT": "json"}
    assert run(["hitrate", good], env=env).check(0).json()["command"] == "hitrate"
    assert run(["hitrate", good, "--output-format", "csv"], env=env).check(0).out[0] != "{"


def test_two_runs_are_byte_identical_whatever_the_hash_seed(run: Any, noisy: Path, tmp_path: Path) -> None:
    args = ["hitrate", noisy, "--by", "model", "--by", "tenant", "--by", "family", "--report", "markdown=r.md"]
    seen, traces = set(), set()
    for seed in ("0", "4242"):
        result = run([*args, "--json"], env={"PYTHONHASHSEED": seed}).check(0)
        seen.add((result.out, (tmp_path / "r.md").read_bytes()))
        run(["trace", noisy, "-q", "--share", "-o", "t.parquet"], env={"PYTHONHASHSEED": seed})
        traces.add((tmp_path / "t.parquet").read_bytes())
    assert len(seen) == 1
    assert len(traces) == 1


def test_standard_input_is_read(run: Any, e2e: Any) -> None:
    assert run(["hitrate", "-", "--json"], input=e2e.GOOD).check(0).json()["values"]["requests"] == 5
    assert run(["tokens", "-", "--json"], input=b"A prompt.\n").check(0).json()["values"]["tokens"] > 0
    run(["hitrate", "-"], input=b"").check(3)
    run(["tokens", "-"], input=b"").check(3)


def test_a_record_of_standard_input_can_be_named_as_the_help_says(run: Any, e2e: Any) -> None:
    result = run(["diff", "-", "-"], input=e2e.GOOD).check(2)
    if "-#0" in result.err:
        run(["tokens", "-#0"], input=e2e.GOOD).check(0)


@pytest.mark.parametrize("args", [["hitrate", "good.jsonl", "-q"], ["--help"]])
def test_a_full_disk_is_one_line(args: list[str], run: Any, good: Path) -> None:
    with open("/dev/full", "wb") as full:
        result = run(args, stdout=full)
    assert "No space left" in result.check(2).err


def test_a_reader_who_leaves_early_is_no_error_and_reports_are_still_written(
    run: Any, good: Path, tmp_path: Path
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        result = run(["hitrate", good, "-q", "--report", "json=r.json"], stdout=writer)
        assert (result.code, result.err) == (0, "")
        assert (tmp_path / "r.json").stat().st_size > 100
        result = run(["hitrate", good, "-q", "--require", "hit_rate>=99%"], stdout=writer)
        assert (result.code, result.err) == (1, "")
    finally:
        os.close(writer)


def _closed(tmp_path: Path, e2e: Any, args: list[str], *closed: int) -> subprocess.CompletedProcess[bytes]:
    """Run with some of the three standard streams closed."""
    shell = " ".join(f"{descriptor}>&-" for descriptor in closed)
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {shell}', "sh", *e2e.command(args)],
        env=e2e.environment(tmp_path),
        cwd=tmp_path,
        capture_output=True,
        timeout=30,
        check=False,
    )


@pytest.mark.parametrize("closed", [0, 1, 2])
def test_a_closed_stream_changes_no_exit_code(closed: int, tmp_path: Path, good: Path, e2e: Any) -> None:
    for args, code in ((["hitrate", "good.jsonl", "-q"], 0), (["hitrate", "nothing.jsonl"], 3)):
        done = _closed(tmp_path, e2e, args, closed)
        assert b"Traceback" not in done.stderr
        assert b"internal error" not in done.stderr
        assert done.returncode in ({code, 2} if closed == 1 else {code})


def test_closed_standard_input_is_one_line(tmp_path: Path, e2e: Any) -> None:
    done = _closed(tmp_path, e2e, ["hitrate", "-"], 0)
    assert done.returncode in (2, 3)
    assert b"Traceback" not in done.stderr
    assert b"internal error" not in done.stderr


def test_stderr_that_cannot_be_written_changes_no_exit_code(run: Any, good: Path) -> None:
    with open("/dev/full", "wb") as full:
        assert run(["hitrate", "nothing.jsonl"], stderr=full).code == 3
        assert run(["hitrate", good], stderr=full).code == 0


def _writer_to(pipe: Path) -> int:
    """Open a named pipe for writing as soon as somebody reads it."""
    deadline = time.monotonic() + 20
    while True:
        try:
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as problem:
            if problem.errno != errno.ENXIO or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


@pytest.mark.parametrize("args", [["hitrate"], ["trace", "--share", "-o", "x.parquet"]])
def test_control_c_while_reading_ends_cleanly(args: list[str], tmp_path: Path, e2e: Any) -> None:
    pipe = tmp_path / "endless.jsonl"
    os.mkfifo(pipe)
    with subprocess.Popen(
        e2e.command([args[0], pipe, *args[1:]]),
        env=e2e.environment(tmp_path),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        writer = _writer_to(pipe)
        try:
            os.write(writer, e2e.GOOD)
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=20)
        finally:
            os.close(writer)
            process.kill()
    assert process.returncode == 130
    assert out == b""
    assert b"Traceback" not in err
    assert {path.name for path in tmp_path.iterdir()} <= {"endless.jsonl", "config"}


def test_control_c_while_starting_ends_cleanly(tmp_path: Path, e2e: Any) -> None:
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt\n")
    done = subprocess.run(
        [sys.executable, "-m", "prefixwise", "--version"],
        env=e2e.environment(tmp_path, {"PYTHONPATH": str(tmp_path)}),
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert b"Traceback" not in done.stderr
    assert done.returncode == 130
