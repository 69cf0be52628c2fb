"""One way to write what two texts write differently: line ends, white space, Unicode, escapes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence

from prefixwise.analyzers.lint.claimed import once
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.values.drift import folded, plain_characters, plain_spaces, spelled_out

Form = Callable[[str], str]

_LINE_SPACES = re.compile(r"[ \t\f\v]*\n\s*")
_SPACES = re.compile(r"[ \t\f\v]+")
_ANY_SPACES = re.compile(r"\s+")


def one_line_end(text: str) -> str:
    """Return a text all of whose lines end alike."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def tidy_spaces(text: str) -> str:
    """Return a text without white space at its ends and those of its lines, empty lines, and runs of spaces."""
    return _SPACES.sub(" ", _LINE_SPACES.sub("\n", one_line_end(text))).strip()


def no_spaces(text: str) -> str:
    """Return a text without white space."""
    return _ANY_SPACES.sub("", text)


def composed(text: str) -> str:
    """Return a text in the normal form C."""
    return unicodedata.normalize("NFC", text)


_SPACE_FORMS: tuple[Form, ...] = (tidy_spaces, no_spaces)
_CHARACTER_FORMS: tuple[Form, ...] = (composed, spelled_out, plain_spaces, plain_characters, folded)


@once
def space_form(claims: Sequence[Claim]) -> Form:
    """Return the mildest form that makes all differences in white space equal."""
    return _all_of(_SPACE_FORMS, claims)


@once
def character_form(claims: Sequence[Claim]) -> Form:
    """Return the mildest form that makes all differences in code points equal."""
    return _all_of(_CHARACTER_FORMS, claims)


def _all_of(forms: tuple[Form, ...], claims: Iterable[Claim]) -> Form:
    needed = {_needed(forms, claim) for claim in claims}
    chosen = [form for number, form in enumerate(forms) if number == 0 or number in needed]

    def form(text: str) -> str:
        for one in chosen:
            text = one(text)
        return text

    return form


def _needed(forms: tuple[Form, ...], claim: Claim) -> int:
    before, after = claim.from_text or "", claim.to_text or ""
    return next((number for number, form in enumerate(forms) if form(before) == form(after)), 0)
