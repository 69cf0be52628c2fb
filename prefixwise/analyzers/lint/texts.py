"""The second reading: the text of the pairs that part, and what records show beside it.

Memory holds the documents of pairs that still wait for their other half, and nothing else.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator

from prefixwise.analyzers.lint.asked import Asked, first_claim
from prefixwise.analyzers.lint.change import Change, first_change
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.compared import Compared, Served
from prefixwise.analyzers.lint.documents import Document, TurnReader
from prefixwise.analyzers.lint.example_messages import examples_change, may_hold_examples
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.lint.mended_replays import first_sent
from prefixwise.analyzers.lint.observed import Observer
from prefixwise.analyzers.lint.recitals import recital, suspects
from prefixwise.analyzers.lint.shared_texts import SharedTexts
from prefixwise.analyzers.lint.slots import SpanChange, answer_change, field_shape, span_change
from prefixwise.analyzers.lint.surroundings import Surroundings
from prefixwise.analyzers.lint.toolset import tools_of
from prefixwise.analyzers.lint.unfilled import UnfilledTexts
from prefixwise.core.finding import Verdict, Where
from prefixwise.core.request import Request
from prefixwise.corpus.again import Again
from prefixwise.corpus.exporter_marks import marks_of, masks_apart

_LONG_MESSAGE = 400
"""Tokens of a first message from which it may be a template with data in it."""
_LEAST_LOST = 64
_LEAST_SHARE = 0.2
"""Tokens, or share of the prompt, that a difference between two conversations must cost."""
_TEMPLATES = 40
"""First messages that are looked at in each application."""
_CUT_BEHIND = 200
"""Characters that two texts must share before an ending is taken for an exporter's note that it cut the rest."""
_CUT_NOTE = 80
_CUT = re.compile(r"(?is)\s*(?:…|\.\.\.)\s*|.*?(?:truncated|clipped|shortened|characters? omitted|more char).{0,40}")
_LOOKED_AT = 200
"""Changes of one field in one application of which all differing stretches are looked at."""
_WITH_TEXT = 12
"""Changes of one place whose texts are kept."""
_TEMPLATE_SHARE = 0.5
_TEMPLATE_CHARACTERS = 1_500
_MOST_KEPT = 1 << 26
"""Bytes of earlier messages that claims hold for repairs."""
_RENDERED = frozenset({"/prompt", "/text"})
"""Where whole prompts stand, system text and all."""


class TextReading:
    """Looks at the texts of pairs as the input passes by for the second time.

    Args:
        log: The rows; what records show beside text is filled in.
        asked: The rules.
        claims: What rules said before; what the text rules say is added.
    """

    def __init__(self, log: Log, asked: Asked, claims: list[Claim]) -> None:
        self._log = log
        self._asked = asked
        self._claims = claims
        self._first_claims = {claim.after: claim for claim in claims}
        self._waiting: dict[int, list[Compared]] = {}
        self._documents: dict[int, Document] = {}
        self._reader = TurnReader()
        self._unfilled = UnfilledTexts(log, self._reader)
        self._looked: Counter[Hashable] = Counter()
        self._places: Counter[Hashable] = Counter()
        self._kept = 0

    def changes(self, pairs: list[Compared], again: Again) -> list[SpanChange]:
        """Ask the text rules of each pair that parts, and return the changes of text that they leave.

        Args:
            pairs: Every pair that was compared.
            again: Reads the input once more.
        """
        self._wait_for(pairs)
        log, reader = self._log, self._reader
        observer, around, suspected = Observer(log), Surroundings(log, pairs), suspects(log)
        shared = SharedTexts(log, reader)
        found: list[SpanChange] = []

        def is_wanted(row: int, record: bytes) -> bool:
            if not log.is_plain(row) or row in self._waiting or row in suspected or shared.asks(row):
                return True
            around_asks = around.asks(row, log.rows.files[log.rows.file[row]], record)
            return around_asks or observer.asks(row, record) or self._unfilled.asks(row, record)

        for row, request in again(wanted=is_wanted):
            if row in suspected:
                log.recitals[row] = recital(request)
            seen = observer.observe(row, request)
            if around.asks(row, request.path, request.raw):
                seen = around.add(seen, request)
            if seen is not None:
                log.observed[row] = seen
            if shared.asks(row):
                shared.offer(row, request)
            if self._unfilled.asks(row, request.raw):
                self._unfilled.offer(row, request)
            if row in self._waiting:
                found += map(self._slim, self._complete(row, request))
        return found

    def _wait_for(self, pairs: Iterable[Compared]) -> None:
        templates: Counter[int] = Counter()
        for pair in pairs:
            if _wants_text(self._log, pair, templates):
                for row in (pair.before, pair.after):
                    self._waiting.setdefault(row, []).append(pair)

    def _complete(self, row: int, request: Request) -> Iterator[SpanChange]:
        """Look at the pairs for which a request was the one that was missing."""
        waiting, documents = self._waiting, self._documents
        documents[row] = Document(row, request, self._reader)
        for pair in waiting.pop(row):
            other = pair.before if row == pair.after else pair.after
            if other not in documents:
                waiting.setdefault(row, []).append(pair)
                continue
            pair.a, pair.b = documents[pair.before], documents[pair.after]
            change = self._look(pair, pair.a, pair.b)
            if change is not None:
                yield change
            pair.forget_texts()
            self._forget(other, pair)
        if row not in waiting:
            del documents[row]

    def _forget(self, row: int, pair: Compared) -> None:
        """Drop a document whose last pair has been looked at."""
        left = [waits for waits in self._waiting.get(row, ()) if waits is not pair]
        if left:
            self._waiting[row] = left
        else:
            self._waiting.pop(row, None)
            self._documents.pop(row, None)

    def _look(self, pair: Compared, a: Document, b: Document) -> SpanChange | None:
        change = pair.change = first_change(a, b, pair.same_items)
        if change is not None:
            pair.field, pair.char_offset = change.field, change.char_offset
            if _is_cut(change) or (pair.served is not Served.MISS and change.is_text and _is_masked(change)):
                return None
            self._unfilled.compare(pair, change)
        elif pair.served is Served.HIT and pair.reshaped is None:
            return answer_change(pair)
        if may_hold_examples(pair):
            return examples_change(pair)
        claim = first_claim(self._asked.text, pair)
        known = self._first_claims.get(pair.after)
        if known is not None:  # the front of the key has changed; the text is a second cause at most
            if claim is not None and claim.rule != known.rule:
                known.also = (*known.also, claim.rule)
            return None
        if claim is not None:
            self._keep_for_mending(claim, pair)
            self._claims.append(claim)
            return None
        return answer_change(pair) if change is None else self._moved(pair, change)

    def _keep_for_mending(self, claim: Claim, pair: Compared) -> None:
        """Note what the earlier request had in the place, as far as memory allows: a repair may need it."""
        if pair.a is None or pair.b is None:
            return
        if claim.where is Where.TOOLS:
            claim.tools = tuple(tuple(tool.value for tool in tools_of(document)) for document in (pair.a, pair.b))
        elif pair.alignment is not None:
            found = first_sent(pair.alignment)
            self._kept += sum(len(raw) for _, raw in found)
            if self._kept <= _MOST_KEPT:
                claim.resent = found

    def _moved(self, pair: Compared, change: Change) -> SpanChange | None:
        """Return the change of a text that no rule for texts claims; what is no text gets its fallback."""
        fallback = self._asked.otherwise(pair)
        if fallback is not None:
            self._keep_for_mending(fallback, pair)
        field = (self._log.applications[pair.after], field_shape(change.field))
        self._looked[field] += 1
        moved = span_change(pair, fallback, whole=self._looked[field] <= _LOOKED_AT)
        if moved is not None:
            return moved if _may_matter(pair, moved) else None
        if fallback is not None:
            self._claims.append(fallback)
        return None

    def _slim(self, change: SpanChange) -> SpanChange:
        """Return a change, with its whole texts only if it is one of the first of its place: those tell what it is."""
        place = (self._log.applications[change.after], change.place)
        self._places[place] += 1
        if self._places[place] <= _WITH_TEXT:
            return change
        return change.slim()


def _wants_text(log: Log, pair: Compared, templates: Counter[int]) -> bool:
    if pair.turn and pair.verdict is Verdict.EXTENDS and _answered_otherwise(log, pair):
        return True
    if pair.reshaped is not None and not log.is_engine(pair.after):
        return True
    if pair.served is Served.HIT and (pair.turn or pair.verdict is Verdict.BREAKS):
        return False
    if pair.verdict is Verdict.BREAKS:
        return True
    if pair.turn:
        return pair.served is Served.MISS
    rows, family = log.rows, log.applications[pair.after]
    first = rows.prompt_tokens[pair.after] - rows.system_end[pair.after]
    long_enough = first >= _LONG_MESSAGE or not rows.system_end[pair.after]
    if may_hold_examples(pair):
        return True
    if pair.verdict is Verdict.SHARED and long_enough and templates[family] < _TEMPLATES:
        templates[family] += 1
        return True
    return False


def _answered_otherwise(log: Log, pair: Compared) -> bool:
    """Say whether the log holds the earlier request's answer and the later one sends something else for it."""
    answer, messages = log.outlines.answer[pair.before], log.outlines.messages[pair.after]
    at = pair.same_items - len(log.outlines.head[pair.after])
    return answer != 0 and 0 <= at < len(messages) and messages[at] != answer


def _is_cut(change: Change) -> bool:
    """Say whether the exporter cut or blotted out one of the two texts that differ: then nobody knows."""
    if any(entry is not None and marks_of(entry.raw, entry.turn) for entry in (change.left, change.right)):
        return True
    if not change.is_text or change.char_offset is None or change.char_offset < _CUT_BEHIND:
        return False
    rests = (change.before[change.char_offset :], change.after[change.char_offset :])
    return any(len(rest) <= _CUT_NOTE and _CUT.fullmatch(rest) for rest in rests)


def _is_masked(change: Change) -> bool:
    """Say whether the exporter may have hidden something in one of two texts, and that is all in which they differ."""
    return masks_apart(change.before, change.after)


def _may_matter(pair: Compared, change: SpanChange) -> bool:
    """Say whether a change can be anything but a new question: the newest message may change as it likes.

    The exception is a prompt that stands in its newest message, template and all: most of it is the same again.
    """
    if not change.turn and change.lost < min(_LEAST_LOST, _LEAST_SHARE * pair.log.prompt(pair.after)):
        return False  # what stands behind it in the shared part of the prompt is not worth a word
    if change.where is not Where.MESSAGES or (change.turn and not change.newest):
        return True
    rendered = change.field in _RENDERED
    long_enough = rendered or change.equal_after >= _TEMPLATE_CHARACTERS
    return long_enough and change.equal_after >= _TEMPLATE_SHARE * max(change.length, 1)
