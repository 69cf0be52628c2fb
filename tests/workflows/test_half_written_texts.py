"""Texts as they are while somebody types: our labelled sources, cut and torn."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from prefixwise.workflows.editor.ignoring import ignoring
from prefixwise.workflows.editor.looking import Looking
from prefixwise.workflows.editor.positions import Positions, Unit

CASES = Path(__file__).parents[2] / "fixtures" / "cases"
SOURCES = [
    folder / path
    for folder in sorted(CASES.iterdir())
    if folder.is_dir()
    for answer in [json.loads((folder / "expected.json").read_text("utf-8"))["input"]]
    if answer["mode"] == "static"
    for path in answer["files"]
]
LOOKING = Looking()


@given(
    st.sampled_from(SOURCES),
    st.integers(0, 4000),
    st.integers(0, 60),
    st.text(alphabet="{}%#'\"`\n\r\\<:é😀\ud800\x00", max_size=4),
)
@settings(max_examples=150, deadline=None)
def test_any_state_of_a_text_can_be_looked_at(path: Path, cut: int, gone: int, typed: str) -> None:
    whole = path.read_bytes().decode()
    cut = min(cut, len(whole))
    text = whole[:cut] + typed + whole[cut + gone :]
    look = LOOKING.look(str(path), text)
    places = Positions(text, Unit.UTF_16)
    for finding in look.findings:
        assert finding.span is not None
        assert 0 <= finding.span.start <= finding.span.end <= len(text)
        assert places.offset(places.position(finding.span.start)) <= finding.span.start
        assert all(0 <= edit.start <= edit.end <= len(text) for edit in finding.fix.edits)
    assert all(0 <= stable.offset <= len(text) for stable in look.stable)
    assert len(look.problems) <= 2
    for finding in look.findings[:1]:
        ignoring(finding, str(path), text, look.syntax, lambda other: LOOKING.look(str(path), other).findings)
