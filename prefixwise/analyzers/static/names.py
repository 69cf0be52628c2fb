"""What the name of a variable says about its value: whether it changes by itself, how, and how often.

Names are read word by word, in any casing and in several natural languages. Every word of a name has to fit: `date`
and `current_date` are the clock's, `release_date` is not. What no word tells is not guessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from prefixwise.analyzers.static import name_words as of
from prefixwise.analyzers.static.precision import finest_unit
from prefixwise.analyzers.static.volatile import Frequency, VolatileKind
from prefixwise.core.finding import Confidence


class Judgement(NamedTuple):
    """What a name or a call says about its value.

    Attributes:
        kind: What makes the value change; `frequency`: how often.
        precision: Of clocks: the finest unit printed (`second`, `minute`, `hour`, `day`), '' where unknown.
        confidence: How sure that is; `because`: a clause that says why.
    """

    kind: VolatileKind
    frequency: Frequency
    precision: str = ""
    confidence: Confidence = Confidence.LIKELY
    because: str = ""


class Use(StrEnum):
    """What a value is to a prompt where nothing says that it changes by itself."""

    TURN = "turn"
    """The request itself or the conversation so far: it has to change."""
    SETTLED = "settled"
    """Fixed when the application is deployed."""
    OPEN = "open"
    """Not told by the name."""


_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+[0-9]?(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+|\d+")
_PATH = re.compile(r"\.|\[|\]|::|->")
_ACCENTED = re.compile(r"[^\W\d_]+")
_JOINED = {("time", "stamp"): "timestamp", ("date", "time"): "datetime", ("time", "zone"): "timezone"}
_PHRASES = {
    ("environment", "details"): "environment state",
    ("environment", "info"): "environment state",
    ("system", "info"): "environment state",
    ("host", "info"): "environment state",
    ("machine", "info"): "environment state",
    ("data", "current"): "current date",
    ("data", "de", "today"): "current date",
}
_RELATIVE_FILTERS = of.words("timeago timesince naturaltime humanize fromnow ago relative relative_time time_ago")
_RANDOM_FILTERS = of.words("random shuffle sample uuid random_sample random_choice")
_CALLED = re.compile(r"[\w.]+")
_QUOTED = re.compile(r"""(["'])(.*?)\1""")


def judge(name: str, filters: Sequence[str] = ()) -> Judgement | None:
    """Say whether a value of this name changes by itself; None where nothing says so.

    Args:
        name: A variable, a dotted path, or a call without its arguments.
        filters: What is done to it before it is printed, as written: `date("HH:mm")`, `upper`.
    """
    by_filter = _by_filter(name, filters)
    if by_filter is not None:
        return by_filter
    found = _judge(name)
    if found is None or found.kind is not VolatileKind.CLOCK:
        return found
    return with_formats(found, [text for used in filters for _, text in _QUOTED.findall(used)])


def with_formats(clock: Judgement, formats: Sequence[str]) -> Judgement | None:
    """Return a clock as it is when printed in these formats; None where only month or year are left of it."""
    unit = next((unit for unit in map(finest_unit, formats) if unit), "")
    if not unit:
        return clock
    if unit in ("month", "year"):
        return None
    frequency = Frequency.DAY if unit == "day" else Frequency.CALL
    return clock._replace(precision=unit, frequency=frequency)


@lru_cache(maxsize=4096)
def use(name: str) -> Use:
    """Say what a value of this name is to a prompt, if it does not change by itself."""
    whole = _canonical(name)
    if _is_turn(whole):
        return Use.TURN
    return Use.SETTLED if _is_settled(whole) else Use.OPEN


@lru_cache(maxsize=4096)
def name_words(name: str) -> tuple[str, ...]:
    """Return the words of a name, in lower case, English, one spelling each."""
    parts = _ACCENTED.findall(name) if not name.isascii() else _PART.findall(name)
    if not name.isascii():
        parts = [piece for part in parts for piece in (_PART.findall(part) if part.isascii() else [part])]
    found: list[str] = []
    for part in parts:
        lowered = part.lower()
        found += of.SAME.get(lowered, lowered).split("_")
    joined: list[str] = []
    for word in found:
        if joined and (joined[-1], word) in _JOINED:
            joined[-1] = _JOINED[(joined[-1], word)]
        else:
            joined.append(word)
    return tuple(joined)


@lru_cache(maxsize=4096)
def _judge(name: str) -> Judgement | None:
    whole = _canonical(name)
    if not whole or name.startswith("loop.") or _is_turn(whole):
        return None
    for rule in _RULES:
        found = rule(whole)
        if found is not None:
            return found
    return None


def _canonical(name: str) -> tuple[str, ...]:
    """Return the words that tell something: objects that only hold values and filling words left out."""
    pieces = [piece for piece in _PATH.split(name.strip("$#@ ").replace("()", "")) if piece.strip("\"' ")]
    while len(pieces) > 1 and pieces[0].strip("$#@").lower() in of.CONTAINERS:
        pieces = pieces[1:]
    whole = name_words(".".join(pieces))
    if whole in _PHRASES:
        return tuple(_PHRASES[whole].split())
    if len(whole) == 1:
        return whole
    kept = tuple(word for word in whole if word not in of.FILLERS)
    if kept == ("name",):
        return whole  # of a field, of an operating system: not of a person
    return kept or whole[:1]


def _is_turn(whole: tuple[str, ...]) -> bool:
    if whole == ("email",):
        return True
    if not whole or whole[-1] not in of.TURN_HEADS:
        return False
    return all(word in of.TURN_MODIFIERS or word in of.TURN_HEADS for word in whole[:-1])


def _is_settled(whole: tuple[str, ...]) -> bool:
    if not whole:
        return False
    if whole[0] in of.SETTLED_FIRST or whole[-1] in of.SETTLED_HEADS:
        return True
    if whole[-1] == "token" and whole[0] in of.TOKEN_OWNERS:
        return True
    if whole[-1] in of.SYSTEM_TEXTS and whole[0] in of.SYSTEM_OWNERS:
        return True
    return len(whole) > 1 and whole[-1] in ("name", "role", "id") and whole[0] in of.SETTLED_NAMES


def _by_filter(name: str, filters: Sequence[str]) -> Judgement | None:
    called = {match[0].lower() for match in map(_CALLED.match, filters) if match is not None}
    if called & _RELATIVE_FILTERS:
        return Judgement(VolatileKind.RELATIVE_TIME, Frequency.CALL, because="it is printed as an age")
    if called & _RANDOM_FILTERS:
        examples = {"examples", "few"} & set(name_words(name))
        kind = VolatileKind.EXAMPLES if examples else VolatileKind.IDENTIFIER
        return Judgement(kind, Frequency.CALL, because="it is drawn at random")
    return None


def _examples(whole: tuple[str, ...]) -> Judgement | None:
    if whole[-1] not in ("examples", "few_shot", "shot", "demonstrations", "demos"):
        return None
    if not set(whole) & of.SELECTED:
        return None
    return Judgement(VolatileKind.EXAMPLES, Frequency.CALL, because="its name says that examples are chosen")


def _relative_time(whole: tuple[str, ...]) -> Judgement | None:
    since = (
        "since" in whole
        and "previous" not in whole
        and set(whole) & of.words("time last seconds minutes hours days elapsed")
    )
    if "ago" in whole or since or whole == ("last", "seen"):
        return Judgement(VolatileKind.RELATIVE_TIME, Frequency.CALL, because="its name says how long ago something was")
    return None


def _clock(whole: tuple[str, ...]) -> Judgement | None:
    found = set(whole)
    if whole in (("current", "day"), ("day", "week"), ("day", "name"), ("current", "day", "week")):
        return Judgement(VolatileKind.CLOCK, Frequency.DAY, "day", because="its name is a day's")
    if whole == ("time", "day"):
        return Judgement(VolatileKind.CLOCK, Frequency.CALL, "hour", because="its name is a clock's")
    if not found & of.TIME_WORDS or not found <= of.TIME_WORDS | of.TIME_MODIFIERS:
        return None
    if found <= of.words("user date") and "user" in found:
        return None
    precision = ""
    if found & of.words("timestamp epoch unix ms millis second seconds"):
        precision = "second"
    elif not found & of.FINER_THAN_DAY and found & of.words("today date weekday day"):
        precision = "day"
    elif "minute" in found or "hour" in found:
        precision = "minute" if "minute" in found else "hour"
    frequency = Frequency.DAY if precision == "day" else Frequency.CALL
    return Judgement(VolatileKind.CLOCK, frequency, precision, because="its name is a clock's")


def _counter(whole: tuple[str, ...]) -> Judgement | None:
    found, last = set(whole), whole[-1]
    measured = found & of.QUANTITIES
    stage = found & of.STAGES
    counts = (
        (len(whole) == 1 and last in of.BARE_COUNTERS)
        or (bool(measured or stage) and (last in of.LEFT_WORDS or whole[0] in of.LEFT_WORDS))
        or (bool(measured) and last in of.words("usage used percent far so") and whole[0] not in of.SETTLED_FIRST)
        or whole in (("total", "cost"), ("total", "spent"), ("cost", "total"))
        or (bool(stage) and last in of.words("number count index") and "tool" not in found and len(whole) == 2)
        or (len(whole) == 2 and whole[0] == "current" and last in of.words("turn round iteration step attempt cycle"))
    )
    if not counts or whole[0] in of.words("max maximum min minimum allowed initial"):
        return None
    return Judgement(VolatileKind.COUNTER, Frequency.CALL, because="its name is a counter's")


def _identifier(whole: tuple[str, ...]) -> Judgement | None:
    found = set(whole)
    if found & of.RANDOM_WORDS and not found & of.words("seed state tenant model org workspace"):
        owner = found & of.SESSION_NOUNS
        frequency = Frequency.SESSION if owner else Frequency.CALL
        if found & of.RANDOM_WORDS == {"uuid"} and found - of.ID_HEADS - of.CALL_NOUNS - of.SESSION_NOUNS - {"new"}:
            return None
        return Judgement(VolatileKind.IDENTIFIER, frequency, because="its name is that of a random value")
    if len(whole) < 2 or whole[-1] not in of.ID_HEADS or "tool" in found:
        return None
    owners = found - of.ID_HEADS - of.words("current client x parent last")
    if owners and owners <= of.CALL_NOUNS | of.SESSION_NOUNS:
        frequency = Frequency.CALL if owners & of.CALL_NOUNS else Frequency.SESSION
        return Judgement(VolatileKind.IDENTIFIER, frequency, because=f"its name is that of a {sorted(owners)[0]}'s id")
    return None


def _environment(whole: tuple[str, ...]) -> Judgement | None:
    found, last = set(whole), whole[-1]
    state = (
        (whole[0] == "git" and last in of.GIT_STATE)
        or (last in of.TREE_HEADS and bool(found & of.TREE_OWNERS))
        or (whole[0] in of.OPEN_WORDS and last in of.OPEN_HEADS)
        or (last == "usage" and whole[0] in of.words("cpu ram memory disk gpu"))
        or (whole[0] == "environment" and last in of.words("variables vars state context environment"))
        or whole in (("terminal", "output"), ("battery", "level"), ("system", "load"), ("clipboard",))
    )
    if state:
        return Judgement(VolatileKind.ENVIRONMENT, Frequency.CALL, because="its name is that of the machine's state")
    place = whole in (("cwd",), ("pwd",), ("workdir",), ("hostname",), ("host", "name"), ("current", "cwd")) or (
        last in of.PLACES and bool(found & of.PLACE_OWNERS) and len(whole) <= 3
    )
    if place:
        return Judgement(
            VolatileKind.ENVIRONMENT, Frequency.SESSION, because="its name is that of a place on a machine"
        )
    if len(whole) == 2 and whole[0] in of.MACHINES and last in of.MACHINE_HEADS:
        return Judgement(VolatileKind.ENVIRONMENT, Frequency.PROCESS, because="its name is that of a machine")
    return None


def _retrieved(whole: tuple[str, ...]) -> Judgement | None:
    found, last = set(whole), whole[-1]
    kind = VolatileKind.RETRIEVED
    if last in of.BULLETINS and not found & of.LASTING_NOTICES:
        return Judgement(kind, Frequency.SESSION, because=f"its name says that a {last} is filled in")
    if last == "summary" and whole[0] in of.SUMMARISED:
        return Judgement(kind, Frequency.SESSION, confidence=Confidence.POSSIBLE, because="it sums the conversation up")
    if last in of.RETRIEVAL_HEADS:
        rest = found - {last}
        looked_up = rest - of.RETRIEVAL_HEADS <= of.RETRIEVAL_MODIFIERS
        if (rest and looked_up and whole != ("user", "context")) or (not rest and last in of.RETRIEVAL_ALONE):
            vague = rest and rest <= of.VAGUE_MODIFIERS
            confidence = Confidence.POSSIBLE if vague else Confidence.LIKELY
            return Judgement(kind, Frequency.CALL, confidence=confidence, because="its name is that of looked-up text")
    if whole[0] in of.FRESH and len(whole) > 1 and (last.endswith("s") or last in of.FRESH_HEADS):
        return Judgement(kind, Frequency.CALL, because=f"its name says {whole[0]}")
    return None


def _person(whole: tuple[str, ...]) -> Judgement | None:
    found = set(whole)
    if any(found == alone for alone in of.PERSONAL_ALONE):
        return Judgement(VolatileKind.PERSON, Frequency.SESSION, because="its name is that of personal data")
    if whole == ("name",):
        return Judgement(
            VolatileKind.PERSON, Frequency.SESSION, confidence=Confidence.POSSIBLE, because="its name may be a person's"
        )
    persons = found & of.PERSONS
    if not persons or not found <= of.PERSONS | of.ATTRIBUTES:
        return None
    alone = found == persons
    if persons <= of.WEAK_PERSONS and not found & of.words("name email phone profile preferences address birthday age"):
        return None
    confidence = Confidence.POSSIBLE if alone or whole[-1] in ("role", "language", "locale") else Confidence.LIKELY
    because = f"its name is that of a {sorted(persons)[0]}'s data"
    return Judgement(VolatileKind.PERSON, Frequency.SESSION, confidence=confidence, because=because)


def _fixed(rule: Callable[[tuple[str, ...]], Judgement | None]) -> Callable[[tuple[str, ...]], Judgement | None]:
    """Return a rule that leaves alone what is fixed when an application is deployed."""

    def judged(whole: tuple[str, ...]) -> Judgement | None:
        return None if _is_settled(whole) and not set(whole) & of.PERSONS else rule(whole)

    return judged


_RULES: tuple[Callable[[tuple[str, ...]], Judgement | None], ...] = (
    _examples,
    _relative_time,
    _fixed(_clock),
    _counter,
    _identifier,
    _fixed(_environment),
    _fixed(_retrieved),
    _fixed(_person),
)
