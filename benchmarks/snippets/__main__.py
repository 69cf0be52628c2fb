"""Grade `prefixwise lint` on small modules that build prompts: `python -m benchmarks.snippets [--rival COMMAND]`.

Each module of `bad/` has one fault, which its namesake in `twins/` does not have; those of `good/` hold what looks
like a fault and is none. A module counts as *found* when a finding above info has the rule that `FAULTS` names and
stands on one of its lines, and as a *false alarm* when a module of `twins/` or `good/` has any finding above info.

`--rival` runs another linter on each module, its path put at the end (or for `{}`); a module counts as found there
when the command ends with another exit code than 0, so that a rival is never marked down for naming things its own way.

Targets: at least 13 of 14 found, no false alarm. Exit codes: 0 reached, 1 missed, 2 could not run.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from benchmarks.children import command_under_test

ROOT = Path(__file__).parent
AT_LEAST = 13
FAULTS = {
    "clock_in_fstring": "clock-in-prefix",
    "folder_listing": "unordered-iteration",
    "hash_of_argument": "request-id-in-prefix",
    "inserted_in_front": "clock-in-prefix",
    "jinja_from_string": "clock-in-prefix",
    "json_of_set_built_table": "schema-key-order",
    "langchain_template": "clock-in-prefix",
    "last_messages_only": "history-window-slides",
    "name_of_user_first": "user-data-first",
    "passages_before_rules": "retrieved-text-in-prefix",
    "sampled_examples": "fewshot-unstable",
    "tools_from_set": "unordered-iteration",
    "uuid_through_helper": "request-id-in-prefix",
    "working_folder": "env-state-in-prefix",
}
"""The rule that a module of `bad/` breaks, by its name."""


class Score(NamedTuple):
    """What a linter said: of faults, of their twins and of good modules."""

    missed: tuple[str, ...]
    false: tuple[str, ...]

    @property
    def reached(self) -> bool:
        """Whether the targets are met."""
        return len(FAULTS) - len(self.missed) >= AT_LEAST and not self.false


def modules(folder: str) -> list[Path]:
    """Return the modules of a folder, by name."""
    return sorted((ROOT / folder).glob("*.py"))


def ours(command: list[str]) -> Score:
    """Grade the command under test. Raises RuntimeError where it prints no document."""
    rules = _rules(command)
    missed = [path.stem for path in modules("bad") if (path, FAULTS[path.stem]) not in rules]
    accused = {path for path, _ in rules}
    clean = [*modules("twins"), *modules("good")]
    return Score(tuple(missed), tuple(_name(path) for path in clean if path in accused))


def rival(command: str) -> Score:
    """Grade another linter by its exit codes."""
    missed = [path.stem for path in modules("bad") if not _complains(command, path)]
    clean = [*modules("twins"), *modules("good")]
    return Score(tuple(missed), tuple(_name(path) for path in clean if _complains(command, path)))


def _rules(command: list[str]) -> set[tuple[Path, str]]:
    """Return which rules find something above info in which module."""
    asked = [*command, "lint", "bad", "twins", "good", "--json", "--fail-on", "never"]
    ran = subprocess.run(asked, capture_output=True, text=True, check=False, cwd=ROOT)
    if ran.returncode:
        raise RuntimeError(ran.stderr.strip()[-300:])
    return {(ROOT / one["path"], one["rule"]) for one in json.loads(ran.stdout)["findings"] if one["level"] != "info"}


def _complains(command: str, path: Path) -> bool:
    words = shlex.split(command)
    words = [str(path) if word == "{}" else word for word in words] if "{}" in words else [*words, str(path)]
    return subprocess.run(words, capture_output=True, check=False).returncode != 0


def _name(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def _said(name: str, score: Score) -> str:
    clean = len(modules("twins")) + len(modules("good"))
    lines = [
        f"{name}: found {len(FAULTS) - len(score.missed)} of {len(FAULTS)}, false alarms {len(score.false)} of {clean}"
    ]
    lines += [f"  missed {one}" for one in score.missed]
    return "\n".join([*lines, *(f"  false alarm {one}" for one in score.false)])


def main() -> int:
    """Grade, print, return the exit code."""
    parser = argparse.ArgumentParser(prog="benchmarks.snippets", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--command", metavar="CMD", help="the command under test (default: the installed prefixwise)")
    parser.add_argument("--rival", metavar="CMD", action="append", default=[], help="another linter; may be repeated")
    given = parser.parse_args()
    try:
        score = ours(command_under_test(given.command))
    except (RuntimeError, json.JSONDecodeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(_said("prefixwise", score))
    for command in given.rival:
        print(_said(Path(shlex.split(command)[0]).name, rival(command)))
    return 0 if score.reached else 1


if __name__ == "__main__":
    sys.exit(main())
