"""Whether a differing value is an identifier: made anew for a call, a message or a session."""

from __future__ import annotations

import re
from itertools import pairwise

from prefixwise.analyzers.values.kinds import Candidate, SpanKind
from prefixwise.analyzers.values.labels import word_set
from prefixwise.analyzers.values.person import is_about_a_person
from prefixwise.analyzers.values.quotes import Quoted
from prefixwise.analyzers.values.versions import is_model, is_version
from prefixwise.core.finding import Confidence

_REACH = 400
_LONGEST = 256
_TOKEN = re.compile(r"[\w.~+-]+")

_UUID = re.compile(r"\{?[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\}?")
_ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
_HEX = re.compile(r"(?:0x)?(?:[0-9a-f]{8,128}|[0-9A-F]{8,128})")
_JWT = re.compile(r"eyJ[\w-]{10,}(?:\.[\w-]+){0,2}\.?")
_PREFIXED = re.compile(r"([a-z][a-zA-Z]{0,14}(?:[_-][a-z]{2,10})?)[_.-]+([A-Za-z0-9][\w-]{2,})")
_COMPOSITE = re.compile(r"[0-9a-z]{2,10}(?:-[0-9a-z]{2,10}){1,4}|[0-9A-Z]{2,10}(?:-[0-9A-Z]{2,10}){1,4}")
_SHORT = re.compile(r"[A-Za-z0-9]{4,15}|[A-Za-z0-9_-]{6,15}")
_LABELLED = re.compile(r"[A-Za-z0-9_.-]{2,64}")
_MONTH_OR_DATE = re.compile(r"(?:19|20)\d\d-?(?:0\d|1[0-2])(?:-?[0-3]\d)?")

_PREFIXES = word_set(
    """
    req request msg message call toolu thread run resp response chatcmpl cmpl conv conversation chat sess
    session trace span evt event asst step file fc rs item task job batch ref ticket tx txn txid order ord inv
    invocation exec execution corr correlation nonce gen generation id uid guid wf workflow turn mem obs log
    tool tu cus sub pi ch in evtid rid cid tid mid sid srvtoolu
    """
)
_ID = word_set(
    """
    id ids uuid guid nonce cch ulid cuid ksuid rid traceparent correlation jti etag idempotency seed salt random rand
    buster requestid messageid threadid
    """
)
_MADE = word_set(
    """
    trace span request session message msg reply conversation chat thread run call invocation execution job
    transaction txn ticket reference ref token key salt seed hash digest checksum fingerprint signature sig
    event cursor canary boundary marker anfrage nachricht vorgang auftrag requête demande solicitud mensaje richiesta
    pedido aanvraag bericht заявка запрос talep
    """
)
_NUMBERED = word_set("no nr num number nummer numéro número numero №")
"""Words between what is numbered and its number."""


def identifier(place: Quoted) -> Candidate | None:
    """Return the reading of a difference as an identifier, None where the two values have no such shape."""
    if not place.swapped:
        return None
    first, second = (_token_at(side.line, side.part) for side in (place.old, place.new))
    if not first or not second or _another_thing(first) or _another_thing(second):
        return None
    labels = place.label_words | _key_before(place)
    made = bool(labels & _MADE)
    is_id = bool(labels & _ID) or (made and bool(labels & _NUMBERED))
    shapes = identifier_shape(first), identifier_shape(second)
    sure = True
    if shapes[0] and shapes[1]:
        what = shapes[1] if shapes[0] == shapes[1] else "strings made by a machine"
    elif (is_id or made) and _is_code(first, digits=is_id) and _is_code(second, digits=is_id):
        what = "short codes"
    elif _is_composite(first) and _is_composite(second):
        what, sure = "short codes", False
    else:
        return None
    evidence = (f"both are {what}", *(("the word before it speaks of an identifier",) if is_id or made else ()))
    sure = sure and (made or not is_about_a_person(place))
    return Candidate(SpanKind.IDENTIFIER, Confidence.LIKELY if sure else Confidence.POSSIBLE, evidence)


def identifier_shape(token: str) -> str | None:
    """Return what sort of identifier a string is by its shape alone, None where the shape proves nothing."""
    if _UUID.fullmatch(token):
        return "UUIDs"
    if len(token) == 26 and _ULID.fullmatch(token) and _mixed(token):
        return "ULIDs"
    if token.startswith("eyJ") and _JWT.fullmatch(token):
        return "signed tokens"
    if token.isdigit():
        return "long numbers" if len(token) >= 15 else None
    if _HEX.fullmatch(token):
        return "hexadecimal strings" if _mixed(token.removeprefix("0x")) else None
    match = _PREFIXED.fullmatch(token)
    if match is not None and _is_made(match[2], known=bool({match[1], match[1].partition("_")[0]} & _PREFIXES)):
        return "identifiers with a prefix"
    return "random strings" if looks_random(token) else None


def looks_random(token: str) -> bool:
    """Tell whether a string of letters and digits is too irregular to be made of words and numbers."""
    if len(token) > _LONGEST:
        return False  # a picture or a text in base64
    chunk = max(re.split(r"[-_.~+]", token), key=len)
    if len(chunk) < 10 or not chunk.isascii():
        return False
    classes = [1 if c.isdigit() else 2 if c.isupper() else 3 for c in chunk]
    # A capital before small letters is how words are joined; every other change of class is not.
    changes = sum(one != other and (one, other) != (2, 3) for one, other in pairwise(classes))
    digit_runs = sum(one != 1 and other == 1 for one, other in pairwise([0, *classes]))
    share = changes / len(chunk)
    return (digit_runs >= 2 and share >= 0.25) or (len(chunk) >= 20 and digit_runs >= 1 and share >= 0.2)


def _is_made(rest: str, *, known: bool) -> bool:
    """Tell whether what follows a prefix is a made-up part: `req_8f3a2b1c`, `call_DMFP4xXxrt8Y`, `order-5521`."""
    if _UUID.fullmatch(rest) or looks_random(rest) or (_HEX.fullmatch(rest) and _mixed(rest)):
        return True
    if not known or _MONTH_OR_DATE.fullmatch(rest):
        return False
    chunks = re.split(r"[-_]", rest)
    return (
        any(_mixed(chunk) and len(chunk) >= 5 for chunk in chunks)
        or (rest.isdigit() and len(rest) >= 3)
        or (len(rest) >= 8 and rest.replace("-", "").isdigit())
    )


def _is_code(token: str, *, digits: bool) -> bool:
    """Tell whether a string can be a short identifier; where the label says id, a plain number is one."""
    if digits and token.replace(".", "", 1).isdigit():
        return True
    shape = _LABELLED if digits else _SHORT
    return shape.fullmatch(token) is not None and any(c.isdigit() for c in token) and not token.isdigit()


def _is_composite(token: str) -> bool:
    """Tell whether a string is short runs of letters and digits that hyphens join: `7f31-0682`."""
    return _COMPOSITE.fullmatch(token) is not None and _mixed(token)


def _mixed(token: str) -> bool:
    return any(c.isdigit() for c in token) and any(c.isalpha() for c in token)


def _another_thing(token: str) -> bool:
    """Tell whether a token has a shape of its own that is no identifier's: a date, a version, a model."""
    return bool(_MONTH_OR_DATE.fullmatch(token)) or is_version(token) or is_model(token)


def _token_at(line: str, at: int) -> str:
    """Return the run of characters of an identifier that stands at a place of a line, or ends there."""
    low = max(0, at - _REACH)
    for match in _TOKEN.finditer(line, low, at + _REACH):
        if match.end() >= at:
            return match[0].strip(".~+-") if match.start() <= at else ""
    return ""


def _key_before(place: Quoted) -> frozenset[str]:
    """Return the word before the value where no sign parts them: `Request 7f31a2`, `#7f31`, `Message no. 41`."""
    left = place.left.rstrip(" #\"'`([")
    before = re.findall(r"[^\W_]+|№", left[-24:].lower())
    return frozenset(before[-2:] if before and before[-1] in _NUMBERED else before[-1:])
