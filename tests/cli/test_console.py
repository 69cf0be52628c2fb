from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
from typing import Any

import pytest

from prefixwise.cli.console import Console, Progress, Screen
from prefixwise.core.errors import UserError


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


class Clock:
    """A clock that moves when told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("choice", "environ", "terminal", "colour"),
    [
        ("auto", {}, True, True),
        ("auto", {}, False, False),
        ("auto", {"TERM": "dumb"}, True, False),
        ("auto", {"NO_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": ""}, True, True),
        ("auto", {"FORCE_COLOR": "1"}, False, True),
        ("auto", {"FORCE_COLOR": "0"}, False, False),
        ("auto", {"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
        ("always", {"NO_COLOR": "1"}, False, True),
        ("never", {"FORCE_COLOR": "1"}, True, False),
    ],
)
def test_colour_policy(choice: Any, environ: dict[str, str], terminal: bool, colour: bool) -> None:
    assert Screen.of(Terminal() if terminal else io.StringIO(), choice, environ).colour is colour


@pytest.mark.parametrize(
    ("environ", "terminal", "width"),
    [
        ({}, False, None),
        ({"COLUMNS": "100"}, False, 100),
        ({"COLUMNS": "100"}, True, 100),
        ({"COLUMNS": "wide"}, False, None),
        ({"COLUMNS": "0"}, False, None),
        ({}, True, 80),
    ],
)
def test_width_policy(environ: dict[str, str], terminal: bool, width: int | None) -> None:
    assert Screen.of(Terminal() if terminal else io.StringIO(), "auto", environ).width == width


def test_the_width_of_a_real_terminal() -> None:
    import termios

    main, other = pty.openpty()
    try:
        termios.tcsetwinsize(other, (24, 132))
        with os.fdopen(other, "w", closefd=False) as file:
            screen = Screen.of(file, "auto", {})
        assert (screen.terminal, screen.width) == (True, 132)
    finally:
        os.close(main)
        os.close(other)


def test_a_closed_stream_is_no_terminal() -> None:
    closed = io.StringIO()
    closed.close()
    assert not Screen.of(closed, "auto", {}).terminal


def make(err: io.StringIO, **options: Any) -> Console:
    return Console(stdout=io.StringIO(), stderr=err, environ={}, **options)


def test_messages_go_to_stderr_made_visible() -> None:
    err = io.StringIO()
    console = make(err)
    console.note("a \x1b[31m note")
    console.warn("look")
    console.error(UserError("it broke", where="file\n::error", help="mend it"))
    assert err.getvalue() == (
        "note: a \\x1b[31m note\nwarning: look\nerror: it broke\n  where: file\\n::error\n  help: mend it\n"
    )
    assert console.out.file.getvalue() == ""  # type: ignore[attr-defined]


def test_quiet_keeps_warnings_and_errors() -> None:
    err = io.StringIO()
    console = make(err, quiet=True)
    console.note("a note")
    console.warn("look")
    console.error(UserError("it broke"))
    assert err.getvalue() == "warning: look\nerror: it broke\n"


def test_labels_are_coloured_on_a_terminal() -> None:
    err = Terminal()
    make(err).error(UserError("it broke"))
    assert err.getvalue() == "\x1b[1;31merror:\x1b[0m it broke\n"


def test_elsewhere_progress_is_a_line_every_ten_seconds() -> None:
    err, clock = io.StringIO(), Clock()
    progress = Progress("reading", Screen(err, terminal=False, colour=False, width=None), "lines", clock)
    for second in range(26):
        clock.now = second
        progress(second * 1000, 50000, "records")
    assert err.getvalue() == "reading: 10,000 of 50,000 records (20 %)\nreading: 20,000 of 50,000 records (40 %)\n"


def test_progress_without_a_total_and_with_a_hostile_name() -> None:
    err, clock = io.StringIO(), Clock()
    progress = Progress("reading", Screen(err, terminal=False, colour=False, width=None), "lines", clock)
    clock.now = 10
    progress.update(1234, None, "bytes of \x1b]0;x")
    assert err.getvalue() == "reading: 1,234 bytes of \\x1b]0;x\n"


def test_on_a_terminal_progress_is_a_bar_that_leaves_nothing() -> None:
    err, clock = Terminal(), Clock()
    progress = Progress("reading", Screen(err, terminal=True, colour=False, width=80), "bar", clock)
    progress(1, 100, "records")
    assert err.getvalue() == ""
    clock.now = 1
    progress(50, 100, "[red]records[/red]")
    assert "50 of 100 [red]records[/red]" in err.getvalue()
    progress.close()
    assert err.getvalue().endswith("\x1b[2K")
    drawn = err.getvalue()
    clock.now = 9
    progress(99, 100, "records")
    assert err.getvalue() == drawn


def test_a_note_takes_the_bar_away_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prefixwise.cli.console._BAR_AFTER", 0)
    err = Terminal()
    console = make(err)
    with console.progress("reading") as observe:
        observe(1, 2, "records")
        console.note("hello")
        assert re.search(r"\x1b\[2K[^\n]*note:[^\n]* hello\n$", err.getvalue())


@pytest.mark.parametrize("options", [{"quiet": True}, {"progress": False}])
def test_no_progress_where_none_is_wanted(options: dict[str, bool], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prefixwise.cli.console._LINE_EVERY", 0)
    err = io.StringIO()
    with make(err, **options).progress("reading") as observe:
        observe(1, 2, "records")
    assert err.getvalue() == ""


def test_short_jobs_never_import_rich() -> None:
    code = (
        "import sys; from prefixwise.cli.console import Console\n"
        "with Console().progress('x') as observe: observe(1, 2, 'y')\n"
        "print('rich' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
