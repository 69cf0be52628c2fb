"""Runs our composite action as a GitHub runner does: its own scripts with bash, in somebody's folder.

Steps that use other actions are not run; what they would be given is noted.
"""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from support.installed import ROOT, clean_environment

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
_EXPRESSION = re.compile(r"\$\{\{ (.*?) \}\}")


@dataclass
class Ran:
    """How an action ended: its exit code, what it printed, its outputs and its summary, and what was uploaded."""

    code: int = 0
    log: str = ""
    outputs: dict[str, str] = field(default_factory=dict)
    summary: str = ""
    uploads: list[dict[str, str]] = field(default_factory=list)

    @property
    def annotations(self) -> list[str]:
        """The workflow commands of its log."""
        return [line for line in self.log.splitlines() if line.startswith("::")]


@dataclass
class Runner:
    """A job in a workspace.

    Attributes:
        workspace: The folder of the repository.
        temporary: Folder for everything else.
        programs: Where prefixwise is installed; None to run the step that installs it.
        action: Folder of the action.
        event: What the event says, by expression.
        upload_fails: Whether uploads are refused.
    """

    workspace: Path
    temporary: Path
    programs: Path | None = None
    action: Path = ROOT
    event: dict[str, str] = field(default_factory=dict)
    actor: str = "ines"
    upload_fails: bool = False

    def run(self, **inputs: str) -> Ran:
        """Run the action with inputs, whose `-` are written `_`."""
        given = {name: str(entry.get("default", "")) for name, entry in ACTION["inputs"].items()}
        given |= {name.replace("_", "-"): text for name, text in inputs.items()}
        known = {f"inputs.{name}": text for name, text in given.items()}
        known |= {"github.event.pull_request.head.repo.full_name": "", **self.event}
        ran = Ran()
        for number, step in enumerate(STEPS):
            if "if" in step and not self._holds(step["if"], known):
                continue
            outputs, code = self._step(number, step, known, ran)
            name = step.get("id", f"step-{number}")
            known |= {f"steps.{name}.outputs.{key}": text for key, text in outputs.items()}
            known[f"steps.{name}.outcome"] = "failure" if code else "success"
            if code and not step.get("continue-on-error"):
                ran.code = code
                break
        ran.outputs = {name: filled(entry["value"], known) for name, entry in ACTION["outputs"].items()}
        return ran

    def _step(self, number: int, step: dict[str, Any], known: dict[str, str], ran: Ran) -> tuple[dict[str, str], int]:
        if "uses" in step:
            return self._other(step, known, ran)
        if step.get("id") == "install" and self.programs is not None:
            place = self.temporary / "prefixwise.fixed"
            place.mkdir(parents=True, exist_ok=True)
            return {"place": str(place), "programs": str(self.programs)}, 0
        return self._script(number, step, known, ran)

    def _script(self, number: int, step: dict[str, Any], known: dict[str, str], ran: Ran) -> tuple[dict[str, str], int]:
        self.temporary.mkdir(parents=True, exist_ok=True)
        script, output, summary = (self.temporary / f"{number}.{kind}" for kind in ("sh", "output", "summary"))
        script.write_text(step["run"], encoding="utf-8")
        output.write_text("")
        summary.write_text("")
        variables = clean_environment(
            self.temporary,
            GITHUB_ACTION_PATH=str(self.action),
            GITHUB_ACTOR=self.actor,
            GITHUB_OUTPUT=str(output),
            GITHUB_REPOSITORY="ferries/desk",
            GITHUB_STEP_SUMMARY=str(summary),
            GITHUB_WORKSPACE=str(self.workspace),
            RUNNER_TEMP=str(self.temporary),
        )
        variables |= {name: filled(str(text), known) for name, text in step.get("env", {}).items()}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", script],
            cwd=self.workspace,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=240,
        )
        ran.log += done.stdout
        ran.summary += summary.read_text(encoding="utf-8")
        pairs = (line.partition("=") for line in output.read_text(encoding="utf-8").splitlines())
        return {key: text for key, _, text in pairs}, done.returncode

    def _other(self, step: dict[str, Any], known: dict[str, str], ran: Ran) -> tuple[dict[str, str], int]:
        given = {name: filled(str(text), known) for name, text in step["with"].items()}
        if step["uses"].startswith("actions/setup-python@"):
            return {"python-path": sys.executable}, 0
        assert step["uses"].startswith("github/codeql-action/upload-sarif@")
        ran.uploads.append(given)
        return {}, int(self.upload_fails)

    @staticmethod
    def _holds(condition: str, known: dict[str, str]) -> bool:
        left, _, right = condition.partition(" == ")
        return known.get(left, "") == right.strip("'")


def filled(text: str, known: dict[str, str]) -> str:
    """Put values into expressions; what a step did not set is empty, what nobody could set is an error."""

    def value(found: re.Match[str]) -> str:
        name = found.group(1)
        assert name in known or re.fullmatch(r"steps\.[\w-]+\.(outputs\.[\w-]+|outcome)", name), name
        return known.get(name, "")

    return _EXPRESSION.sub(value, text)
