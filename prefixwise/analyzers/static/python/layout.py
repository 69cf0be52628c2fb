"""What stands in front of what in a prompt, and what a moving piece of it costs there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from prefixwise.analyzers.static.names import Use, judge, name_words, use
from prefixwise.analyzers.static.python.frames import Frame
from prefixwise.analyzers.static.python.hits import Hit, Strength
from prefixwise.analyzers.static.python.pieces import (
    Choice,
    Element,
    Gap,
    Hop,
    Moving,
    Origin,
    Piece,
    Slot,
    constant_text,
    leaves,
)
from prefixwise.analyzers.static.volatile import Frequency, VolatileKind
from prefixwise.core.finding import Where

CHARACTERS_A_TOKEN = 4
_FEW = 8
"""Tokens of constant text that are no loss worth naming: a full stop, a closing tag."""
_SOME = 16
"""Tokens behind a value of a person or conversation that make it worth moving."""
_LONG = 128
"""Tokens behind a value in a user message that make it a template with its instructions at the end."""
_OWN_TEXT = frozenset({VolatileKind.UNORDERED, VolatileKind.KEY_ORDER, VolatileKind.EXAMPLES, VolatileKind.TOOLS})
"""What costs its own text, which stays the same but for its order."""
_REQUESTS = frozenset({"task", "query", "question", "request", "topic", "problem", "objective", "goal", "requirement"})
"""Words in names of what a message is about."""
_PER_CONVERSATION = frozenset({VolatileKind.PERSON, VolatileKind.RETRIEVED, VolatileKind.ENVIRONMENT})


class Section(NamedTuple):
    """A part of a prompt, in cache order.

    Attributes:
        area: Of the prompt.
        pieces: Its text.
        told: What moves in it is to be told.
        again: A conversation stands behind it, so that it is sent again with every turn.
    """

    area: Where
    pieces: tuple[Piece, ...]
    told: bool = True
    again: bool = False


class Behind(NamedTuple):
    """Constant text behind a place: its known length, and what is constant and of unknown length."""

    characters: int = 0
    fixed: str = ""

    @property
    def tokens(self) -> int:
        """Its known length."""
        return self.characters // CHARACTERS_A_TOKEN


class Prompt(NamedTuple):
    """A prompt at the place where it is put together or sent.

    Attributes:
        sections: Its parts, in cache order.
        strength: How well it is known to be one.
        sent: The step that sends it.
        history: Whether messages of a conversation follow; None where that is not known.
    """

    sections: Sequence[Section]
    strength: Strength
    sent: Hop
    history: bool | None = None


def lay_out(frame: Frame, prompt: Prompt) -> None:
    """Take note of all that moves in a prompt."""
    behind = Behind()
    for section in reversed(prompt.sections):
        asked = _asked(section)
        if asked < len(section.pieces):
            # What changes with the request could still be put in front of it; what stands there already gains nothing.
            untold = section._replace(told=False)
            behind = _walk(frame, prompt, untold, section.pieces[asked:], behind)
            last = section.pieces[asked - 1]
            _walk(frame, prompt, section if isinstance(last, Moving) else untold, (last,), behind)
            behind = _walk(frame, prompt, section, section.pieces[: asked - 1], Behind())
        else:
            behind = _walk(frame, prompt, section, section.pieces, behind)


def _asked(section: Section) -> int:
    """Return where in a message the request itself ends the prefix: what stands behind is computed anew anyhow."""
    if section.area is not Where.MESSAGES or section.again:
        return len(section.pieces)
    ends = (index for index, piece in enumerate(section.pieces, 1) if any(map(_is_asked, leaves((piece,)))))
    return next(ends, len(section.pieces))


def _is_asked(piece: Piece) -> bool:
    """Say whether a piece is the request, or what was looked up for it."""
    if isinstance(piece, Moving):
        return piece.origin.kind is VolatileKind.RETRIEVED and piece.origin.frequency is Frequency.CALL
    if not isinstance(piece, Gap) or piece.fixed:
        return False
    return use(piece.name) is Use.TURN or bool(_REQUESTS & set(name_words(piece.name)))


def _walk(frame: Frame, prompt: Prompt, section: Section, pieces: tuple[Piece, ...], behind: Behind) -> Behind:
    for piece in reversed(pieces):
        if isinstance(piece, str):
            behind = behind._replace(characters=behind.characters + len(piece))
        elif isinstance(piece, Gap):
            behind = behind._replace(fixed=piece.name or "text") if piece.fixed else behind
        elif isinstance(piece, Choice):
            ends = [_walk(frame, prompt, section, way, behind) for way in piece.ways]
            most = max(constant_text(way) for way in piece.ways)
            fixed = next((end.fixed for end in ends if end.fixed), "")
            behind = Behind(behind.characters + most, fixed)
        elif section.told:
            moving = _as_moving(frame, section, piece)
            if moving is not None:
                frame.world.hits.add(_hit(frame, prompt, section, moving, behind))
    return behind


def _as_moving(frame: Frame, section: Section, piece: Piece) -> Moving | None:
    if isinstance(piece, Slot):
        judged = judge(piece.name)
        if judged is None:
            return None
        origin = Origin(
            judged.kind,
            judged.frequency,
            piece.path,
            piece.start,
            piece.end,
            piece.name,
            judged.precision,
            judged.confidence,
            judged.because,
            named=True,
            weak=(piece.path, str(piece.start)),
        )
        return Moving(origin, (), frame.loops)
    if isinstance(piece, Element):
        shows = piece.counter and section.area is Where.SYSTEM and piece.loop in frame.loops
        return piece.moving if shows else None
    return piece if isinstance(piece, Moving) else None


def frequency_at(frame: Frame, moving: Moving) -> Frequency:
    """Return how often a value changes from one prompt to the next.

    What is made before the loop that sends it stays as it is for all that the loop sends.
    """
    frequency = moving.origin.frequency
    outside = any(loop not in moving.loops for loop in frame.loops)
    return Frequency.SESSION if outside and frequency is Frequency.CALL else frequency


def _hit(frame: Frame, prompt: Prompt, section: Section, moving: Moving, behind: Behind) -> Hit:
    kind, frequency = moving.origin.kind, frequency_at(frame, moving)
    evidence = [moving.origin.because] if moving.origin.because else []
    if frequency is not moving.origin.frequency:
        evidence.append("it is made once, before the loop that sends it")
    if behind.fixed:
        evidence.append(f"constant text of unknown length stands behind it: {behind.fixed}")
    elif behind.tokens >= _FEW:
        evidence.append(f"about {behind.tokens} tokens of constant text stand behind it")
    return Hit(
        moving=moving,
        kind=kind,
        frequency=frequency,
        area=section.area,
        strength=prompt.strength,
        behind=None if behind.fixed else behind.tokens,
        sent=prompt.sent,
        costs=_costs(prompt, section, moving, frequency, behind),
        evidence=tuple(evidence),
    )


def _costs(prompt: Prompt, section: Section, moving: Moving, frequency: Frequency, behind: Behind) -> bool:
    """Say whether something that could be reused stands behind a value."""
    kind = moving.origin.kind
    if section.area is Where.MESSAGES:
        made_anew = section.again and frequency is Frequency.CALL and not moving.origin.named
        return behind.tokens >= _LONG or (made_anew and kind not in _PER_CONVERSATION)
    if kind in _OWN_TEXT:
        return True
    if frequency is Frequency.CALL and (prompt.history or (prompt.history is None and not moving.origin.named)):
        return True
    least = _SOME if kind in _PER_CONVERSATION else _FEW
    return bool(behind.fixed) or behind.tokens >= least
