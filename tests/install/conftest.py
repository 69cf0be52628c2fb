"""The built package, once for all processes of a test run; without a package index these tests are skipped."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock
from support.installed import built, index_answers, installed


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Callable[[str, Callable[[Path], str]], str]:
    """Return a function that lets one process of the run make something, and all others wait for its answer."""
    base = tmp_path_factory.getbasetemp()
    shared = base if worker_id == "master" else base.parent

    def _once(name: str, make: Callable[[Path], str]) -> str:
        answer = shared / f"{name}.answer"
        with FileLock(shared / f"{name}.lock"):
            if not answer.exists():
                answer.write_text(make(shared / name))
        return answer.read_text()

    return _once


@pytest.fixture(scope="session")
def package_index(once: Callable[[str, Callable[[Path], str]], str]) -> None:
    """Skip where no packages can be had."""
    if once("package-index", lambda folder: "yes" if index_answers(folder) else "no") == "no":
        pytest.skip("no package index answers")


@pytest.fixture(scope="session")
def wheel(once: Callable[[str, Callable[[Path], str]], str], package_index: None) -> Path:
    """Return the wheel of this working tree."""
    return Path(once("wheel", lambda folder: str(built(folder))))


@pytest.fixture(scope="session")
def base_install(once: Callable[[str, Callable[[Path], str]], str], wheel: Path) -> Path:
    """Return the programs of an environment with the wheel, its base dependencies and pytest, nothing else."""
    return Path(once("base-install", lambda folder: str(installed(folder, wheel, "pytest"))))
