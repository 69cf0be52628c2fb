"""docs/adding-a-rule.md, followed to the letter in a copy of the repository."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.installed import ROOT, clean_environment, copied

PAGE = (ROOT / "docs" / "adding-a-rule.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```(python|diff|sh) ?(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def edited(text: str, difference: str) -> str:
    """Return a text with a difference made, whose old lines must stand in it once."""
    lines = difference.splitlines(keepends=True)
    old = "".join(line[1:] for line in lines if line[0] != "+")
    new = "".join(line[1:] for line in lines if line[0] != "-")
    assert text.count(old) == 1, difference
    return text.replace(old, new)


@pytest.mark.slow
def test_the_page_can_be_followed(tmp_path: Path) -> None:
    copy = copied(tmp_path / "copy", ["docs", "tests", "fixtures", "benchmarks", "ci", "action.yml"])
    environment = clean_environment(tmp_path, PYTHONPATH=str(copy), PYTHONDONTWRITEBYTECODE="1")
    written: list[str] = []
    commands = 0
    for language, path, text in FENCE.findall(PAGE):
        if language == "sh":
            for command in text.splitlines():
                commands += 1
                line = ["bash", "-c", f"set -e; python() {{ '{sys.executable}' \"$@\"; }}; {command}"]
                done = subprocess.run(line, cwd=copy, env=environment, capture_output=True, text=True, timeout=120)
                assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}{done.stderr[-2000:]}"
        elif language == "diff":
            file = copy / path
            file.write_text(edited(file.read_text(encoding="utf-8"), text), encoding="utf-8")
            written.append(path)
        else:
            assert not (copy / path).exists()
            (copy / path).write_text(text, encoding="utf-8")
            written.append(path)
    assert (len(written), commands) == (9, 7)
    ruff = [sys.executable, "-m", "ruff"]
    for check in (["format", "--check"], ["check"]):
        done = subprocess.run([*ruff, *check, *written], cwd=copy, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout
