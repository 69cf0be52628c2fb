"""Whether a differing value is data about the person who uses an application."""

from __future__ import annotations

import re

from prefixwise.analyzers.values.kinds import Candidate, SpanKind
from prefixwise.analyzers.values.labels import word_set
from prefixwise.analyzers.values.quotes import Quoted
from prefixwise.core.finding import Confidence

_EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,6}")
_PHONE = re.compile(r"\+\d{1,3}(?:[ .()/-]{0,2}\d){6,14}|\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}")
_LOCALE = re.compile(r"[a-z]{2,3}[-_](?:[A-Z][a-z]{3}[-_])?[A-Z]{2}(?:\.UTF-8)?")
_CAPITAL = r"[A-ZÀ-ÞŠŽ][\w'’.-]{0,30}"
_NAMES = re.compile(
    rf"{_CAPITAL}(?:\s(?:(?:van|von|de|da|del|der|di|bin|al)\s)?{_CAPITAL}){{0,4}}(?:\s(?:from|of|at)\s{_CAPITAL})?"
)
_ADDRESS_TERMS = re.compile(r"\b(?:Mr|Mrs|Ms|Mx|Dr|Prof|Herr|Frau|Mme|Sra?|Signora?)\.?\s$")

_WHO = word_set(
    """
    user customer client traveller traveler guest member account patient student employee passenger subscriber
    visitor buyer shopper rider driver caller contact person persona profile owner tenant recipient borrower
    reader resident citizen learner player tutor candidate applicant agentname username login nickname surname
    firstname lastname fullname displayname organisation organization company employer kunde kundin benutzer
    nutzer cliente usuario utilisateur utente gebruiker klant användare
    """
)
_WHAT = word_set(
    """
    email mail phone telephone mobile locale language lang city town country region address street postcode zip
    timezone birthday birthdate dob age gender plan tier subscription membership loyalty role salutation harbour
    home hometown airport nationality pronouns ort stadt sprache wohnort anrede ville langue ciudad idioma città
    lingua stad taal
    """
)
_NAME_OF_THING = word_set(
    """
    file model tool host branch project function class server bot assistant agent product app application repo
    repository package module table column field event session environment cluster pod container node image
    template skill command variable schema font theme
    """
)
# What is known of machines and programs too: only where the words around it speak of a person.
_ALSO_OF_THINGS = word_set(
    "plan tier subscription membership role region zip home address age mail name id no number lang"
)
_TIER_WORDS = word_set("plan tier subscription membership level package")
_TIERS = word_set(
    """
    free basic pro plus premium gold silver bronze platinum enterprise team business starter trial standard student
    family none paid
    """
)
_ADDRESSES = "both are e-mail addresses"
_ROLES = word_set("user human customer client guest agent caller visitor")
_REQUESTS = word_set(
    """
    message msg request reply trace span call nonce correlation thread turn event
    """
)
_GREETINGS = re.compile(
    r"(?:\b(?:hi|hello|hey|dear|hallo|bonjour|hola|ciao|welcome back|welcome),?|\bname is|"
    r"\b(?:helping|assisting|talking to|speaking with|on behalf of)|"
    r"\b(?:customer|user|client|guest|traveller|rider|patient|member|student) is)\s+$",
    re.IGNORECASE,
)


def is_about_a_person(place: Quoted) -> bool:
    """Tell whether what speaks of a value speaks of a person: `traveller`, `customer id`, `<user><name>`."""
    label = place.label_words
    if label & _REQUESTS or label & _NAME_OF_THING:
        return False
    if label & _WHO:
        return True
    around = frozenset(word for name in place.scope[1:] for word in name.split())
    return bool((label & _WHAT or label & {"name", "id", "no", "number"}) and around & _WHO)


def person(place: Quoted) -> Candidate | None:
    """Return the reading of a difference as data about a person."""
    if not place.swapped:
        return None
    values = place.values
    shape, about = _shape(place), is_about_a_person(place)
    known = _says_what_is_known(place)
    evidence = (*((shape,) if shape else ()), *(("the words before it speak of a person",) if about else ()))
    if shape and (about or (place.label_words | place.words_before) & _WHAT or shape == _ADDRESSES):
        return Candidate(SpanKind.PERSON, Confidence.LIKELY, evidence)
    if about and all(_is_short(value) and (known or _is_datum(value, place.label)) for value in values):
        return Candidate(SpanKind.PERSON, Confidence.LIKELY, evidence)
    if _is_named(place):
        return Candidate(SpanKind.PERSON, Confidence.LIKELY, ("a name where a person is spoken to",))
    if known and all(map(_is_short, values)):
        return Candidate(SpanKind.PERSON, Confidence.LIKELY, ("the word before it says what is known of a person",))
    return Candidate(SpanKind.PERSON, Confidence.POSSIBLE, evidence) if shape or about else None


def _says_what_is_known(place: Quoted) -> bool:
    """Tell whether the label names something that is known of a person: `city`, `locale`, `plan` with `gold`."""
    label = place.label_words
    if label & _NAME_OF_THING:
        return False
    if label & _TIER_WORDS and {place.old.value.lower(), place.new.value.lower()} <= _TIERS:
        return True
    around = frozenset(word for name in place.scope[1:] for word in name.split())
    return bool(label & _WHAT) if around & _WHO else bool(label & _WHAT - _ALSO_OF_THINGS)


def _is_datum(value: str, label: str) -> bool:
    """Tell whether a value is a name or a code; in a line that a role opens, `User: hello`, more is asked for."""
    if any(c.isdigit() or c in "@_-" for c in value):
        return True
    return value[:1].isupper() and (label not in _ROLES or (" " in value and value.istitle()))


def _shape(place: Quoted) -> str:
    """Return in words what data about a person both values look like, '' for none."""
    values = place.values
    if place.label_words & _REQUESTS:
        return ""  # the id of a message looks like an address
    if all(map(_EMAIL.fullmatch, values)):
        return _ADDRESSES
    if all(map(_PHONE.fullmatch, values)):
        return "both are telephone numbers"
    if all(map(_LOCALE.fullmatch, values)):
        return "both are codes of a language and country"
    return ""


def _is_named(place: Quoted) -> bool:
    """Tell whether both values are names where a person is spoken to or of."""
    if not (_NAMES.fullmatch(place.old.value) and _NAMES.fullmatch(place.new.value)):
        return False
    label = place.label_words or place.words_before
    if "name" in label and not label & _NAME_OF_THING:
        return True
    return bool(_GREETINGS.search(place.left[-40:]) or _ADDRESS_TERMS.search(place.left[-8:]))


def _is_short(value: str) -> bool:
    """Tell whether a value is one datum, and no sentence."""
    return 0 < len(value) <= 60 and value.count(" ") <= 4
