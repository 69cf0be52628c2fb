"""Rules of the suite: a test may be skipped only for a reason that `allowed_skips.txt` lists."""

from __future__ import annotations

import fnmatch
from pathlib import Path

import pytest

ALLOWED = Path(__file__).with_name("allowed_skips.txt")


def allowed_skips() -> list[str]:
    """Return the patterns of `allowed_skips.txt`: one a line, a reason behind `#`."""
    lines = (line.partition("#")[0].strip() for line in ALLOWED.read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line]


class SkipGuard:
    """Notes skipped tests that nobody allowed, and fails the run for them."""

    def __init__(self) -> None:
        self.allowed = allowed_skips()
        self.refused: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped and not hasattr(report, "wasxfail"):
            self.note(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.skipped:
            self.note(report.nodeid)

    def note(self, nodeid: str) -> None:
        if not any(fnmatch.fnmatchcase(nodeid, pattern) for pattern in self.allowed):
            self.refused.append(nodeid)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.refused and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for nodeid in self.refused:
            terminalreporter.write_line(f"skipped without leave (see tests/allowed_skips.txt): {nodeid}", red=True)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(SkipGuard(), "skip-guard")
