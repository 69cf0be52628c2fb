"""What a command knows about the two streams it writes to: colour, width, messages and progress."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TextIO

from prefixwise.core.errors import UserError
from prefixwise.core.excerpt import visible

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

ColourChoice = Literal["auto", "always", "never"]

_BAR_AFTER = 0.5
"""Seconds before a bar appears, so that short commands stay calm (and never import rich for it)."""
_BAR_EVERY = 0.1
_LINE_EVERY = 10.0


@dataclass(frozen=True, slots=True)
class Screen:
    """One stream: whether it is a terminal, whether to colour it, and its width in cells (None: unlimited)."""

    file: TextIO
    terminal: bool
    colour: bool
    width: int | None

    @classmethod
    def of(cls, file: TextIO, choice: ColourChoice = "auto", environ: Mapping[str, str] = os.environ) -> Screen:
        """Look at a stream. An explicit `choice` beats NO_COLOR, which beats FORCE_COLOR."""
        terminal = _is_terminal(file)
        return cls(file, terminal, _colour(choice, terminal, environ), _width(file, terminal, environ))


class Console:
    """The streams of one command: the document goes to `out`, everything else to `err`.

    Args:
        color: `--color`.
        quiet: Say nothing on stderr but errors.
        progress: Show how far a long job is.
        stdout: Where the document goes; the process's own by default.
        stderr: Where all else goes.
        environ: Environment to look at.
    """

    def __init__(
        self,
        color: ColourChoice = "auto",
        *,
        quiet: bool = False,
        progress: bool = True,
        stdout: TextIO | None = None,
        stderr: TextIO | None = None,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self.out = Screen.of(stdout or sys.stdout, color, environ)
        self.err = Screen.of(stderr or sys.stderr, color, environ)
        self.quiet = quiet
        self._progress = progress and not quiet
        self._active: Progress | None = None

    def note(self, text: str) -> None:
        """Say something on stderr that the reader should know; nothing when quiet."""
        if not self.quiet:
            self._say("note", "1", text)

    def warn(self, text: str) -> None:
        """Say on stderr that something is wrong though the command goes on, even when quiet."""
        self._say("warning", "1;33", text)

    def failed(self, text: str) -> None:
        """Say on stderr that something that was required does not hold, even when quiet: the command fails for it."""
        self._say("failed", "1;31", text)

    def error(self, error: UserError) -> None:
        """Print what is wrong, where, and what to do: one line each, on stderr."""
        self._say("error", "1;31", error.what)
        for label, text in (("where", error.where), ("help", error.help)):
            if text:
                self._write(f"  {label}: {visible(text)}\n")

    @contextmanager
    def progress(self, job: str) -> Iterator[Progress]:
        """Give an observer to hand to a long job as a plain callable; what it drew is gone afterwards."""
        style: ProgressStyle = "none" if not self._progress else "bar" if self.err.terminal else "lines"
        self._active = Progress(job, self.err, style)
        try:
            yield self._active
        finally:
            self._active.close()
            self._active = None

    def _say(self, label: str, style: str, text: str) -> None:
        shown = f"\x1b[{style}m{label}:\x1b[0m" if self.err.colour else f"{label}:"
        self._write(f"{shown} {visible(text)}\n")

    def _write(self, text: str) -> None:
        if self._active:
            self._active.hide()
        with contextlib.suppress(OSError):  # nobody can be told that nobody can be told
            self.err.file.write(text)
            self.err.file.flush()


ProgressStyle = Literal["bar", "lines", "none"]


class Progress:
    """Shows on stderr how far a job is; call it as often as you like, it draws seldom.

    Args:
        job: What is being done, for example "reading".
        screen: Where to draw.
        style: A bar that vanishes, a plain line every 10 s, or nothing.
        clock: Seconds that only grow.
    """

    def __init__(
        self, job: str, screen: Screen, style: ProgressStyle, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._job = visible(job)
        self._screen = screen
        self._style = style
        self._clock = clock
        self._next = clock() + (_BAR_AFTER if style == "bar" else _LINE_EVERY)
        self._bar: RichProgress | None = None
        self._task: TaskID | None = None

    def update(self, done: int, total: int | None, what: str) -> None:
        """Take note that `done` of `total` (None: unknown) units called `what` are done."""
        if self._style == "none" or self._clock() < self._next:
            return
        self._next = self._clock() + (_BAR_EVERY if self._style == "bar" else _LINE_EVERY)
        if self._style == "bar":
            self._draw(done, total, visible(what))
        else:
            share = f" ({100 * done / total:.0f} %)" if total else ""
            self._screen.file.write(f"{self._job}: {_count(done, total)} {visible(what)}{share}\n")
            self._screen.file.flush()

    __call__ = update

    def hide(self) -> None:
        """Take the bar away so that something else can be written; the next update brings it back."""
        if self._bar:
            self._bar.stop()
            self._bar = self._task = None

    def close(self) -> None:
        """Take the bar away for good."""
        self.hide()
        self._style = "none"

    def _draw(self, done: int, total: int | None, what: str) -> None:
        if self._bar is None or self._task is None:
            self._bar = _rich_bar(self._screen)
            self._task = self._bar.add_task(self._job, total=total, count="")
            self._bar.start()
        self._bar.update(self._task, completed=done, total=total, count=f"{_count(done, total)} {what}", refresh=True)


def _rich_bar(screen: Screen) -> RichProgress:
    from rich.console import Console as RichConsole
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress

    console = RichConsole(
        file=screen.file, no_color=not screen.colour, markup=False, highlight=False, emoji=False, width=screen.width
    )
    return RichProgress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        TextColumn("{task.fields[count]}", markup=False),
        TimeRemainingColumn(compact=True),
        console=console,
        transient=True,
        auto_refresh=False,
        redirect_stdout=False,
        redirect_stderr=False,
    )


def _count(done: int, total: int | None) -> str:
    return f"{done:,}" if total is None else f"{done:,} of {total:,}"


def _is_terminal(file: TextIO) -> bool:
    try:
        return file.isatty()
    except ValueError:  # closed
        return False


def _colour(choice: ColourChoice, terminal: bool, environ: Mapping[str, str]) -> bool:
    if choice != "auto":
        return choice == "always"
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR", "0") not in {"", "0"}:
        return True
    return terminal and environ.get("TERM") != "dumb"


def _width(file: TextIO, terminal: bool, environ: Mapping[str, str]) -> int | None:
    columns = environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return int(columns)
    if not terminal:
        return None
    try:
        return os.get_terminal_size(file.fileno()).columns or 80
    except (OSError, ValueError):
        return 80
