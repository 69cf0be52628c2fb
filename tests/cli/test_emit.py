from __future__ import annotations

import csv
import io
import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from prefixwise.cli.console import Console
from prefixwise.cli.emit import emit, parse_outputs
from prefixwise.core.errors import UserError
from prefixwise.core.report import Column, Report, Requirement, Table, Unit
from prefixwise.core.whole_files import write_whole

REPORT = Report(
    "prefixwise/test",
    1,
    "test",
    "Test – ünïcödé",
    (Table("t", "T", (Column("a", "A"), Column("n", "N", Unit.TOKENS)), (("x", 1234),)),),
    notes=("mind the gap",),
    requirements=(Requirement("a>=1", 2.0, True), Requirement("b>=1", 0.5, False)),
)


class Streams:
    """A console on two memory streams."""

    def __init__(self, quiet: bool = False) -> None:
        self.out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
        self.err = io.StringIO()
        self.console = Console(quiet=quiet, stdout=self.out, stderr=self.err, environ={})

    def written(self) -> str:
        return self.out.buffer.getvalue().decode()  # type: ignore[attr-defined, no-any-return]


def test_stdout_is_the_document_and_nothing_else() -> None:
    streams = Streams()
    emit(REPORT, parse_outputs("json"), streams.console)
    assert json.loads(streams.written())["notes"] == ["mind the gap"]
    assert streams.err.getvalue() == ""


def test_json_is_short_for_the_format() -> None:
    assert parse_outputs("text", json=True).stdout.name == "json"


def test_what_the_format_cannot_carry_goes_to_stderr() -> None:
    streams = Streams()
    emit(REPORT, parse_outputs("csv"), streams.console)
    assert list(csv.reader(io.StringIO(streams.written(), newline=""))) == [["table", "a", "n"], ["t", "x", "1234"]]
    assert streams.err.getvalue() == "failed: requirement not met: b>=1 (is 0.5)\nnote: mind the gap\n"


def test_quiet_drops_notes_but_not_a_failed_requirement() -> None:
    streams = Streams(quiet=True)
    emit(REPORT, parse_outputs("csv"), streams.console)
    assert streams.err.getvalue() == "failed: requirement not met: b>=1 (is 0.5)\n"


def test_line_ends_are_those_of_the_format() -> None:
    streams = Streams()
    emit(REPORT, parse_outputs("csv"), streams.console)
    assert streams.written() == "table,a,n\r\nt,x,1234\r\n"


def test_every_report_gets_its_file(tmp_path: Path) -> None:
    streams = Streams()
    specs = [f"{name}={tmp_path / name}" for name in ("json", "csv", "markdown", "text")]
    emit(REPORT, parse_outputs("text", reports=specs), streams.console)
    assert json.loads((tmp_path / "json").read_bytes())["schema"] == "prefixwise/test"
    assert (tmp_path / "csv").read_bytes() == b"table,a,n\r\nt,x,1234\r\n"
    assert (tmp_path / "markdown").read_text("utf-8").startswith("## Test – ünïcödé\n")
    assert (tmp_path / "text").read_text("utf-8") == streams.written()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["csv", "json", "markdown", "text"]


def test_a_path_may_hold_an_equals_sign(tmp_path: Path) -> None:
    assert parse_outputs("text", reports=[f"json={tmp_path}/a=b.json"]).files[0][1] == tmp_path / "a=b.json"


@pytest.mark.parametrize(
    ("spec", "what", "help"),
    [
        ("jsn=x", "no report format called 'jsn'", "did you mean json?"),
        ("json", "needs a format and a path", "--report json="),
        ("=x", "needs a format and a path", "--report json="),
        ("json=", "needs a format and a path", "--report json="),
        ("json=-", "stdout already", "--output-format json"),
        ("json=no/such/folder/x.json", "no such folder", "create it"),
        ("json=.", "a folder, not a file", "report.json"),
    ],
)
def test_a_wrong_spec_is_one_clear_error(spec: str, what: str, help: str) -> None:
    with pytest.raises(UserError) as raised:
        parse_outputs("text", reports=[spec])
    assert what in raised.value.what
    assert raised.value.where
    assert help in raised.value.help
    assert raised.value.exit_code == 2


def test_an_unknown_output_format_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no report format called 'markdwn'") as raised:
        parse_outputs("markdwn")
    assert raised.value.where == "--output-format"
    assert "did you mean markdown?" in raised.value.help


def test_two_reports_cannot_share_a_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="two reports go to one file"):
        parse_outputs("text", reports=[f"json={tmp_path}/x", f"csv={tmp_path}/x"])


def test_a_failed_write_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "report.json"
    target.write_text("old")

    def fail(self: Path, other: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    streams = Streams()
    with pytest.raises(UserError, match="No space left on device") as raised:
        emit(REPORT, parse_outputs("json", reports=[f"json={target}"]), streams.console)
    assert raised.value.where == str(target)
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]
    assert json.loads(streams.written())


def test_an_interrupt_leaves_no_temporary_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(self: Path, other: Path) -> Path:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "x", "new")
    assert list(tmp_path.iterdir()) == []


def test_one_bad_file_does_not_cost_the_others(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    outputs = parse_outputs("json", reports=[f"json={tmp_path}/gone/a.json", f"csv={tmp_path}/b.csv"])
    (tmp_path / "gone").rmdir()
    with pytest.raises(UserError, match="cannot write the report: No such file"):
        emit(REPORT, outputs, Streams().console)
    assert (tmp_path / "b.csv").exists()


def test_a_file_keeps_its_permissions_and_a_link_its_place(tmp_path: Path) -> None:
    target, link = tmp_path / "real", tmp_path / "link"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    write_whole(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    write_whole(tmp_path / "made", "x")
    (tmp_path / "plain").write_text("x")
    assert (tmp_path / "made").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_pipe_is_written_to_not_replaced(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(fifo.read_text()))
    reader.start()
    write_whole(fifo, "through")
    reader.join(10)
    assert got == ["through"]
    assert stat.S_ISFIFO(fifo.stat().st_mode)


def test_a_device_is_written_to_not_replaced() -> None:
    write_whole(Path(os.devnull), "nowhere")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_a_reader_who_leaves_early_is_no_error(tmp_path: Path) -> None:
    code = (
        "import sys; from prefixwise.cli.emit import emit, parse_outputs; from prefixwise.core.report import *\n"
        "report = Report('s', 1, 'c', 't', (Text('t', tuple('line %d' % i for i in range(100_000))),))\n"
        "emit(report, parse_outputs('markdown', reports=[sys.argv[1]]))\n"
    )
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([sys.executable, "-c", code, f"json={tmp_path}/x.json"], stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads((tmp_path / "x.json").read_bytes())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux's /dev/full")
def test_a_full_disk_under_stdout_is_a_user_error() -> None:
    with open("/dev/full", "w") as full, pytest.raises(UserError, match="cannot write to stdout: No space left"):
        emit(REPORT, parse_outputs("json"), Console(stdout=full, stderr=io.StringIO(), environ={}))


def test_a_stream_without_bytes_gets_text() -> None:
    out = io.StringIO()
    emit(REPORT, parse_outputs("markdown"), Console(stdout=out, stderr=io.StringIO(), environ={}))
    assert out.getvalue().startswith("## Test")
