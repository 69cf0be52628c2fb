"""Edits of a text, the record of a fix: which fit together, and that what they do not touch stays as it was."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefixwise.analyzers.fixes.diffs import patch
from prefixwise.analyzers.fixes.edits import chosen, edited, fit
from prefixwise.core.finding import Edit

PATHS = ["a", "b/c d.md", 'b/"ü\\".md', "b/line\n+++ b\ttab.md", "b/\udcff.md"]
TEXTS = st.text(st.sampled_from("ab é😀\r\n\ufeff漢"), max_size=40)


@st.composite
def fixes(draw: st.DrawFn, size: int) -> tuple[Edit, ...]:
    places = sorted(draw(st.lists(st.integers(0, size), min_size=2, max_size=4, unique=True)))
    pairs = list(zip(places[::2], places[1::2], strict=False))
    return tuple(Edit("a", start, end, draw(TEXTS)) for start, end in pairs)


@given(st.data())
def test_what_edits_do_not_touch_stays(data: st.DataObject) -> None:
    text = data.draw(st.text(st.sampled_from("ab é😀\r\n\ufeff漢"), min_size=1, max_size=40))
    wanted = data.draw(st.lists(fixes(len(text)), max_size=5))
    made, edits = chosen(wanted)
    pieces, at = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        pieces += [text[at : edit.start], edit.text]
        at = edit.end
    assert edited(text, edits) == "".join([*pieces, text[at:]])
    assert made[:1] == [0] * bool(wanted)
    for number, fix in enumerate(wanted):
        assert number in made or not fit(fix, edits)


@pytest.mark.parametrize(
    ("one", "other", "together"),
    [
        ((0, 2), (2, 4), True),
        ((0, 3), (2, 4), False),
        ((2, 2), (2, 2), True),
        ((1, 3), (2, 2), False),
        ((1, 2), (2, 2), True),
        ((2, 2), (2, 4), True),
    ],
)
def test_which_edits_fit_together(one: tuple[int, int], other: tuple[int, int], *, together: bool) -> None:
    assert fit([Edit("a", *one, "x")], [Edit("a", *other, "y")]) is together
    assert fit([Edit("a", *one, "x")], [Edit("b", *other, "y")])


def test_a_fix_that_is_asked_for_twice_is_made_once() -> None:
    fix = (Edit("a", 1, 2, ""), Edit("a", 3, 3, "x"))
    assert chosen([fix, (Edit("a", 1, 3, "y"),), fix]) == ([0, 2], list(fix))


def test_edits_outside_of_the_text_are_refused() -> None:
    with pytest.raises(ValueError, match="overlaps another one, or the text ends"):
        edited("abc", [Edit("a", 2, 5, "")])


@given(st.dictionaries(st.sampled_from(PATHS), st.tuples(TEXTS, TEXTS), min_size=1))
def test_a_patch_makes_of_one_text_the_other(tmp_path_factory: pytest.TempPathFactory, texts: dict) -> None:
    folder: Path = tmp_path_factory.mktemp("patch")
    before = {path: pair[0] for path, pair in texts.items()}
    after = {path: pair[1] for path, pair in texts.items()}
    made = patch(before, after)
    assert bool(made) == (before != after)
    if not all(before.values()) or not all(after.values()) or not made:
        return  # what is made or removed whole has other headers
    for path, text in before.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_bytes(text.encode())
    done = subprocess.run(
        ["git", "apply", "--unsafe-paths", "-"], cwd=folder, input=made.encode(), capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert {path: (folder / path).read_bytes().decode() for path in after} == after
