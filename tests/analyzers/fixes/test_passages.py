"""What moves in a text: nothing is lost or made up, and what has moved does not move again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from prefixwise.analyzers.fixes.edits import edited
from prefixwise.analyzers.fixes.passages import Body, moved_behind
from prefixwise.core.finding import Edit

VALUE = "{{ now }}"
LINES = st.lists(
    st.sampled_from(
        [
            "Be kind.",
            "## Rules",
            "- Name the quay 😀.",
            "",
            "  ",
            "<rules>",
            "</rules>",
            "1. Count.",
            "```",
            "Ask. Tell!",
        ]
    ),
    max_size=8,
)
WITH_VALUE = st.sampled_from(
    [VALUE, f"It is {VALUE}.", f"Be brief. It is {VALUE} now. Ask twice.", f"- {VALUE}", f"Now:\n{VALUE}"]
)


@given(LINES, WITH_VALUE, LINES, st.sampled_from(["\n", "\r\n"]))
def test_a_move_keeps_every_word_and_is_made_once(above: list[str], line: str, below: list[str], end: str) -> None:
    text = end.join([*above, line.replace("\n", end), *below])

    def move(now: str) -> str | None:
        start = now.index(VALUE)
        place = (start, start + len(VALUE))
        changes = moved_behind(Body(now, 0, len(now), (place,)), place)
        return None if changes is None else edited(now, [Edit("a", *change) for change in changes])

    after = move(text)
    if after is None:
        return
    assert sorted("".join(after.split())) == sorted("".join(text.split()))
    assert after.index(VALUE) > text.index(VALUE)
    assert after.count("\r\n") * 2 == after.count("\r\n") + after.count("\n") or end == "\n"
    assert move(after) is None
