"""Where two texts differ, and how a person would quote it."""

from __future__ import annotations

import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.spans import sides

from prefixwise.analyzers.values.hunks import Hunk, common_prefix, hunks
from prefixwise.analyzers.values.labels import key_of, scope
from prefixwise.analyzers.values.quotes import quoted, whole_lines

TEXTS = st.text(alphabet='ab1 \n:-"{é', max_size=60)


def edited(text: str, seed: int) -> str:
    """Return a text with a few stretches replaced."""
    chance = random.Random(seed)
    for _ in range(chance.randint(1, 3)):
        at = chance.randint(0, len(text))
        text = text[:at] + chance.choice(["", "x", "09:14", "\nline\n", " b"]) + text[at + chance.randint(0, 5) :]
    return text


def naive_prefix(one: str, other: str) -> int:
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def reassembled(before: str, found: tuple[Hunk, ...]) -> str:
    """Return the earlier text with every hunk replaced by the later one's."""
    pieces, at = [], 0
    for hunk in found:
        pieces += [before[at : hunk.before_start], hunk.after_text]
        at = hunk.before_end
    return "".join([*pieces, before[at:]])


@given(TEXTS, TEXTS, st.integers(0, 999), st.booleans())
@example("a\nb\nc", "c\nb\na", 0, False)
def test_hunks_turn_one_text_into_the_other(before: str, other: str, seed: int, near: bool) -> None:
    after = edited(before, seed) if near else other
    found = hunks(before, after)
    assert reassembled(before, found) == after
    assert (found == ()) == (before == after)
    for hunk in found:
        assert before[hunk.before_start : hunk.before_end] == hunk.before_text
        assert after[hunk.after_start : hunk.after_end] == hunk.after_text
        assert hunk.before_text != hunk.after_text
    if found:
        assert found[0].before_start == found[0].after_start == naive_prefix(before, after)
    ends = [(hunk.before_end, hunk.after_end) for hunk in found]
    starts = [(hunk.before_start, hunk.after_start) for hunk in found]
    assert all(end[0] <= start[0] and end[1] <= start[1] for end, start in zip(ends, starts[1:], strict=False))


@given(TEXTS, TEXTS, st.integers(0, 999), st.booleans())
def test_a_quote_holds_the_first_differing_character(before: str, other: str, seed: int, near: bool) -> None:
    after = edited(before, seed) if near else other
    for hunk in hunks(before, after):
        quote = quoted(before, after, hunk)
        for side, differing in ((quote.old, hunk.before_text), (quote.new, hunk.after_text)):
            if differing and differing[0] != "\n" and differing.strip():
                assert side.line[side.part] == differing[0]
                assert side.start <= side.part < side.start + len(side.value)
        lines = whole_lines(before, after, hunk)
        assert hunk.before_text in lines.before_text
        assert hunk.after_text in lines.after_text


@given(TEXTS, TEXTS)
def test_the_common_prefix_is_that_of_a_plain_loop(one: str, other: str) -> None:
    assert common_prefix(one, other) == naive_prefix(one, other)


def test_far_differences_of_a_long_text_stand_apart() -> None:
    rules = "\n".join(f"{n}. Parcels of class {n % 7} go to desk {n * 31 % 97}." for n in range(4_000))
    before, after = (
        f"Time: {time}\n{rules}\nTokens left: {left}\n" for time, left in (("09:14:07", 90), ("09:14:52", 85))
    )
    found = hunks(before, after)
    assert [(hunk.before_text, hunk.after_text) for hunk in found] == [("07", "52"), ("90", "85")]


def test_values_of_one_line_stand_apart_and_one_value_does_not_fall_apart() -> None:
    before, after = sides('{"id":"7f31-068«2¦4»","received":"16:4«1¦3»"}')
    assert [hunk.before_text for hunk in hunks(before, after)] == ["2", "1"]
    before, after = sides("id «c463d8de-8d4a-4e40-936c-e46bb6cc6849¦0978ff77-8d4a-4771-8d9f-699569666a59» end")
    assert len(hunks(before, after)) == 1


def test_an_added_line_is_only_that() -> None:
    before, after = sides("- a\n«¦- b\n»- c\n- d\n")
    (hunk,) = hunks(before, after)
    assert (hunk.before_text, len(hunk.after_text)) == ("", 4)


QUOTES = [
    ("Time: 09:14:«07¦52» CET", "09:14:07", "09:14:52"),
    ("budget 11«8,400¦2,950» of", "118,400", "112,950"),
    ("at 2026-03-17T09:14:«07¦52»Z now", "2026-03-17T09:14:07Z", "2026-03-17T09:14:52Z"),
    ("at 2026-03-17 09:14:«07¦52» now", "2026-03-17 09:14:07", "2026-03-17 09:14:52"),
    ("id c463d8d«e¦f»-8d4a-4e40 end", "c463d8de-8d4a-4e40", "c463d8df-8d4a-4e40"),
    ("the d«oor¦ock» is", "door", "dock"),
    ("cwd: /home/mia/«app¦lib»/src", "/home/mia/app/src", "/home/mia/lib/src"),
    ("C:\\Users\\«mia¦jon»\\x", "C:\\Users\\mia\\x", "C:\\Users\\jon\\x"),
    ("[«just now¦2 minutes ago»] Ms", "[just now]", "[2 minutes ago]"),
    ("[«2¦7» minutes ago] Ms", "[2 minutes ago]", "[7 minutes ago]"),
    ("spent $3.«20¦85» so", "$3.20", "$3.85"),
    ("full «49¦61»% now", "49%", "61%"),
    ("it is 9:1«4¦5» PM now", "9:14 PM", "9:15 PM"),
    ("mail mia@«a¦b».example now", "mia@a.example", "mia@b.example"),
    ("see https://x.example/«a¦b»/c now", "https://x.example/a/c", "https://x.example/b/c"),
    ("«nothing to commit¦ M src/a.c»\n", "nothing to commit", " M src/a.c"),
    ("a\n«¦?? b.c\n»\nc", "", "?? b.c"),
    ("as promised.«\n\n¦»", " promised.\n\n", " promised."),
    ("«1¦12» apples", "1", "12"),
    ("12«34¦»", "1234", "12"),
    ("fr«\u00e5¦a\u030a»n K", "fr\u00e5n", "fra\u030an"),
    ('{"id": "«ab¦cd»"}', "ab", "cd"),
    ('tags: ["«a¦b»"]', "a", "b"),
]


@pytest.mark.parametrize(("row", "old", "new"), QUOTES)
def test_a_value_is_quoted_whole(row: str, old: str, new: str) -> None:
    before, after = sides(row)
    quote = quoted(before, after, hunks(before, after)[0])
    assert (quote.from_text, quote.to_text) == (old, new)


def test_a_quote_is_short_and_keeps_its_context() -> None:
    before, after = sides("# Role\nYou are a desk.\n" + "word " * 200 + "clock «09:14¦09:15» then " + "more " * 200)
    quote = quoted(before, after, hunks(before, after)[0])
    assert (quote.from_text, quote.to_text) == ("09:14", "09:15")
    assert quote.left.endswith("word clock ")
    assert quote.right.startswith(" then more")
    assert max(len(quote.left), len(quote.right)) <= 80
    assert max(len(quote.old.line), len(quote.new.line)) <= 500
    before, after = sides("«" + "all other words " * 40 + "¦" + "new text here " * 40 + "»")
    assert len(quoted(before, after, hunks(before, after)[0]).from_text) <= 160


SCOPES = [
    ('{"schema":"a.b","received":"«1¦2»"}', ("received",)),
    ("Current time: «1¦2»", ("current time",)),
    ("## Git status\n\n«1¦2»", ("git status",)),
    ("<env>\n<cwd>«1¦2»</cwd>\n</env>", ("cwd", "env")),
    ("# Desk\n## Memory\n- «1¦2»", ("memory",)),
    ("user:\n  name: «1¦2»", ("name", "user")),
    ('{\n  "user": {\n    "homeTown": "«1¦2»"\n  }\n}', ("home town", "user")),
    ('{"user": {"id": «1¦2»}}', ("id", "user")),
    ("| Time | «1¦2» |", ("time",)),
    ("PWD=«1¦2»", ("pwd",)),
    ('<event at="09:14" kind="«1¦2»">', ("kind",)),
    ("**Today:** «1¦2»", ("today",)),
    ("Files:\n- a\n- b\n- «1¦2»", ("files",)),
    ("<a>x</a>\n<b>\n«1¦2»", ("b",)),
    ("**Session**\n«1¦2»", ("session",)),
    ("Plain words and «1¦2»", ()),
    ("It starts at 10:30 with «1¦2»", ()),
    ("see https://a.example/«1¦2»", ()),
    ("# Rules\n" + "text\n" * 20 + "«1¦2»", ("rules",)),
    ("- Time zone: Oslo. Then comes the «1¦2»", ()),
]


@pytest.mark.parametrize(("row", "expected"), SCOPES)
def test_the_scope_of_a_value_is_named_nearest_first(row: str, expected: tuple[str, ...]) -> None:
    before, _ = sides(row)
    assert scope(before, row.index("«")) == expected


def test_a_key_has_few_words() -> None:
    assert key_of("a: ") == "a"
    assert key_of("messageId = ") == "message id"
    assert key_of("this is one of those sentences that has a colon: ") == ""
    assert key_of("") == ""
