"""What the bundled engine really reuses, held against its rule."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.serving import serving
from support.verifying import chats, verified


@pytest.mark.parametrize("settings", [{}, {"index": "radix", "block": 4}], ids=["chain", "radix"])
def test_real_tensors_are_reused_as_the_rule_says(tmp_path: Path, settings: dict[str, Any]) -> None:
    with serving("random:tiny", capacity="3000tokens", **settings) as running:
        report = verified(tmp_path, chats(7), running.url, model="random:tiny", metrics=("auto",))
    assert (report.values.equal, report.values.largest) == (7, 0)
    assert report.values.cached > 500
    assert (report.values.counters.exclusive, report.values.counters.agrees) == (True, True)
