"""Lint of a log, from the corpus to the document that `prefixwise/lint` promises."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator

import msgspec

from prefixwise.analyzers.lint.causes import Cause, causes
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.compared import Compared
from prefixwise.analyzers.lint.conversations import conversations
from prefixwise.analyzers.lint.document import LintInput, LintValues, lint_input, lint_summary
from prefixwise.analyzers.lint.explain import explain
from prefixwise.analyzers.lint.log import Log
from prefixwise.caches.rulebook import Rulebook
from prefixwise.core.errors import UserError
from prefixwise.core.excerpt import Excerpts
from prefixwise.core.finding import ComparedPair, Verdict
from prefixwise.corpus.again import Again
from prefixwise.corpus.corpus import Corpus

_VERDICTS = {"ttl-expired": Verdict.TTL_GAP, "compaction": Verdict.COMPACTION}


class Linted(msgspec.Struct, frozen=True):
    """A linted log: the document, and what it was made from."""

    log: Log
    values: LintValues
    pairs: list[Compared]
    claims: list[Claim]
    causes: list[Cause]


def lint_log(
    corpus: Corpus,
    again: Again,
    wanted: Collection[str],
    book: Rulebook | None = None,
    excerpts: Excerpts = Excerpts.MASKED,
) -> Linted:
    """Return what is wrong with the prefixes of a log, and what every request was compared with.

    Args:
        corpus: Read with outlines.
        again: Reads the same input once more.
        wanted: Names of the rules whose findings are wanted.
        book: Facts on caches and prices; the packaged ones by default.
        excerpts: How much of the prompts' text the findings may show.

    Raises:
        UserError: The input holds no text.
    """
    if corpus.index is None or corpus.index.outlines is None:
        what = ", ".join(file.path for file in corpus.inputs)
        raise UserError("a trace holds no text to lint", what, "hitrate counts traces; lint the log that it came from")
    outlines = corpus.index.outlines
    log = Log(corpus, outlines, conversations(corpus.rows, outlines), book or Rulebook())
    explained = explain(log, again)
    claims = [claim for claim in explained.claims if claim.rule in wanted]
    caused = causes(log, claims, excerpts)
    found = tuple(cause.finding for cause in caused)
    values = LintValues(
        inputs=_inputs(log),
        findings=found,
        pairs=tuple(_pairs(log, explained.pairs, explained.claims)),
        suppressed=(),
        summary=lint_summary(found),
    )
    return Linted(log, values, explained.pairs, explained.claims, caused)


def _inputs(log: Log) -> tuple[LintInput, ...]:
    rows = log.rows
    providers: dict[int, Counter[int]] = {}
    for file, provider in zip(rows.file, rows.provider, strict=True):
        providers.setdefault(file, Counter())[provider] += 1
    names = {
        rows.files[file]: rows.providers[max(counts, key=lambda number: (counts[number], -number))]
        for file, counts in providers.items()
    }
    return tuple(lint_input(file, names.get(file.path, "")) for file in log.corpus.inputs)


def _pairs(log: Log, pairs: list[Compared], claims: list[Claim]) -> Iterator[ComparedPair]:
    """Yield every pair, in order of the later record; a verdict that only a rule can give replaces the texts'."""
    said = {(claim.before, claim.after): _VERDICTS[claim.rule] for claim in claims if claim.rule in _VERDICTS}
    for pair in sorted(pairs, key=lambda pair: pair.after):
        yield ComparedPair(
            log.rows.ref(pair.before),
            log.rows.ref(pair.after),
            said.get((pair.before, pair.after), pair.verdict),
            pair.field,
            pair.char_offset,
            pair.kept,
        )
