"""docs/ci.md: its commands print what it says, and its examples name what there is."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from support.action_runner import ACTION
from support.installed import ROOT, clean_environment
from support.repository import repository

PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```(\w+) ?(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
JOB = yaml.safe_load((ROOT / "ci" / "gitlab.yml").read_text(encoding="utf-8"))["prefixwise"]
HOOKS = {hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))}


class Block(NamedTuple):
    language: str
    path: str
    text: str


BLOCKS = [Block(*found.groups()) for found in FENCE.finditer(PAGE)]


def sessions() -> Iterator[tuple[str, str]]:
    """Yield each command of the page and what it is said to print."""
    for block in BLOCKS:
        if block.language == "console":
            for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
                line, _, printed = part.partition("\n")
                yield line, printed


def test_the_commands_print_what_the_page_says(tmp_path: Path) -> None:
    folder = repository(tmp_path / "desk", {block.path: block.text for block in BLOCKS if block.path})
    commands = list(sessions())
    assert len(commands) > 8
    program = f'prefixwise() {{ {shlex.quote(sys.executable)} -m prefixwise "$@"; }}'
    marks = [f"{line}\nset -- $?; printf '\\036'; (exit $1)" for line, _ in commands]
    # Each command sees the exit code of the one before it, as in a terminal.
    script = "\n".join([program, *marks])
    people = {f"GIT_{who}_{what}": "Ines" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=clean_environment(tmp_path, COLUMNS="80", PYTHONPATH=str(ROOT), **people),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=60,
    )
    printed = done.stdout.split("\036")[:-1]
    assert list(zip([line for line, _ in commands], printed, strict=True)) == commands


def examples(key: str) -> list[Any]:
    """Return what the YAML examples have under a key, wherever it stands."""

    def below(value: Any) -> Iterator[Any]:
        if isinstance(value, dict):
            for name, inner in value.items():
                if name == key:
                    yield inner
                yield from below(inner)
        elif isinstance(value, list):
            for inner in value:
                yield from below(inner)

    return [one for block in BLOCKS if block.language == "yaml" for one in below(yaml.safe_load(block.text))]


def test_the_examples_name_inputs_hooks_and_variables_that_there_are() -> None:
    steps = [step for steps in examples("steps") for step in steps]
    ours = [step for step in steps if step["uses"] == "OWNER/prefixwise@COMMIT"]
    assert len(ours) == 2
    assert all(set(step["with"]) <= set(ACTION["inputs"]) for step in ours)
    others = [step["uses"] for step in steps if step not in ours]
    assert all(re.fullmatch(r"actions/checkout@[0-9a-f]{40}", name) for name in others)
    assert {hook["id"] for hooks in examples("hooks") for hook in hooks} == HOOKS
    variables = {name for given in examples("variables") for name in given}
    assert variables
    assert variables <= set(JOB["variables"])


def test_the_table_of_inputs_is_whole() -> None:
    rows = re.findall(r"^\| ((?:`[\w-]+`(?:, )?)+) \|.*\|$", PAGE.partition("| input |")[2], re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"`([\w-]+)`", row)} == set(ACTION["inputs"])
