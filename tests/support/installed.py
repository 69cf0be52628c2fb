"""The package as others get it: built from a copy of this repository and installed where nothing else is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_LEFT = shutil.ignore_patterns("__pycache__", "*.pyc", ".git", ".venv", ".cache", ".*_cache", ".hypothesis")


def clean_environment(home: Path, **more: str) -> dict[str, str]:
    """Return this process's environment without what leads Python, git or prefixwise elsewhere."""
    leading = ("PYTHON", "PREFIXWISE_", "GIT_", "VIRTUAL_ENV", "CONDA", "COV_", "COLUMNS", "PYTEST", "CI", "GITHUB_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(leading)}
    return {**kept, "HOME": str(home), "XDG_CONFIG_HOME": str(home / "config"), "NO_COLOR": "1", **more}


def pip(*arguments: object, into: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run pip with the versions that CI uses, for this environment or for another one."""
    chosen = ["--python", str(into)] if into else []
    command = [sys.executable, "-m", "pip", *chosen, "--disable-pip-version-check", *map(str, arguments)]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=300, cwd=ROOT)


def index_answers(folder: Path) -> bool:
    """Say whether packages can be had at all; what is asked for is what every build needs."""
    patience = ("--retries", 1, "--timeout", 15)
    return pip("download", "--quiet", *patience, "--no-deps", "--dest", folder, "hatchling").returncode == 0


def copied(folder: Path, extra: Iterable[str] = ()) -> Path:
    """Copy what a build needs, and `extra`, to a folder."""
    names = ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "constraints.txt", "prefixwise", *extra)
    for name in names:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=_LEFT)
        else:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, folder / name)
    return folder


def built(folder: Path) -> Path:
    """Return the wheel, built in a copy."""
    done = pip("wheel", "--quiet", "--no-deps", "--wheel-dir", folder / "dist", copied(folder / "source"))
    assert done.returncode == 0, done.stderr
    (wheel,) = (folder / "dist").glob("prefixwise-*.whl")
    return wheel


def installed(folder: Path, *packages: object) -> Path:
    """Return the folder of programs of a new environment that has some packages."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True, timeout=60)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    done = pip(
        *("install", "--quiet", "--no-compile", "-c", ROOT / "constraints.txt", *packages), into=programs / "python"
    )
    assert done.returncode == 0, done.stderr
    return programs
