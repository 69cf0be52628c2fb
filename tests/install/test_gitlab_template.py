"""The GitLab template: its script, run with bash and sh as a job runs it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from junitparser import JUnitXml
from support.installed import ROOT, clean_environment
from support.repository import commit, git, repository

JOB: dict[str, Any] = yaml.safe_load((ROOT / "ci" / "gitlab.yml").read_text(encoding="utf-8"))["prefixwise"]
CONSTANT = "Name the quay, the time and the fare in every answer, and say where to ask for more.\n" * 20
CLOCK = "It is {{ now }}.\n" + CONSTANT
FILES = {"prompts/desk.md": CONSTANT, "old ones/prompts/old.j2": CLOCK}
REPORTS = JOB["artifacts"]["reports"]

Ended = tuple[int, str]


@pytest.fixture
def job(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Ended]:
    """Return a function that runs the script of the job in a repository and says how it ended."""
    workspace = repository(tmp_path / "builds" / "a desk", FILES)
    git(workspace, "update-ref", "refs/remotes/origin/main", "HEAD")
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, what in (("prefixwise", f"'{sys.executable}' -m prefixwise"), ("python", "echo python")):
        (programs / name).write_text(f"#!/bin/sh\nPYTHONPATH='{ROOT}' exec {what} \"$@\"\n")
        (programs / name).chmod(0o755)

    def _run(**variables: str) -> Ended:
        for name in REPORTS.values():
            (workspace / name).unlink(missing_ok=True)
        given = {name: text for name, text in JOB["variables"].items() if name != "PIP_CACHE_DIR"} | variables
        environment = clean_environment(tmp_path)
        environment |= {**given, "PATH": f"{programs}:{environment['PATH']}"}
        script = "\n".join(["set -e", *JOB["before_script"], *JOB["script"]])
        done = subprocess.run(
            [getattr(request, "param", "bash"), "-c", script],
            cwd=workspace,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=60,
        )
        return done.returncode, done.stdout

    _run.workspace = workspace  # type: ignore[attr-defined]
    return _run


def quality(job: Any) -> list[str]:
    return [issue["location"]["path"] for issue in json.loads((job.workspace / REPORTS["codequality"]).read_text())]


def test_a_branch_reports_everything_and_keeps_the_exit_code(job: Any) -> None:
    code, log = job()
    assert code == 1
    assert log.startswith("python -I -m pip install --quiet --disable-pip-version-check prefixwise[offline,js]\n")
    assert quality(job) == ["old ones/prompts/old.j2"]
    assert JUnitXml.fromfile(str(job.workspace / REPORTS["junit"])).failures == 1
    assert job(PREFIXWISE_PATHS="prompts")[0] == 0
    assert quality(job) == []
    assert job(PREFIXWISE_PATHS="old ones\nprompts\n", PREFIXWISE_ARGS="--select=user-data-first\n--statistics")[0] == 0
    assert job(PREFIXWISE_ARGS="--select\nnone-such")[0] == 2


HOSTILE = "x$(touch${IFS}pwned)`touch${IFS}pwned`;touch${IFS}pwned"


# GitLab takes sh where an image has no bash.
@pytest.mark.parametrize("job", ["sh"], indirect=True)
def test_a_merge_request_fails_for_changed_lines_and_reports_all(job: Any, tmp_path: Path) -> None:
    git(job.workspace, "update-ref", f"refs/remotes/origin/{HOSTILE}", "HEAD")
    asked = {"CI_MERGE_REQUEST_IID": "7", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main"}
    code, log = job(**asked)
    assert (code, quality(job)) == (0, ["old ones/prompts/old.j2"]), log
    assert JUnitXml.fromfile(str(job.workspace / REPORTS["junit"])).failures == 0
    base = git(job.workspace, "rev-parse", "HEAD").strip()
    commit(job.workspace, {"prompts/new.j2": CLOCK})
    for target in ("main", HOSTILE, "not-in-this-fork"):
        wanted = {**asked, "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": target, "CI_MERGE_REQUEST_DIFF_BASE_SHA": base}
        code, log = job(**wanted)
        assert (code, quality(job)) == (1, ["old ones/prompts/old.j2", "prompts/new.j2"]), log
        assert "prompts/new.j2:1" in log
        assert "old.j2:1" not in log
    assert not list(tmp_path.rglob("pwned"))


def test_the_image_has_what_the_script_asks_and_git_fetches_enough() -> None:
    assert not re.search(r"slim|alpine", JOB["image"])
    assert JOB["variables"]["GIT_DEPTH"] == "0"
    assert JOB["artifacts"]["when"] == "always"
    assert set(REPORTS) == {"codequality", "junit"}
