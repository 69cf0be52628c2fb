"""What a reader must know of the log behind the figures: broken, joined, left-out, aborted, cut and partial records."""

from __future__ import annotations

from collections import Counter

from prefixwise.core.request import Mark
from prefixwise.corpus.corpus import Corpus

_SAID = {
    Mark.ABORTED: "{calls} ended before the answer was whole",
    Mark.CUT: "The exporter cut text in {calls}: what follows a cut is not known, and a cut text is not a changed text",
    Mark.REDACTED: "The exporter blotted out text in {calls}: texts that look the same may have differed",
    Mark.PARTIAL: "The log holds no system prompt and no tools of {calls}: the rules count the conversations only",
}


def log_notes(corpus: Corpus) -> list[str]:
    """Return one sentence for each thing that makes the log differ from what the model was sent."""
    notes = []
    broken = sum(file.broken for file in corpus.inputs)
    if broken:
        notes.append(f"{broken:,} broken record{_s(broken)} skipped; --strict makes the first one an error.")
    joined = sum(file.joined for file in corpus.inputs)
    if joined:
        notes.append(f"{joined:,} more record{_s(joined)} told of calls that were known already; they were joined.")
    left_out: Counter[str] = Counter()
    for file in corpus.inputs:
        left_out.update(dict(file.left_out))
    notes.extend(f"{_calls(number)} left out: {reason}." for reason, number in sorted(left_out.items()))
    for mark, sentence in _SAID.items():
        number = sum(bool(marks & mark) for marks in corpus.rows.marks)
        if number:
            notes.append(sentence.format(calls=_calls(number)) + ".")
    return notes


def _calls(number: int) -> str:
    return f"{number:,} call{_s(number)}"


def _s(number: int) -> str:
    return "" if number == 1 else "s"
