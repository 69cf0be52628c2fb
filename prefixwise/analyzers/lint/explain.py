"""From a log to claims: pairs, rules in their order, and what no text explains.

The work goes over the input twice. The first reading made rows, which say for each request what it continues and
whether the two agree; the second looks at the text of those that part. Memory holds the documents of pairs that still
wait for their second half, and nothing else.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator

import msgspec

from prefixwise.analyzers.lint.change import first_change
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.compared import Compared, Served, compare
from prefixwise.analyzers.lint.documents import Document, TurnReader
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.lint.moving import MovingValue
from prefixwise.analyzers.lint.observed import Observer
from prefixwise.analyzers.lint.plateaus import settle
from prefixwise.analyzers.lint.recitals import recital, suspects
from prefixwise.analyzers.lint.shared_texts import SharedTexts
from prefixwise.analyzers.lint.slots import SpanChange, answer_change, field_shape, slots, span_change
from prefixwise.analyzers.lint.surroundings import Surroundings
from prefixwise.analyzers.lint.ways_back import ways_back
from prefixwise.analyzers.rule import RULES, LogRule, PairRule, SpanRule, Stage
from prefixwise.analyzers.values.kinds import SpanKind
from prefixwise.core.finding import Verdict, Where
from prefixwise.core.request import Request
from prefixwise.corpus.exporter_marks import marks_of

_EARLY = 50
"""Log rules below this rank are asked before the rules of the stage BEHIND: what makes every request of a log miss."""
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
_RENDERED = frozenset({"/prompt", "/text"})
"""Where whole prompts stand, system text and all."""


class Explained(msgspec.Struct, frozen=True):
    """What came out: every pair that was compared, by start of the later request, and every claim."""

    pairs: list[Compared]
    claims: list[Claim]


def explain(log: Log, again: Callable[[], Iterator[tuple[int, Request]]]) -> Explained:
    """Compare every request with the earlier one that it continues or resembles, and ask the rules.

    Args:
        log: The rows and how they follow each other; `observed` is filled in.
        again: Reads the input once more.
    """
    pairs = _pairs(log)
    asked = _Rules()
    claims = _at_the_front(pairs, asked)
    changes = _slimmed(log, _texts(log, pairs, again, asked, claims))
    claims += _moving_values(log, changes, asked)
    taken = log.explained = {claim.after for claim in claims}
    for rule in asked.log:
        if rule.rank < _EARLY:
            _take(claims, taken, rule.detect(log))
    for pair in pairs:
        if pair.after not in taken and _is_behind(pair):
            _take(claims, taken, filter(None, [_first(asked.behind, pair)]))
    for rule in asked.log:
        if rule.rank >= _EARLY:
            _take(claims, taken, rule.detect(log))
    settle(log, claims)
    claims += ways_back(log, pairs, claims)
    return Explained(pairs, claims)


class _Rules:
    """The rules in the order in which they are asked."""

    def named(self, kinds: Iterable[SpanKind]) -> list[str]:
        """Return the names of the rules for moving values that know these kinds."""
        known = {
            kind: rule.name for rule in reversed(self.span) if isinstance(rule, MovingValue) for kind in rule.kinds
        }
        return [known[kind] for kind in kinds if kind in known]

    def __init__(self) -> None:
        ordered = sorted(RULES, key=lambda rule: (rule.rank, rule.name))
        pair_rules = [rule for rule in ordered if isinstance(rule, PairRule)]
        self.front = _asked_at(Stage.FRONT, pair_rules)
        self.front_of_hits = [rule for rule in self.front if rule.despite_hits]
        self.text = _asked_at(Stage.TEXT, pair_rules)
        self.behind = _asked_at(Stage.BEHIND, pair_rules)
        self.span = [rule for rule in ordered if isinstance(rule, SpanRule)]
        self.log = [rule for rule in ordered if isinstance(rule, LogRule)]


def _asked_at(stage: Stage, rules: Iterable[PairRule]) -> list[PairRule]:
    return [rule for rule in rules if stage in (rule.stage, *rule.also_at)]


def _pairs(log: Log) -> list[Compared]:
    found = []
    for row in log.conversations.order:
        link = log.conversations.links[row]
        if link is not None:
            found.append(compare(log, link.before, row, turn=link.turn))
    return found


def _first(rules: Iterable[PairRule], pair: Compared) -> Claim | None:
    return _filled(next(filter(None, (rule.detect(pair) for rule in rules)), None), pair)


def _otherwise(asked: _Rules, pair: Compared) -> Claim | None:
    """Return what is to be said of a text where no rule knows the moving value."""
    return _filled(next(filter(None, (rule.otherwise(pair) for rule in asked.text)), None), pair)


def _filled(claim: Claim | None, pair: Compared) -> Claim | None:
    if claim is None:
        return None
    if claim.before is None and claim.lost is None:
        claim.before = pair.before
    if claim.lost is None:
        claim.lost = pair.lost
    return claim


def _take(claims: list[Claim], taken: set[int], found: Iterable[Claim]) -> None:
    for claim in found:
        claims.append(claim)
        taken.add(claim.after)
        taken.update(claim.explains)


def _at_the_front(pairs: Iterable[Compared], asked: _Rules) -> list[Claim]:
    """Return claims on model, parameters and namespace; where usage says that the prefix was served, there is none."""
    rules = ((asked.front_of_hits if pair.served is Served.HIT else asked.front, pair) for pair in pairs)
    return [claim for front, pair in rules if (claim := _first(front, pair)) is not None]


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
    if pair.verdict is Verdict.SHARED and long_enough and templates[family] < _TEMPLATES:
        templates[family] += 1
        return True
    return False


def _answered_otherwise(log: Log, pair: Compared) -> bool:
    """Say whether the log holds the earlier request's answer and the later one sends something else for it."""
    answer, messages = log.outlines.answer[pair.before], log.outlines.messages[pair.after]
    at = pair.same_items - len(log.outlines.head[pair.after])
    return answer != 0 and 0 <= at < len(messages) and messages[at] != answer


def _waiting(log: Log, pairs: list[Compared]) -> dict[int, list[Compared]]:
    """Return by row the pairs whose texts are to be looked at."""
    templates: Counter[int] = Counter()
    waiting: dict[int, list[Compared]] = {}
    for pair in pairs:
        if _wants_text(log, pair, templates):
            for row in (pair.before, pair.after):
                waiting.setdefault(row, []).append(pair)
    return waiting


def _texts(
    log: Log,
    pairs: list[Compared],
    again: Callable[[], Iterator[tuple[int, Request]]],
    asked: _Rules,
    claims: list[Claim],
) -> Iterator[SpanChange]:
    """Read the input again, ask the text rules of each pair that parts, and yield the changes that they leave."""
    waiting = _waiting(log, pairs)
    first_claims = {claim.after: claim for claim in claims}
    reader, documents, looked = TurnReader(), {}, Counter[Hashable]()
    observer, around, suspected = Observer(log), Surroundings(log, pairs), suspects(log)
    shared = SharedTexts(log, reader)
    for row, request in again():
        if row in suspected:
            log.recitals[row] = recital(request)
        seen = observer.observe(row, request)
        if around.asks(row):
            seen = around.add(seen, row, request)
        if seen is not None:
            log.observed[row] = seen
        shared.offer(row, request)
        if row not in waiting:
            continue
        documents[row] = Document(row, request, reader)
        for pair in waiting.pop(row):
            other = pair.before if row == pair.after else pair.after
            if other not in documents:
                waiting.setdefault(row, []).append(pair)
                continue
            pair.a, pair.b = documents[pair.before], documents[pair.after]
            change = _look(pair, asked, claims, first_claims, looked)
            if change is not None:
                yield change
            pair.forget_texts()
            _forget(waiting, documents, other, pair)
        if row not in waiting:
            del documents[row]


def _slimmed(log: Log, changes: Iterable[SpanChange]) -> list[SpanChange]:
    """Return the changes, with their whole texts only for the first few of a place: those tell what it is."""
    seen: Counter[Hashable] = Counter()
    kept = []
    for change in changes:
        place = (log.applications[change.after], change.place)
        seen[place] += 1
        slim = seen[place] > _WITH_TEXT
        kept.append(msgspec.structs.replace(change, before_text="", after_text="") if slim else change)
    return kept


def _forget(waiting: dict[int, list[Compared]], documents: dict[int, Document], row: int, pair: Compared) -> None:
    """Drop a document whose last pair has been looked at."""
    left = [waits for waits in waiting.get(row, ()) if waits is not pair]
    if left:
        waiting[row] = left
    else:
        waiting.pop(row, None)
        documents.pop(row, None)


def _look(
    pair: Compared, asked: _Rules, claims: list[Claim], first_claims: dict[int, Claim], looked: Counter[Hashable]
) -> SpanChange | None:
    assert pair.a is not None and pair.b is not None  # noqa: S101, PT018 - both documents are at hand here
    pair.change = first_change(pair.a, pair.b, pair.same_items)
    if pair.change is not None:
        pair.field, pair.char_offset = pair.change.field, pair.change.char_offset
        if _is_cut(pair):
            return None
    elif pair.served is Served.HIT and pair.reshaped is None:
        return answer_change(pair)
    claim = _first(asked.text, pair)
    fallback = _otherwise(asked, pair) if claim is None and pair.change is not None else None
    known = first_claims.get(pair.after)
    if known is not None:  # the front of the key has changed; the text is a second cause at most
        if claim is not None and claim.rule != known.rule:
            known.also = (*known.also, claim.rule)
        return None
    if claim is not None:
        claims.append(claim)
        return None
    if pair.change is None:
        moved = answer_change(pair)
    else:
        field = (pair.log.applications[pair.after], field_shape(pair.change.field))
        looked[field] += 1
        moved = span_change(pair, fallback, whole=looked[field] <= _LOOKED_AT)
    if moved is None:
        if fallback is not None:
            claims.append(fallback)
        return None
    return moved if _may_matter(pair, moved) else None


def _is_cut(pair: Compared) -> bool:
    """Say whether the exporter cut or blotted out one of the two texts that differ: then nobody knows."""
    change = pair.change
    if change is None:
        return False
    if any(entry is not None and marks_of(entry.raw, entry.turn) for entry in (change.left, change.right)):
        return True
    if not change.is_text or change.char_offset is None or change.char_offset < _CUT_BEHIND:
        return False
    rests = (change.before[change.char_offset :], change.after[change.char_offset :])
    return any(len(rest) <= _CUT_NOTE and _CUT.fullmatch(rest) for rest in rests)


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


def _moving_values(log: Log, changes: list[SpanChange], asked: _Rules) -> list[Claim]:
    """Ask the rules for moving values, a place at a time; what none knows gets its fallback."""
    found = []
    for slot in slots(changes, log):
        claim = next((claim for rule in asked.span if (claim := rule.detect(slot)) is not None), None)
        if claim is not None:
            claim.also = (*claim.also, *asked.named(slot.behind))
        for change in slot.changes:
            if claim is not None:
                found.append(_spread(claim, change))
            elif change.fallback is not None:
                found.append(change.fallback)
    return found


def _spread(claim: Claim, change: SpanChange) -> Claim:
    """Return what a rule says of a place, said of one of its changes."""
    return msgspec.structs.replace(
        claim,
        before=change.before,
        after=change.after,
        field=change.field,
        char_offset=change.char_offset,
        from_text=change.quote.from_text,
        to_text=change.quote.to_text,
        lost=change.lost,
    )


def _is_behind(pair: Compared) -> bool:
    """Say whether the texts agree and yet, as far as is known, nothing was served."""
    if pair.verdict is Verdict.BREAKS or pair.served is Served.HIT:
        return False
    return pair.turn or pair.served is Served.MISS
