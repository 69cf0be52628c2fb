"""Whether a differing value is a counter: a budget, a round, a share that moves as a session goes on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise

from prefixwise.analyzers.values.kinds import Candidate, SpanKind
from prefixwise.analyzers.values.labels import word_set
from prefixwise.analyzers.values.numbers import numbers
from prefixwise.analyzers.values.quotes import Quoted
from prefixwise.core.finding import Confidence

_TELLING = word_set(
    """
    remaining left used usage budget token tokens round rounds turn turns step steps cost costs spent spend
    percent % attempt attempts try tries retry retries iteration iterations iter loop count counter counts total
    progress messages calls requests credits credit quota context elapsed uptime duration runtime countdown
    completed pending processed seen consumed available characters chars unread queue cycle cycles pass tick
    ticks sequence seq exchanges replies interactions verbleibend verbleibende verbleibendes verbraucht übrig runde
    schritt versuch restant restants étape restante restantes tour tentative paso intento ronda quedan rimanenti passo
    tentativo resterend stap poging kvar steg осталось шаг попытка раунд pozostało krok próba kalan adım deneme
    المتبقي المتبقية الخطوة المحاولة
    """
)
_TELLING_PHRASE = re.compile(r"残り|残高|残量|回目|剩余|剩餘|第|轮|輪|步骤|ステップ|남은|단계|번째|회차")
_OTHERWISE = word_set(
    """
    price prices age zip postal postcode phone year version port room clause section article chapter figure
    temperature weather score rank rating distance weight height size id ids uuid nonce number no nr page line
    latitude longitude lat lon lng seat gate platform floor building street order invoice model release build
    salary balance dose bpm seed
    """
)
_LIMITS = word_set("most max maximum min minimum limit limits cap threshold ceiling default per size")
_RUNNING = word_set("remaining left used spent consumed so far")
_UNIT = re.compile(r"(?<=\d)\s?(?:[kKmMhs]|min)(?!\w)|(?<=\s)of(?=\s)")
_SIGNS = re.compile(r"[\d\s,._:%/$€£'’()\u00a0\u202f+–—-]+")
_CODE = re.compile(r"\d-\d|\d\.\d+\.\d{1,2}(?!\d)")
_BESIDE = 8
"""Characters beside a number in which scripts without spaces say what is counted."""
_MIXED = 0.6
"""Share of steps in one direction from which a labelled number still counts as a counter: budgets are refilled."""


def counter(place: Quoted, series: Sequence[str] = ()) -> Candidate | None:
    """Return the reading of a difference as a counter, None where the two values are no numbers.

    Args:
        place: The values in their context.
        series: The values of this place in order of time, where more than the two are known.
    """
    if not place.swapped or not (_is_numeric(place.old.value) and _is_numeric(place.new.value)):
        return None
    pair = _number_at(place.old.line, place.old.part), _number_at(place.new.line, place.new.part)
    if pair[0] is None or pair[1] is None or pair[0] == pair[1]:
        return None
    steps = _steps(series) if len(series) > 2 else []
    steps = steps or [pair[1] - pair[0]]
    rising = sum(step > 0 for step in steps) / len(steps)
    steady = max(rising, 1 - rising)
    # A word beside the number says what is counted; the words of a far heading often speak of something else.
    words = place.label_words | place.words_before | place.words_behind | frozenset(" ".join(place.scope[:2]).split())
    told = bool(words & _TELLING or _TELLING_PHRASE.search(place.left[-_BESIDE:] + place.right[:_BESIDE]))
    limit = bool((place.label_words | place.words_before) & _LIMITS) and not words & _RUNNING
    of_its_own = bool((place.label_words | place.words_before) & _OTHERWISE) and not place.label_words & _TELLING
    denied = limit or of_its_own
    return Candidate(
        SpanKind.COUNTER, _confidence(len(steps), steady, told=told, denied=denied), _evidence(steps, told=told)
    )


def _is_numeric(value: str) -> bool:
    """Tell whether a value is made of numbers with their signs and units, and is no date, address or code."""
    plain = _UNIT.sub("", value)
    return _SIGNS.fullmatch(plain) is not None and _CODE.search(plain) is None


def _confidence(steps: int, steady: float, *, told: bool, denied: bool) -> Confidence:
    if denied:
        return Confidence.POSSIBLE
    if told:
        return Confidence.LIKELY if steady >= _MIXED else Confidence.POSSIBLE
    return Confidence.LIKELY if steps >= 2 and steady == 1 else Confidence.POSSIBLE


def _evidence(steps: list[Decimal], *, told: bool) -> tuple[str, ...]:
    rising = sum(step > 0 for step in steps)
    if rising in (0, len(steps)):
        count = "1 step" if len(steps) == 1 else f"{len(steps)} steps"
        way = f"a number that {'rises' if rising else 'falls'} from call to call ({count})"
    else:
        way = f"a number that rises in {rising} of {len(steps)} steps and falls in the others"
    return (way, "the words beside it say that something is counted") if told else (way,)


def _number_at(line: str, at: int) -> Decimal | None:
    """Return the number that stands at a place of a line, or ends there."""
    low = max(0, at - 40)
    for number in numbers(line[low : at + 60]):
        if number.start <= at - low <= number.end:
            return number.value
    return None


def _steps(series: Sequence[str]) -> list[Decimal]:
    """Return the steps of the number in a series that moves; the first that does, where a value holds several."""
    rows = [[number.value for number in numbers(value)] for value in series]
    width = min(map(len, rows), default=0)
    best: list[Decimal] = []
    for column in zip(*(row[:width] for row in rows), strict=True):
        steps = [other - one for one, other in pairwise(column) if other != one]
        if steps and (not best or _steady(steps) > _steady(best)):
            best = steps
    return best


def _steady(steps: list[Decimal]) -> float:
    rising = sum(step > 0 for step in steps) / len(steps)
    return max(rising, 1 - rising)
