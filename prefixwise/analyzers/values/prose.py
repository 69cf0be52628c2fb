"""Whether a difference is prose that was put in for one call: passages, notes, memories."""

from __future__ import annotations

import re

from prefixwise.analyzers.values.hunks import Hunk
from prefixwise.analyzers.values.kinds import Candidate, SpanKind
from prefixwise.analyzers.values.labels import word_set
from prefixwise.analyzers.values.quotes import Quoted
from prefixwise.core.finding import Confidence

_LONGEST = 4_000
_WORD = re.compile(r"[^\W\d_]{2,}(?:['’-][^\W\d_]+)*")
_PIECE = re.compile(r"\S+")
_STOP = re.compile(r"[.!?。][\"'”)\]]?(?:\s|\Z)|\n")
_ITEM = re.compile(r"(?m)^\s{0,8}(?:[-*+•]|\[?\(?\d{1,3}[.)\]])\s+\S")
_MARK = re.compile(r"(?:[-*+•]|\[?\(?\d{1,3}[.)\]])\s+")
_FEW = 2
_CODE = re.compile(r"[{}<>;=|\\]")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")

_RETRIEVED = word_set(
    """
    passages passage context contexts memory memories remember remembered recalled recall knowledge document
    documents docs source sources search results result snippets snippet notes note facts fact retrieved
    relevant references excerpts excerpt evidence background articles article news weather summary history
    chunks faq records findings web observations preferences insights learned kontext quellen gedächtnis
    contexte mémoire contexto memoria conversation reminders reminder transcript
    """
)

_RECALLED = word_set(
    """
    passages memory memories remember remembered recalled recall retrieved snippets snippet excerpts gedächtnis mémoire
    """
)


def prose(place: Quoted, hunk: Hunk, before: str = "", after: str = "") -> Candidate | None:
    """Return the reading of a difference as replaced prose, None where it is too short or no prose.

    Args:
        place: The values in their context.
        hunk: The difference.
        before: The whole earlier text, where the list in which it stands may be looked at.
        after: The whole later text.
    """
    texts = hunk.before_text[:_LONGEST], hunk.after_text[:_LONGEST]
    longest = max(texts, key=len)
    count = word_count(longest)
    recalled = bool(place.scope_words & _RECALLED)
    if count < 4 or not is_prose(longest):
        return (_short(place) if recalled and place.swapped else None) or _other_items(before, after, hunk)
    sentences = _sentences(longest)
    items = len(_ITEM.findall(longest))
    named = bool(place.scope_words & _RETRIEVED)
    evidence = [_size(count, sentences, items)]
    if named:
        evidence.append("stands under a heading for retrieved text")
    if all(text.strip() for text in texts) and _same_build(*texts):
        evidence.append("both sides are built alike")
    sure = named or sentences >= 2 or items >= 2 or count >= 12
    if not sure and (listed := _other_items(before, after, hunk)) is not None:
        return listed
    return Candidate(SpanKind.PROSE, Confidence.LIKELY if sure else Confidence.POSSIBLE, tuple(evidence))


def _short(place: Quoted) -> Candidate | None:
    """Return the reading of a few words that changed inside a line of recalled text."""
    lines = place.old.line, place.new.line
    if any(word_count(line) < 3 or not is_prose(line) for line in lines) or not place.new.value[:1].isalpha():
        return None
    return Candidate(SpanKind.PROSE, Confidence.LIKELY, ("words in a line under a heading for recalled text",))


def _other_items(before: str, after: str, hunk: Hunk) -> Candidate | None:
    """Return the reading of a list that has other items of prose in the later text, the first of them short."""
    one, other = _list_around(before, hunk.before_start), _list_around(after, hunk.after_start)
    gone, come = [line for line in one if line not in other], [line for line in other if line not in one]
    if not gone or len(come) < _FEW or not all(map(is_prose, [*gone, *come])):
        return None
    if sum(map(word_count, come)) < _FEW * len(come):
        return None
    return Candidate(SpanKind.PROSE, Confidence.LIKELY, (f"a list with {len(come)} other items",))


def _list_around(text: str, at: int) -> list[str]:
    """Return the items of the list in which a place lies, without their marks; none where it lies in none."""
    begin, stop = text.rfind("\n\n", max(0, at - _LONGEST), at), text.find("\n\n", at, at + _LONGEST)
    lines = text[max(begin, 0) if begin >= 0 else max(0, at - _LONGEST) : stop if stop >= 0 else at + _LONGEST]
    start = at - (begin if begin >= 0 else max(0, at - _LONGEST))
    items: list[str] = []
    inside = False
    end = 0
    for line in lines.splitlines(keepends=True):
        end += len(line)
        if _ITEM.match(line):
            items.append(_MARK.sub("", line.strip(), count=1))
        elif line.strip() and items:
            if inside:
                break
            items = []
        inside = inside or (bool(items) and end > start)
    return items if inside else []


def word_count(text: str) -> int:
    """Return how many words a text has; of scripts that are written without spaces, two characters count as one."""
    return len(_WORD.findall(text)) + len(_CJK.findall(text)) // 2


def _sentences(text: str) -> int:
    """Return how many sentences of some length end in a text."""
    count = last = 0
    for match in _STOP.finditer(text):
        count += match.start() - last > 8 and match[0][0] != "\n"
        last = match.end()
    return count


def is_prose(text: str) -> bool:
    """Tell whether a text is made of words more than of codes, numbers and signs."""
    pieces = _PIECE.findall(text)
    if not pieces or len(_CODE.findall(text)) > 0.06 * len(text):
        return False
    if len(_CJK.findall(text)) > 0.3 * len(text):
        return True
    wordy = sum(bool(_WORD.fullmatch(piece.strip(".,;:!?()[]\"'“”‘’*_-–—…"))) for piece in pieces)
    marks = sum(not any(map(str.isalnum, piece)) for piece in pieces)
    return wordy >= 0.6 * (len(pieces) - marks)


def _size(words: int, sentences: int, items: int) -> str:
    if items >= 2:
        return f"{items} list items"
    return f"{sentences} sentences" if sentences >= 2 else f"{words} words of text"


def _same_build(one: str, other: str) -> bool:
    """Tell whether two texts have the same sort of lines: items or none, as long within a factor of four."""
    first, second = bool(_ITEM.search(one)), bool(_ITEM.search(other))
    return first == second and max(len(one), len(other)) <= 4 * min(len(one), len(other))
