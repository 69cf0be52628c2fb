"""Lints a few records in memory and says whether they still show what is looked for."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import cast

import msgspec

from prefixwise.analyzers.lint.run import Linted, lint_log
from prefixwise.analyzers.rule import RULES
from prefixwise.caches.rulebook import Rulebook
from prefixwise.core.errors import UserError
from prefixwise.core.finding import Level, Where
from prefixwise.core.request import Request
from prefixwise.corpus.again import Wanted, requests_again
from prefixwise.corpus.corpus import read_corpus
from prefixwise.corpus.index import CorpusIndex
from prefixwise.corpus.outlines import Outlines
from prefixwise.corpus.prompt_tokenizer import PromptTokenizer
from prefixwise.corpus.reader import Reading, ReadOptions, first_bytes, reader_for
from prefixwise.corpus.sources import STDIN
from prefixwise.corpus.tokenizer import ChooseTokenizer, Tokenizer

_MOST_KNOWN = 200_000


class Target(msgspec.Struct, frozen=True):
    """What records must show.

    Attributes:
        rule: Name of the rule; `where`: the area that it speaks of.
        info: Whether it is only worth knowing.
        api: Whose bodies they are.
        paired: Whether the rule compares two requests.
    """

    rule: str
    where: Where
    info: bool
    api: str
    paired: bool


class Oracle:
    """Lints records that nobody has written to a file.

    Args:
        choose_tokenizer: As the log was counted.
        book: Facts on caches and prices.
        options: How the records are to be read.
    """

    def __init__(
        self,
        choose_tokenizer: ChooseTokenizer,
        book: Rulebook,
        options: ReadOptions = ReadOptions(),  # noqa: B008
    ) -> None:
        self._choose = _remembering(choose_tokenizer)
        self._book = book
        self._options = options
        self._rules = RULES.names()

    def lint(self, lines: Sequence[bytes]) -> tuple[Linted, dict[int, Request]] | None:
        """Return the linted records and the requests by row; None where one cannot be read."""
        stream = _stream(lines)
        index = CorpusIndex(self._choose, Outlines())
        try:
            corpus = read_corpus([STDIN], self._options, stdin=stream, index=index)
        except UserError:
            return None
        if len(corpus.rows) != len(lines) or corpus.broken:
            return None
        seen: dict[int, Request] = {}

        def again(*, wanted: Wanted | None = None) -> Iterator[tuple[int, Request]]:  # noqa: ARG001 - all are kept
            for row, request in requests_again([STDIN], corpus.rows, self._options, stream):
                seen[row] = request
                yield row, request

        return lint_log(corpus, again, self._rules, self._book), seen

    def requests(self, lines: Sequence[bytes]) -> list[Request] | None:
        """Return the requests in a log, one a line; None where one cannot be read."""
        stream = _stream(lines)
        reading: Reading = reader_for(STDIN, first_bytes(stream), self._options).open(STDIN, self._options)
        found = [request for request in reading.requests(stream) if isinstance(request, Request)]
        return found if len(found) == len(lines) else None

    def shows(self, lines: Sequence[bytes], target: Target, before: int, after: int) -> bool:
        """Say whether records still show a rule in the pair of two of them, by their numbers."""
        found = self.lint(lines)
        if found is None:
            return False
        linted, seen = found
        if any(seen[row].api != target.api for row in (before, after)):
            return False
        return shown_in(linted, target, before, after)

    def counts(self, lines: Sequence[bytes], before: int, after: int) -> tuple[list[int], int] | None:
        """Return the prompt tokens of every record, and how many two of them begin with alike."""
        found = self.lint(lines)
        if found is None:
            return None
        rows = found[0].log.rows
        kept = next((pair.kept for pair in found[0].pairs if (pair.before, pair.after) == (before, after)), 0)
        return list(rows.prompt_tokens), kept


def shown_in(linted: Linted, target: Target, before: int, after: int) -> bool:
    """Say whether a linted log shows a rule in the pair of two rows."""
    rows = linted.log.rows
    for claim in linted.claims:
        pair = claim.before == before if target.paired else claim.before in (None, before)
        if claim.rule == target.rule and claim.where is target.where and claim.after == after and pair:
            break
    else:
        return False
    ref = rows.ref(after)
    for finding in linted.values.findings:
        places = [place.pair.after if place.pair is not None else place.record for place in finding.occurrences]
        at = any(place is not None and (place.path, place.record) == (ref.path, ref.record) for place in places)
        if finding.rule == target.rule and at:
            return target.info or finding.level is not Level.INFO
    return False


def _stream(lines: Sequence[bytes]) -> io.BufferedReader:
    data = b"".join(line + b"\n" for line in lines)
    return io.BufferedReader(cast("io.RawIOBase", io.BytesIO(data)))


def _remembering(choose: ChooseTokenizer) -> ChooseTokenizer:
    """Return a choice of tokenizers that encode each text once: the records of one search are nearly the same."""
    known: dict[tuple[str, str], Tokenizer] = {}

    def chosen(provider: str, model: str) -> Tokenizer:
        key = (provider, model)
        if key not in known:
            tokenizer = choose(provider, model)
            known[key] = tokenizer if isinstance(tokenizer, PromptTokenizer) else _Remembering(tokenizer)
        return known[key]

    return chosen


class _Remembering:
    """A tokenizer that knows what it has encoded."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.name = tokenizer.name
        self.exact = tokenizer.exact
        self.note = tokenizer.note
        self.frame = tokenizer.frame
        self.cut = tokenizer.cut
        self.decode = tokenizer.decode
        self._encode = tokenizer.encode
        self._known: dict[str, bytes] = {}

    def encode(self, text: str) -> bytes:
        """Return the ids of `text`."""
        ids = self._known.get(text)
        if ids is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            ids = self._known[text] = self._encode(text)
        return ids
