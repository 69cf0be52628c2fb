"""`prefixwise lint` is right on each of our labelled cases: everything found, nothing reported that should not be."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from benchmarks.cases import OURS, cases_in, grade_folder  # noqa: E402 - the package stands at the root


@pytest.mark.parametrize("folder", cases_in(OURS), ids=lambda folder: folder.name)
def test_lint_is_right_on(folder: Path) -> None:
    result = grade_folder(folder)
    assert result.failure == ""
    assert [str(one) for one in (*result.misses, *result.alarms)] == []
