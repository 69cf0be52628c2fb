"""Edits in what is published: complete, or not there at all."""

from __future__ import annotations

import msgspec
import pytest
from support.fixing import fix_folder

from prefixwise.analyzers.fixes.report import with_shown_edits
from prefixwise.core.excerpt import Excerpts

RULES = "Name the quay, the time and the fare in every answer.\n" * 40


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("It is {{ now }}.", {"full", "masked"}),
        ("It is {{ now }}; write to ada.lovelace@harbour.org.", {"full"}),
        ("It is {{ now }}, key sk-proj-9fK2LmQ8xTz41VbN7cRd3WpYs6HjEa0GuXo5.", {"full"}),
    ],
)
def test_an_edit_is_shown_as_it_is_or_not_at_all(line: str, shown: set[str]) -> None:
    (finding,) = fix_folder({"prompts/desk.md": f"{line}\n\n{RULES}"}, unsafe=True).found
    assert len(finding.fix.edits) == 2
    for excerpts in Excerpts:
        told = with_shown_edits(finding, excerpts)
        wanted = finding.fix.edits if excerpts.value in shown else ()
        assert told == msgspec.structs.replace(finding, fix=msgspec.structs.replace(finding.fix, edits=wanted))
