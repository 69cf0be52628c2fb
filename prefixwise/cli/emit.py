"""Writes a report where the user wants it: stdout first, then each file, whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from prefixwise.cli.console import Console, Screen
from prefixwise.core.errors import UserError
from prefixwise.core.excerpt import visible
from prefixwise.core.report import Report
from prefixwise.core.whole_files import write_whole
from prefixwise.reports.format import FORMATS, Format
from prefixwise.workflows.finding_sources import with_sources


@dataclass(frozen=True, slots=True)
class Outputs:
    """Where a report goes: one format on stdout, and files."""

    stdout: Format
    files: tuple[tuple[Format, Path], ...] = ()


def parse_outputs(
    output_format: str, *, json: bool = False, reports: Sequence[str] = (), where: str = "--output-format"
) -> Outputs:
    """Read `--output-format`, `--json` (which wins) and every `--report F=PATH`.

    Call it before the work starts: it raises UserError for an unknown format, a spec that is none, a
    folder that does not exist, or a file that two reports want. `where` says where the format was named.
    """
    files: list[tuple[Format, Path]] = []
    for spec in reports:
        form, path = _parse_report(spec)
        if any(os.path.realpath(path) == os.path.realpath(other) for _, other in files):
            raise UserError("two reports go to one file", where=f"--report {spec}", help="give each its own path")
        files.append((form, path))
    return Outputs(_format("json" if json else output_format, where), tuple(files))


def emit(report: Report, outputs: Outputs, console: Console | None = None, *, instead: str | None = None) -> None:
    """Write `report` to stdout and to its files.

    Notes and requirements that the format on stdout does not carry go to stderr. A reader who closes
    stdout early is no error; the files are still written.

    Args:
        report: What a command found out.
        outputs: Where it goes.
        console: The terminal.
        instead: A document for stdout in place of the report; a terminal shows what cannot be seen in it as escapes.

    Raises:
        UserError: When stdout or a file cannot be written; the other files are written all the same.
    """
    console = console or Console()
    screen = console.out
    if any(form.reads_sources for form in (outputs.stdout, *(form for form, _ in outputs.files))):
        report = with_sources(report)
    if instead is None:
        _write_stdout(screen, outputs.stdout.render(report, width=screen.width, colour=screen.colour))
    else:
        _write_stdout(screen, "\n".join(map(visible, instead.split("\n"))) if screen.terminal else instead)
    if instead is not None or not outputs.stdout.carries_notes:
        _say_notes(report, console)
    failures: list[tuple[Path, OSError]] = []
    for form, path in outputs.files:
        try:
            write_whole(path, form.render(report, width=None, colour=False))
        except OSError as problem:
            failures.append((path, problem))
    if failures:
        failed, error = failures[0]
        more = f" (and {len(failures) - 1} more)" if failures[1:] else ""
        raise UserError(
            f"cannot write the report{more}: {error.strerror or error}",
            where=str(failed),
            help="nothing was left there; check the folder's permissions and free space",
        ) from error


def write_document(document: str, console: Console) -> None:
    """Write a document that is no report to stdout, as `emit` does. Raises UserError when that cannot be."""
    _write_stdout(console.out, document)


def _parse_report(spec: str) -> tuple[Format, Path]:
    name, equals, path = spec.partition("=")
    if not equals or not name.strip() or not path:
        raise UserError(
            "a report needs a format and a path", where=f"--report {spec}", help="for example --report json=report.json"
        )
    form = _format(name.strip(), f"--report {spec}")
    if path == "-":
        raise UserError(
            "stdout already has the document", where=f"--report {spec}", help=f"use --output-format {form.name}"
        )
    target = Path(path)
    if target.is_dir():
        raise UserError("this is a folder, not a file", where=path, help=f"add a name such as report{form.suffix}")
    if not target.parent.is_dir():
        raise UserError("there is no such folder", where=str(target.parent), help="create it first")
    return form, target


def _format(name: str, where: str) -> Format:
    try:
        return FORMATS.get(name)
    except UserError as error:
        raise UserError(error.what, where=where, help=error.help) from None


def _write_stdout(screen: Screen, document: str) -> None:
    file = screen.file
    try:
        buffer = getattr(file, "buffer", None)
        if buffer is None:
            file.write(document)
        else:
            file.flush()
            encoding = (file.encoding or "utf-8") if screen.terminal else "utf-8"
            buffer.write(document.encode(encoding, "backslashreplace"))
        file.flush()
    except BrokenPipeError:
        _discard_rest(file.fileno())
    except OSError as error:
        _discard_rest(file.fileno())
        raise UserError(f"cannot write to stdout: {error.strerror or error}") from error


def _discard_rest(descriptor: int) -> None:
    """Send what the interpreter still flushes at exit nowhere, or it would complain a second time."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


def _say_notes(report: Report, console: Console) -> None:
    for requirement in report.requirements:
        if not requirement.met:
            say = console.warn if requirement.undecided else console.failed
            say(f"requirement {requirement.state}: {requirement.expression} ({requirement.found})")
    for note in report.notes:
        console.note(note)
