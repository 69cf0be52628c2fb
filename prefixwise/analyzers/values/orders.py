"""The same parts in another order, and other examples out of one set."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from prefixwise.analyzers.values.hunks import Hunk, common_prefix, common_suffix, one_hunk
from prefixwise.analyzers.values.kinds import Candidate, SpanKind
from prefixwise.core.finding import Confidence

_LONGEST = 8_000
_HEADING = 120
"""Characters in front of examples in which they may be called so."""
_WORD = r"(?:example|ex\.|sample|demo|shot|beispiel|exemple|ejemplo|esempio|exemplo|voorbeeld)"
_ASKED = r"(?:Q|Question|Input|User|Human|Frage|Pregunta|Entrada|Review|Text)"
_EXAMPLE = re.compile(
    rf"(?im)^[ \t]{{0,8}}(?:[#*_\[(]{{0,4}}\s?{_WORD}(?!\w)[^\n]{{0,40}}|<(?:example|sample|shot)\b[^>\n]{{0,80}}>"
    rf"|[*_]{{0,2}}{_ASKED}[*_]{{0,2}}(?:\s?\d{{1,3}})?\s?[:：])"
)
_NUMBERED = re.compile(
    rf"^[#*_\[(<\s]{{0,6}}(?:(?:{_WORD}|item|step|no\.?|question|q)\s?#?\d{{1,3}}\b"
    r"|\d{1,3}[.)\]])",
    re.IGNORECASE,
)
_SPOKEN_OF = ("example", "shot", "sample", "demonstration", "beispiel", "exempl", "ejempl", "esempi", "voorbeeld")
_COUNTED = "0123456789eaiotnsr"
"""Characters that two orders of the same parts hold equally often: counting them rules out nearly all texts at once."""
_BETWEEN_TAGS = re.compile(r"(?<=>)\s*(?=<)")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


def order_only(before: str, after: str) -> str | None:
    """Return what was put in another order (`lines`, `parts`, `sentences`, `blocks`, `examples`), None for no such.

    Two texts differ in order only if they hold the same parts equally often. Numbers that count the parts
    (`1.`, `Example 2:`) do not belong to them.
    """
    if before == after or max(len(before), len(after)) > _LONGEST:
        return None
    if any(before.count(character) != after.count(character) for character in _COUNTED):
        return None
    if len(one := _examples(before)) > 1 and _same(one, _examples(after)):
        return "examples"
    for name, split in _SPLITS:
        if _same(split(before), split(after)):
            return name
    return None


def _lines(text: str) -> list[str]:
    return [_NUMBERED.sub("", line).strip(" \t,;") for line in text.splitlines() if line.strip()]


def _blocks(text: str) -> list[str]:
    return [_NUMBERED.sub("", block.strip()).strip() for block in re.split(r"\n[ \t]*\n", text) if block.strip()]


def _parts(text: str) -> list[str]:
    for separator in (";", ",", "|", "、"):
        if text.count(separator) > 0:
            return [part.strip(" \t\n.()[]{}\"'") for part in text.replace(" and ", separator).split(separator)]
    return []


def _elements(text: str) -> list[str]:
    return _BETWEEN_TAGS.split(text.strip())


def _sentences(text: str) -> list[str]:
    return [part.strip() for part in _SENTENCE_END.split(text.strip())]


_SPLITS: tuple[tuple[str, Callable[[str], list[str]]], ...] = (
    ("lines", _lines),
    ("parts", _parts),
    ("blocks", _blocks),
    ("elements", _elements),
    ("sentences", _sentences),
)


def _same(one: list[str], other: list[str]) -> bool:
    return len(one) == len(other) > 1 and one != other and sorted(one) == sorted(other)


def _examples(text: str) -> list[str]:
    """Return the examples of a text without their numbers; none where fewer than two are marked as such."""
    starts = [match.start() for match in _EXAMPLE.finditer(text[:_LONGEST])]
    if len(starts) < 2:
        return []
    ends = [*starts[1:], len(text)]
    found = [text[start:end].strip() for start, end in zip(starts, ends, strict=True)]
    if not any("\n\n" in example for example in found[:-1]):  # what follows the last one is no part of it
        found[-1] = found[-1].partition("\n\n")[0]
    return [_bare(example) for example in found]


def _bare(example: str) -> str:
    head, _, rest = example.strip().partition("\n")
    return (_EXAMPLE.sub("", head) if _NUMBERED.match(head) else head).strip() + "\n" + rest.strip()


def subset_of_examples(before: str, after: str) -> str | None:
    """Return in words how the examples of two texts stand to each other, None where they hold none or the same ones."""
    low = before.lower()
    if not any(word in low for word in _SPOKEN_OF):
        return None
    one, other = _examples(before), _examples(after)
    if not one or not other or one == other:
        return None
    if sorted(one) == sorted(other):
        return "the same examples in another order"
    gone = [example for example in one if example not in other]
    come = [example for example in other if example not in one]
    if len(gone) == len(come) and any(_alike(old, new) for old, new in zip(gone, come, strict=True)):
        return None  # a value inside an example changed, or what follows the last one
    if len(gone) < len(one):
        return "other examples, some of them the same"
    return "other examples" if len(one) == len(other) else None


def _alike(one: str, other: str) -> bool:
    """Tell whether two examples are one with a change in it."""
    kept = common_prefix(one, other)
    kept += common_suffix(one, other, min(len(one), len(other)) - kept)
    return kept >= 0.6 * max(len(one), len(other))


def order(before: str, after: str, hunk: Hunk) -> Candidate | None:
    """Return the reading of a difference as the same parts in another order, None for any other.

    Looks at the line, then the paragraph, then the section in which the hunk lies, then at the lines from the first
    difference to the last: a section may be too long to look at, and its differences stand close together.
    """
    last = None
    for texts in _regions(before, after, hunk):
        if texts == last:
            continue
        last = texts
        what = order_only(*texts)
        if what == "examples":
            return Candidate(SpanKind.EXAMPLES, Confidence.CERTAIN, ("the same examples in another order",))
        if what:
            return Candidate(SpanKind.ORDER, Confidence.CERTAIN, (f"the same {what} in another order",))
    return None


def examples(before: str, after: str, hunk: Hunk) -> Candidate | None:
    """Return the reading of a difference as other examples of a set, None for any other."""
    one = _section(before, hunk.before_start, hunk.before_end)
    other = _section(after, hunk.after_start, hunk.after_end)
    if max(len(one), len(other)) > _LONGEST:
        one, other = _paragraphs_apart(before, after, heading=_HEADING)
    why = subset_of_examples(one, other) if max(len(one), len(other)) <= _LONGEST else None
    return Candidate(SpanKind.EXAMPLES, Confidence.LIKELY, (why,)) if why else None


def _regions(before: str, after: str, hunk: Hunk) -> Iterator[tuple[str, str]]:
    for region in (_line, _paragraph, _section):
        yield region(before, hunk.before_start, hunk.before_end), region(after, hunk.after_start, hunk.after_end)
    if len(before) == len(after) > _LONGEST:
        yield _lines_apart(before, after)
        yield _paragraphs_apart(before, after)


def _lines_apart(before: str, after: str) -> tuple[str, str]:
    return _apart(before, after, "\n")


def _paragraphs_apart(before: str, after: str, heading: int = 0) -> tuple[str, str]:
    """Return the paragraphs from the first difference of two texts to the last, and those just in front of them."""
    return _apart(before, after, "\n\n", heading)


def _apart(before: str, after: str, mark: str, heading: int = 0) -> tuple[str, str]:
    outer = one_hunk(before, after)
    if outer is None:
        return "", ""
    start = max(0, outer.before_start - heading)
    one = _between(before, start, outer.before_end, (mark,))
    return one, _between(after, start, outer.after_end, (mark,))


def _line(text: str, start: int, end: int) -> str:
    region = _between(text, start, end, ("\n",))
    head = region.find(": ")
    return region[head + 2 :] if 0 <= head < start and "\n" not in region else region


def _paragraph(text: str, start: int, end: int) -> str:
    return _between(text, start, end, ("\n\n",))


def _section(text: str, start: int, end: int) -> str:
    return _between(text, start, end, ("\n# ", "\n## ", "\n### "))


def _between(text: str, start: int, end: int, marks: tuple[str, ...]) -> str:
    """Return what stands around a stretch between two marks, no more than is worth comparing."""
    lowest, highest = max(0, start - _LONGEST), min(len(text), end + _LONGEST)
    begin = max((at + len(mark) for mark in marks if (at := text.rfind(mark, lowest, start)) >= 0), default=lowest)
    stops = [at for mark in marks if (at := text.find(mark, max(start, end - 1), highest)) >= 0]
    return text[begin : min(stops, default=highest)].strip("\n")
