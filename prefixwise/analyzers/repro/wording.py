"""Takes the words out of a shrunk pair, all but those without which lint would say something else."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import msgspec

from prefixwise.analyzers.diff import Difference, difference
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.repro.deltas import Probes, smallest
from prefixwise.analyzers.repro.oracle import Oracle, Target
from prefixwise.analyzers.repro.pseudonyms import Pseudonyms
from prefixwise.analyzers.repro.redaction import Redactor, words_of
from prefixwise.analyzers.repro.samples import Sample
from prefixwise.analyzers.repro.shrinking import Pair
from prefixwise.analyzers.values.hunks import hunks
from prefixwise.analyzers.values.quotes import quoted
from prefixwise.core.request import Request

_ANSWER = "response"
"""The key of the answer in a record of our own."""
_LONGEST = 20_000


class Reworded(msgspec.Struct, frozen=True):
    """A pair without its words.

    Attributes:
        pair: The records.
        kept: Words and numbers that stand as they were: lint needs them.
        shows: Whether lint still says what it said.
    """

    pair: Pair
    kept: tuple[str, ...]
    shows: bool


def reworded(pair: Pair, claim: Claim, target: Target, oracle: Oracle, key: bytes, probes: Probes) -> Reworded:
    """Return a pair with other words in the place of its own.

    Words of the differing values, and of what speaks of them, are kept where lint would not know the value otherwise:
    as few as will do. Secrets are never kept.

    Args:
        pair: Shows the target.
        claim: What the rule says of it.
        target: What it should still show.
        oracle: Says whether it does.
        key: Of the mapping from words to words.
        probes: How many tries there are.
    """
    requests = oracle.requests([msgspec.json.encode(sample.record) for sample in pair.samples])
    parted = _parted(requests, pair)

    def of(kept: Collection[str]) -> Pair:
        return _redacted(pair, parted, key, kept)

    def holds(kept: Collection[str]) -> bool:
        return of(kept).shows(oracle, target)

    if holds(()):
        return Reworded(of(()), (), shows=True)
    for pool in _pools(claim, parted, pair):
        if holds(pool):
            kept = smallest(pool, holds, probes)
            return Reworded(of(kept), tuple(kept), shows=True)
    return Reworded(of(()), (), shows=False)


def _redacted(pair: Pair, parted: Difference | None, key: bytes, kept: Collection[str]) -> Pair:
    redactor = Redactor(Pseudonyms(key, kept))
    if parted is not None and parted.char_offset is not None:
        redactor.part(parted.first_text, parted.second_text, parted.char_offset)
    return msgspec.structs.replace(pair, samples=tuple(_sample(sample, redactor) for sample in pair.samples))


def _sample(sample: Sample, redactor: Redactor) -> Sample:
    body = redactor.body(sample.body)
    if not sample.path:
        return Sample(body, ())
    return sample.with_body(_around(sample.record, sample.path, redactor), body)


def _around(record: dict[str, Any], path: Sequence[str], redactor: Redactor) -> dict[str, Any]:
    """Return what stands around the body at `path`; the body stays as it is."""
    found: dict[str, Any] = {}
    for name, value in record.items():
        if name != path[0]:
            found[name] = redactor.answer(value) if name == _ANSWER else redactor.around(value)
        else:
            found[name] = value if len(path) == 1 else _around(value, path[1:], redactor)
    return found


def _parted(requests: Sequence[Request] | None, pair: Pair) -> Difference | None:
    if requests is None or pair.before == pair.after:
        return None
    try:
        return difference(requests[pair.before], requests[pair.after])
    except ValueError:
        return None


def _pools(claim: Claim, parted: Difference | None, pair: Pair) -> Iterator[list[str]]:
    """Yield the words that may be kept, fewest first.

    They are those of the quoted value and its labels; of the whole values that differ; and those that exporters wrote
    around the bodies, by which a reader knows their format.
    """
    quotes = [text for text in (claim.from_text, claim.to_text) if text]
    values: list[str] = []
    if parted is not None:
        values = [parted.first_text, parted.second_text]
        found = hunks(*values) if parted.char_offset is not None and max(map(len, values)) <= _LONGEST else ()
        if found:
            quote = quoted(values[0], values[1], found[0])
            quotes += [quote.from_text, quote.to_text, quote.line_before, quote.line_after, *quote.scope]
    values = [value for value in values if len(value) <= _LONGEST]
    around = [text for sample in pair.samples for text in _texts_around(sample.record, sample.path)]
    for texts in (quotes, [*quotes, *values], [*quotes, *values, *around]):
        words = dict.fromkeys(word for text in texts for word in words_of(text))
        if words:
            yield list(words)


def _texts_around(value: Any, path: Sequence[str]) -> Iterator[str]:
    """Yield the texts that stand around the body at `path`, answers left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts_around(item, ("",))
    elif isinstance(value, dict) and path:
        for name, inner in value.items():
            if name != path[0] and name != _ANSWER:
                yield from _texts_around(inner, ("",))
            elif name == path[0] and len(path) > 1:
                yield from _texts_around(inner, path[1:])
