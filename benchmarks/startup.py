"""Compare `prefixwise --help` with an empty Typer app of the same shape: `python -m benchmarks.startup --help`.

The empty app is generated from the command's own help pages: the same commands and sub-commands with the same
one-line helps, as many options and arguments each, the same kind of help page (rich boxes or plain) and the same
completion options. It imports typer and nothing else, is compiled beforehand and starts as an installed script does:
a few lines that import the module and call it. Both run in the same interpreter environment where the command is
the script beside this Python.

CPU time is user + system time of the whole child, interpreter start included: 15 interleaved pairs in random order,
medians, the ratio a pair for the interval. Target: at most 1.2. Exit codes as in `benchmarks.measure`.
"""

from __future__ import annotations

import argparse
import json
import py_compile
import re
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmarks.children import CannotRunError, Rounds, Verdict, command_under_test, exit_code, judge, run

LIMIT = 1.2
PLAIN = {"COLUMNS": "240", "TERMINAL_WIDTH": "240", "NO_COLOR": "1", "TERM": "dumb"}
PANEL = re.compile(r"^╭─+ (?P<title>.+?) ─+╮$")
SECTION = re.compile(r"^(?P<title>[A-Z][\w ]*):$")
ROW = re.compile(r"^(?:│ |  )(?P<marks>[ *]*)(?P<name>-{0,2}[A-Za-z][\w-]*)(?P<rest>.*?)\s*│?$")
COMMAND = re.compile(r"^(?:│ |  )[A-Za-z][\w-]*(?:  |\s*│?$)")  # not a help text that goes on in a second line
SHORT_HELP = re.compile(r"(?<!-)-\w\b")
COMPLETION = "--install-completion"


@dataclass
class Page:
    """What a help page shows: how many options and arguments, and the commands with their one-line helps."""

    boxed: bool
    options: list[str]
    arguments: list[str]
    commands: dict[str, str]
    help_names: list[str] = field(default_factory=list)


def parse(text: str) -> Page:
    """Read a help page as Typer prints it, in rich boxes or plain."""
    page, title = Page("╭─" in text, [], [], {}), ""
    for line in text.splitlines():
        if heading := PANEL.match(line.strip()) or SECTION.match(line.strip()):
            title = heading["title"].lower()
        elif title and (row := ROW.match(line.rstrip())):
            name = row["name"]
            if name.startswith("-") and "--help" in row[0]:
                page.help_names = ["--help", *SHORT_HELP.findall(row[0])]
            elif name.startswith("-"):
                page.options.append(name)
            elif title == "arguments":
                page.arguments.append(name)
            elif (title != "options" if page.boxed else title == "commands") and COMMAND.match(row[0]):
                page.commands[name] = row["rest"].strip()
    return page


def app_source(command: list[str]) -> tuple[str, int]:
    """Return the source of the empty app, and its number of commands."""
    text = run([*command, "--help"], PLAIN, keep=1_000_000).output
    root = parse(text)
    if not root.commands:
        raise CannotRunError(f"`{' '.join(command)} --help` lists no commands")
    style = '"rich"' if root.boxed else "None"
    settings = f"add_completion={COMPLETION in root.options}, rich_markup_mode={style}, no_args_is_help=True, "
    settings += f"context_settings={{'help_option_names': {root.help_names}}}"
    lines = ["from typing import Annotated, Optional", "", "import typer", ""]
    count = _group(lines, "app", command, root, settings)
    return "\n".join(lines) + "\n", count


def _group(lines: list[str], variable: str, command: list[str], page: Page, settings: str) -> int:
    """Append a group and its commands to `lines`, sub-groups first; return how many commands that made."""
    lines += [f"{variable} = typer.Typer({settings})", ""]
    lines += [f"@{variable}.callback()", *_function(f"{variable}_root", page, "An empty app."), ""]
    count = 0
    for index, (name, help_line) in enumerate(page.commands.items()):
        inner = parse(run([*command, name, "--help"], PLAIN, keep=1_000_000).output)
        if inner.commands:
            child = f"{variable}_{index}"
            count += _group(lines, child, [*command, name], inner, settings)
            lines += [f"{variable}.add_typer({child}, name={name!r}, help={help_line!r})", ""]
        else:
            lines += [f"@{variable}.command({name!r})", *_function(f"{variable}_command_{index}", inner, help_line), ""]
        count += 1
    return count


def _function(name: str, page: Page, help_line: str) -> list[str]:
    own = [option for option in page.options if option not in (COMPLETION, "--show-completion")]
    lines = [f"def {name}("]
    lines += [f'    argument_{i}: Annotated[str, typer.Argument(help="One.")],' for i in range(len(page.arguments))]
    lines += [
        f'    option_{i}: Annotated[Optional[str], typer.Option("--option-{i}", help="One.")] = None,'
        for i in range(len(own))
    ]
    return [*lines, ") -> None:", f"    {help_line!r}"]


def write_app(source: str, folder: Path) -> list[str]:
    """Write the app as a compiled module with a script that starts it; return the command."""
    module = folder / "empty_app.py"
    module.write_text(source, "utf-8")
    py_compile.compile(str(module), doraise=True)
    script = folder / "empty"
    script.write_text(
        "import sys\nfrom empty_app import app\nif __name__ == '__main__':\n    sys.exit(app())\n", "utf-8"
    )
    return [sys.executable, str(script)]


def measure(command: list[str], source: str, pairs: int) -> Rounds:
    """Run both help pages, once to warm up and then in pairs."""
    with tempfile.TemporaryDirectory() as scratch:
        empty = write_app(source, Path(scratch))
        rounds = Rounds({"prefixwise": [*command, "--help"], "empty": [*empty, "--help"]}, PLAIN)
        for warm in rounds.commands.values():
            run(warm, PLAIN)
        rounds.run(pairs)
    return rounds


def show(count: int, rounds: Rounds, verdict: Verdict, as_json: bool) -> None:
    """Print medians, their ratio and the verdict."""
    medians = {name: rounds.median(name) for name in rounds.commands}
    ratio = medians["prefixwise"] / medians["empty"]
    if as_json:
        result = {"commands": count, "cpu_s": medians, "ratio_of_medians": ratio, "verdicts": [asdict(verdict)]}
        print(json.dumps(result, indent=1))
        return
    print(f"{count} commands, {verdict.n} pairs, load average at most {rounds.load:.2f}")
    print(f"median CPU s: prefixwise {medians['prefixwise']:.3f}, empty app {medians['empty']:.3f}, ratio {ratio:.3f}")
    reason = f" ({verdict.reason})" if verdict.reason else ""
    interval = f"{verdict.value:.3f} [{verdict.low:.3f}, {verdict.high:.3f}]"
    print(f"{verdict.verdict.upper()}: median ratio of a pair {interval}, target <= {LIMIT}{reason}")


def main() -> int:
    """Measure, print, return the exit code."""
    parser = argparse.ArgumentParser(prog="benchmarks.startup", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--command", metavar="CMD", help="the command under test (default: the installed prefixwise)")
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--show", action="store_true", help="print the generated app and stop")
    parser.add_argument("--json", action="store_true", help="print JSON")
    given = parser.parse_args()
    command = command_under_test(given.command)
    try:
        source, count = app_source(command)
        if given.show:
            print(source)
            return 0
        rounds = measure(command, source, given.pairs)
    except CannotRunError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    ratios = [ours / theirs for ours, theirs in zip(rounds.cpu("prefixwise"), rounds.cpu("empty"), strict=True)]
    verdict = judge("startup: CPU of --help / that of an empty Typer app", ratios, LIMIT, loaded=rounds.loaded)
    show(count, rounds, verdict, given.json)
    return exit_code([verdict])


if __name__ == "__main__":
    sys.exit(main())
