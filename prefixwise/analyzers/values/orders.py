"""The same parts in another order, and other examples out of one set."""

from __future__ import annotations

import re
from collections.abc import Callable

from prefixwise.analyzers.values.hunks import Hunk
from prefixwise.analyzers.values.kinds import Candidate, SpanKind
from prefixwise.core.finding import Confidence

_LONGEST = 8_000
_EXAMPLE = re.compile(
    r"(?im)^[ \t]{0,8}(?:[#*_\[(]{0,4}\s?(?:example|ex\.|sample|demo|beispiel|exemple|ejemplo|esempio|exemplo|voorbeeld|shot)\b[^\n]{0,40}|<(?:example|sample|shot)\b[^>\n]{0,80}>"
    r"|(?:[*_]{0,2}(?:Q|Question|Input|User|Human|Frage|Pregunta|Entrada|Review|Text)[*_]{0,2}(?:\s?\d{1,3})?\s?[:：]))"
)
_NUMBERED = re.compile(r"^(?:[#*_\[(<]{0,4}\s?\w{2,10}\s?#?\d{1,3}\b|\s*(?:\(?\d{1,3}[.)\]]))")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


def order_only(before: str, after: str) -> str | None:
    """Return what was put in another order (`lines`, `parts`, `sentences`, `blocks`, `examples`), None for no such.

    Two texts differ in order only if they hold the same parts equally often. Numbers that count the parts
    (`1.`, `Example 2:`) do not belong to them.
    """
    if before == after or abs(len(before) - len(after)) > 16 + len(before) // 8:
        return None
    if len(before) > _LONGEST or len(after) > _LONGEST:
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


def _sentences(text: str) -> list[str]:
    return [part.strip() for part in _SENTENCE_END.split(text.strip())]


_SPLITS: tuple[tuple[str, Callable[[str], list[str]]], ...] = (
    ("lines", _lines),
    ("parts", _parts),
    ("blocks", _blocks),
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
    return [_bare(text[start:end]) for start, end in zip(starts, ends, strict=True)]


def _bare(example: str) -> str:
    head, _, rest = example.strip().partition("\n")
    return (_EXAMPLE.sub("", head) if _NUMBERED.match(head) else head).strip() + "\n" + rest.strip()


def subset_of_examples(before: str, after: str) -> str | None:
    """Return in words how the examples of two texts stand to each other, None where they hold none or the same ones."""
    one, other = _examples(before), _examples(after)
    if not one or not other or one == other:
        return None
    if sorted(one) == sorted(other):
        return "the same examples in another order"
    shared = set(one) & set(other)
    if shared:
        return "other examples, some of them the same"
    return "other examples" if len(one) == len(other) else None


def order(before: str, after: str, hunk: Hunk) -> Candidate | None:
    """Return the reading of a difference as the same parts in another order, or as other examples.

    Looks at the line, then the paragraph, then the section in which the hunk lies.
    """
    last = None
    for region in (_line, _paragraph, _section):
        texts = region(before, hunk.before_start, hunk.before_end), region(after, hunk.after_start, hunk.after_end)
        if texts == last or max(map(len, texts)) > _LONGEST:
            continue
        last = texts
        what = order_only(*texts)
        if what == "examples":
            return Candidate(SpanKind.EXAMPLES, Confidence.CERTAIN, ("the same examples in another order",))
        if what:
            return Candidate(SpanKind.ORDER, Confidence.CERTAIN, (f"the same {what} in another order",))
    examples = subset_of_examples(*texts) if max(map(len, texts)) <= _LONGEST else None
    return Candidate(SpanKind.EXAMPLES, Confidence.LIKELY, (examples,)) if examples else None


def _line(text: str, start: int, end: int) -> str:
    begin = text.rfind("\n", 0, start) + 1
    stop = text.find("\n", max(start, end - 1))
    line = text[begin : stop if stop >= 0 else len(text)]
    return line[line.find(": ") + 2 :] if ": " in line[: start - begin] else line


def _paragraph(text: str, start: int, end: int) -> str:
    begin = text.rfind("\n\n", 0, start)
    stop = text.find("\n\n", max(start, end - 1))
    return text[begin + 2 if begin >= 0 else 0 : stop if stop >= 0 else len(text)].strip("\n")


def _section(text: str, start: int, end: int) -> str:
    begin = text.rfind("\n# ", 0, start), text.rfind("\n## ", 0, start)
    stops = [at for at in (text.find("\n# ", max(start, end - 1)), text.find("\n## ", max(start, end - 1))) if at >= 0]
    head = max(begin)
    return text[head + 1 if head >= 0 else 0 : min(stops, default=len(text))]
