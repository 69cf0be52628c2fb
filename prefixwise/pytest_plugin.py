"""The pytest plug-in: the fixture `assert_stable_prefix`, and what could be checked in the test's process only."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(name="assert_stable_prefix", scope="session")
def _assert_stable_prefix() -> Callable[..., Any]:
    """Fail unless the prefix that a prompt builder returns is stable; see `prefixwise.testing`."""
    from prefixwise.testing import assert_stable_prefix

    return assert_stable_prefix


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say after the tests which builders could not run in processes of their own."""
    testing = sys.modules.get("prefixwise.testing")
    if testing is None or not testing.in_process_notes:
        return
    terminalreporter.section("prefixwise")
    for note in dict.fromkeys(testing.in_process_notes):
        terminalreporter.write_line(note)
