"""Which values of a template change by themselves in front of constant text, and what that text amounts to."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from prefixwise.analyzers.static.context import PromptContext
from prefixwise.analyzers.static.name_words import words
from prefixwise.analyzers.static.names import Judgement, Use, judge, name_words, use
from prefixwise.analyzers.static.sources import Source
from prefixwise.analyzers.static.templates.declared import judge_declaration
from prefixwise.analyzers.static.templates.found import Stranded
from prefixwise.analyzers.static.templates.front_matter import About
from prefixwise.analyzers.static.templates.parts import ControlKind, Passage, Placeholder, Template, Text, Value
from prefixwise.analyzers.static.templates.tokens import count_tokens
from prefixwise.analyzers.static.volatile import Frequency, Volatile, VolatileKind
from prefixwise.core.finding import Confidence, Step, Where

# Tokens of constant text behind a value from which it is worth saying: for values that change with who asks,
# those that change on every call, variables whose value is not known to change, and those of the newest message.
_LEAST_BEHIND = 64
_LEAST_BEHIND_TICKS = 32
_LEAST_STRANDED = 128
_LEAST_IN_NEWEST = 512
# Fewer than these count only if they are a good part of the constant text: the tail of a long prompt is no loss.
_CERTAIN_BEHIND = 256
_LEAST_SHARE = 0.1
_COLLECTIONS = frozenset({VolatileKind.RETRIEVED, VolatileKind.EXAMPLES, VolatileKind.ENVIRONMENT, VolatileKind.TOOLS})
_TICKS = frozenset({VolatileKind.CLOCK, VolatileKind.IDENTIFIER, VolatileKind.COUNTER, VolatileKind.RELATIVE_TIME})
_TEXTS = words("prompt message template")
_ASKING = words("user human input")
_PRESENT = frozenset({"now", "today", "current"})
_HISTORY = frozenset({"history", "messages", "conversation", "transcript", "scratchpad", "chat"})


class _Candidate(NamedTuple):
    """A placeholder, the worst of what it prints, and what is said of that."""

    at: int
    placeholder: Placeholder
    value: Value
    judgement: Judgement | None
    use: Use
    history: bool

    @property
    def ticks(self) -> bool:
        """Whether it is another value on every call, whoever asks."""
        found = self.judgement
        return found is not None and found.kind in _TICKS and found.frequency is Frequency.CALL


class _Place(NamedTuple):
    """Where a placeholder stands in cache order, with the constant text in front of it and behind it in tokens."""

    candidate: _Candidate
    area: Where
    newest: bool
    before: int
    behind: int
    behind_turn: bool
    history_behind: bool

    def matters(self, least: int) -> bool:
        """Say whether more than a tail of the constant text stands behind it."""
        if self.behind < least:
            return False
        return self.behind >= _CERTAIN_BEHIND or self.behind >= _LEAST_SHARE * (self.before + self.behind)


class Judged(NamedTuple):
    """What is wrong with the order of one prompt."""

    volatiles: tuple[Volatile, ...]
    stranded: tuple[Stranded, ...]


def judge_template(source: Source, template: Template, about: About) -> Judged:
    """Return the values of a template that make constant text behind them another prompt."""
    volatiles: list[Volatile] = []
    stranded: list[Stranded] = []
    seen: set[tuple[VolatileKind, str]] = set()
    for place in _places(template, about):
        judgement, value = place.candidate.judgement, place.candidate.value
        if judgement is not None:
            key = (judgement.kind, value.name.split(".", 1)[0])
            if key not in seen and (found := _volatile(source, place, judgement)):
                seen.add(key)
                volatiles.append(found)
        elif (loose := _stranded(source, place, about.context)) is not None:
            stranded.append(loose)
    return Judged(tuple(volatiles), _one_stranded(volatiles, stranded))


def _places(template: Template, about: About) -> Iterator[_Place]:
    """Yield the placeholders that may matter, with what stands around them."""
    parts = [(index, part) for index, message in enumerate(template.messages) for part in message.parts]
    candidates = [_candidate(at, part, about) for at, (_, part) in enumerate(parts) if isinstance(part, Placeholder)]
    last_history = max((candidate.at for candidate in candidates if candidate.history), default=-1)
    texts = [part.text if isinstance(part, Text) and _is_sent(part) else "" for _, part in parts]
    sizes = [len(text) if text.isascii() else 4 * len(text) for text in texts]
    rest = list(itertools.accumulate(reversed(sizes), initial=0))[::-1]
    kept = [candidate for candidate in candidates if _may_matter(candidate, rest[candidate.at], last_history)]
    if not kept:
        return
    before = list(itertools.accumulate((count_tokens(text) if text else 0 for text in texts), initial=0))
    newest = _newest(template, about.context)
    first_turn = next((candidate.at for candidate in candidates if candidate.use is Use.TURN), len(parts))
    for candidate in kept:
        at = candidate.at
        index = parts[at][0]
        area, behind = template.messages[index].area, before[-1] - before[at]
        yield _Place(candidate, area, index == newest, before[at], behind, at > first_turn, at < last_history)


def _may_matter(candidate: _Candidate, rest: int, last_history: int) -> bool:
    """Say whether a placeholder is worth counting tokens for; a token of most texts has more than two characters."""
    if candidate.judgement is None and candidate.use is Use.SETTLED:
        return False
    if candidate.ticks and candidate.at < last_history:
        return True
    return rest >= 2 * (_LEAST_STRANDED if candidate.judgement is None else _LEAST_BEHIND_TICKS)


def _candidate(at: int, placeholder: Placeholder, about: About) -> _Candidate:
    value, judgement = _worst(placeholder, about)
    return _Candidate(at, placeholder, value, judgement, _use(placeholder, about), _is_history(placeholder))


def _is_sent(text: Text) -> bool:
    """Say whether a text is sent once in every prompt, as far as the template tells."""
    return all(control.kind is ControlKind.CONDITION for control in text.within)


def _newest(template: Template, context: PromptContext) -> int:
    """Return the index of the message that is the newest turn, -1 where none is."""
    last = len(template.messages) - 1
    if template.roles:
        return last if last >= 0 and template.messages[last].role in ("user", "human") else -1
    return last if context.role in ("user", "human") else -1


def _use(placeholder: Placeholder, about: About) -> Use:
    found = {use(_collection(value) or value.name) for value in placeholder.values if not _is_fixed(value, about)}
    return Use.TURN if Use.TURN in found else Use.OPEN if Use.OPEN in found else Use.SETTLED


def _collection(value: Value) -> str:
    return value.loop.names[0] if value.loop is not None and value.loop.names else ""


def _is_fixed(value: Value, about: About) -> bool:
    return not value.name or value.name.split(".", 1)[0] in about.fixed


def _is_history(placeholder: Placeholder) -> bool:
    names = [_collection(value) or value.name for value in placeholder.values]
    return any(use(name) is Use.TURN and not _HISTORY.isdisjoint(name_words(name)) for name in names)


def _worst(placeholder: Placeholder, about: About) -> tuple[Value, Judgement | None]:
    """Return the value of a placeholder that changes most often, and what is said of it."""
    judged = [(value, found) for value in placeholder.values if (found := _judge(value, about)) is not None]
    if not judged:
        return placeholder.values[0], None
    return min(judged, key=lambda pair: pair[1].frequency.rank)


def _judge(value: Value, about: About) -> Judgement | None:
    if _is_fixed(value, about):
        return None
    walked = _collection(value)
    if walked and (found := judge(walked)) is not None and found.kind in _COLLECTIONS:
        return found
    found = judge(value.name, value.filters)
    last = value.name.rpartition(".")[2]
    if found is None and walked and not _PRESENT.isdisjoint(name_words(last)):
        found = judge(last, value.filters)  # of what is seen from inside a loop, not all belongs to its items
    if found is None and use(value.name) is Use.OPEN and (said := about.declared.get(value.name.split(".", 1)[0])):
        found = judge_declaration(said)
    return found


def _volatile(source: Source, place: _Place, judgement: Judgement) -> Volatile | None:
    value, ticks = place.candidate.value, place.candidate.ticks
    history = place.history_behind and ticks
    matters = place.matters(_LEAST_BEHIND_TICKS if ticks else _LEAST_BEHIND)
    if place.newest or not (matters or history) or (place.behind_turn and judgement.kind not in _TICKS):
        return None
    start, end = value.start, value.end
    if not value.flow and value.loop is not None and judgement.kind in _COLLECTIONS:
        start, end = value.loop.start, value.loop.end
    span, quote = source.quote(start, end)
    evidence = [judgement.because] if judgement.because else []
    if matters:
        evidence.append(f"{place.behind:,} tokens of constant text stand behind it")
    if history:
        evidence.append("the conversation so far stands behind it")
    return Volatile(
        kind=judgement.kind,
        frequency=judgement.frequency,
        path=source.path,
        span=span,
        quote=quote,
        area=place.area,
        flow=tuple(_steps(source, value.flow)),
        confidence=Confidence.POSSIBLE if place.behind_turn else judgement.confidence,
        precision=judgement.precision,
        stable_behind=place.behind,
        name=value.name,
        evidence=tuple(evidence),
        named=True,
        once=_is_of_a_user(source.path),
    )


def _is_of_a_user(path: str) -> bool:
    """Say whether a file is by its name the message of a user, and no system text."""
    stem = name_words(path.rsplit("/", 1)[-1].split(".", 1)[0])
    while stem[-1:] and stem[-1] in _TEXTS:
        stem = stem[:-1]
    return bool(stem) and stem[-1] in _ASKING


def _steps(source: Source, flow: tuple[Passage, ...]) -> Iterator[Step]:
    for step in flow:
        yield Step(source.path, source.span(step.start, step.end), step.note)


def _stranded(source: Source, place: _Place, context: PromptContext) -> Stranded | None:
    role, placeholder = place.candidate.use, place.candidate.placeholder
    least = _LEAST_IN_NEWEST if place.newest else _LEAST_STRANDED
    minimum = context.minimum
    total = place.before + place.behind
    if judge(place.candidate.value.name) is not None:
        return None  # a clock of which only the year is printed
    if role is Use.SETTLED or not place.matters(least) or (minimum is not None and total < minimum):
        return None
    span, quote = source.quote(placeholder.start, placeholder.end)
    because = "it is the request itself" if role is Use.TURN else "its name does not tell whether it changes"
    return Stranded(
        path=source.path,
        span=span,
        quote=quote,
        name=_collection(place.candidate.value) or place.candidate.value.name,
        tokens_before=place.before,
        tokens_behind=place.behind,
        minimum=minimum,
        confidence=Confidence.LIKELY if role is Use.TURN else Confidence.POSSIBLE,
        evidence=(because,),
    )


def _one_stranded(volatiles: Sequence[Volatile], stranded: Sequence[Stranded]) -> tuple[Stranded, ...]:
    """Return the variable to speak of: the first that is the request itself, else the first of all.

    A variable that may be the same for years is nothing new behind a value that changes by itself.
    """
    certain = next((found for found in stranded if found.confidence is Confidence.LIKELY), None)
    if certain is not None:
        return (certain,)
    first = stranded[0] if stranded else None
    if first is None or any(found.stable_behind and found.stable_behind >= first.tokens_behind for found in volatiles):
        return ()
    return (first,)
