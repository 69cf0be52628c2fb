"""Secrets and personal data in a text that was meant to hold none, told from what only looks like them.

`secret_shapes` masks whatever may be private. Here something is said of whoever wrote the text, so a shape alone is not
enough: keys must look drawn at random, numbers must pass their check digits, and dates and phone numbers need words
around them that speak of a person. What is known to be an example is named as one.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from prefixwise.core.secret_shapes import Span, shapes_in

_AROUND = 64
_BEFORE = 40
_LONGEST = 400_000
_MOST = 200
"""Values of one sort that are looked at in a text."""


class Exposed(NamedTuple):
    """One value: where it lies (offsets, end-exclusive), what it is, and how that is known.

    `is_secret` tells secrets from personal data; `is_example` is said of values that are published as examples, and of
    addresses and numbers of an office.
    """

    start: int
    end: int
    kind: str
    is_secret: bool
    is_example: bool = False


_SAMPLE_WORDS = re.compile(
    r"(?i)example|sample|placeholder|dummy|your[-_ ]|change[-_ ]?me|x{4,}|\*{3,}|\.{3}|0{8,}|1234567|abcdef|<|\{"
    r"|redacted"
)
_TEST_KEY = re.compile(r"(?:sk|rk|pk)_test_|pk_live_")  # the last is made to be published
_KEY_NAMES = (
    ("sk-ant-", "an Anthropic key"),
    ("sk-", "an API key"),
    ("AKIA", "an AWS key id"),
    ("ASIA", "an AWS key id"),
    ("gh", "a GitHub token"),
    ("github_pat_", "a GitHub token"),
    ("xox", "a Slack token"),
    ("AIza", "a Google key"),
    ("hf_", "a Hugging Face token"),
)
_AWS = re.compile(r"A(?:KIA|SIA|BIA|CCA)[A-Z2-7]{16}")
_NEAR_SECRET = re.compile(r"(?i)(?:key|secret|token|passw|passphrase|credential|bearer)[^\n]{0,40}$")
_DIGEST = re.compile(r"(?i)(?:sha-?\d*|md5|commit|digest|checksum|etag|hash|revision|fingerprint)[^\n]{0,24}$")
_RANDOM = re.compile(r"(?<![\w+/=.-])[A-Za-z0-9+/_=-]{20,128}(?![\w+/=-])")
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_HEX = re.compile(r"[0-9a-fA-F]+")
_WEAK = frozenset({"password", "passwd", "secret", "hunter2", "admin", "root", "user", "pass", "test", "guest"})
_LOCAL_HOST = re.compile(r"@(?:localhost|127\.|\[?::1|[\w.-]*\bexample\b|db:|postgres:|mysql:|redis:)")

# RFC 2606 and 6761.
_RESERVED = re.compile(r"(?i)@(?:[\w-]+\.)*(?:example(?:\.(?:com|net|org))?|test|invalid|localhost|local)$")
_OFFICES = re.compile(
    r"(?i)^(?:\w+[-_.])?(?:support|help|helpdesk|info|contact|hello|office|team|sales|service|services|desk|noreply"
    r"|no-reply|billing|accounts?|admin|press|privacy|security|legal|jobs|careers|feedback|mail|post|orders?|booking"
    r"|bookings|reservations?|complaints|abuse|webmaster|postmaster|ops|it|hr|finance|claims|dispatch|reception"
    r"|customer\w*|you|user|name|first\.last|firstname\.lastname|john\.?doe|jane\.?doe)(?:[-_.+]\w+)?$"
)
_FREE_MAIL = re.compile(r"(?i)@(?:gmail|googlemail|outlook|hotmail|live|yahoo|icloud|gmx|web|proton|protonmail|aol)\.")
_PERSON = re.compile(
    r"(?i)\b(?:customer|client|patient|guest|member|traveller|traveler|passenger|employee|resident|tenant|student"
    r"|applicant|mr|mrs|ms|dr|born|birth|lives at|home address|personal|private|mobile)\b"
)
_TEST_CARDS = re.compile(
    r"^(?:4242|4000|4111|4012|4222|5555|5454|5105|2223|6011|3782|3714|3056|3852|3530|6200|4917|4005)"
)
_TEST_IBANS = frozenset(
    ("DE89370400440532013000", "GB29NWBK60161331926819", "GB82WEST12345698765432", "FR1420041010050500013M02606",
     "NL91ABNA0417164300", "ES9121000418450200051332", "CH9300762011623852957", "AT611904300234573201",
     "BE68539007547034", "NO9386011117947", "SE4550000000058398257466", "DK5000400440116243", "FI2112345600000785",
     "IT60X0542811101000000123456", "PL61109010140000071219812874", "IE29AIBK93115212345678")
)  # fmt: skip
_FICTION = re.compile(r"\b555[ .-]?01\d\d\b|\b0(?:1632|7700)[ .-]?9(?:60|00)|\+?1?[ .-]?\(?8(?:00|88|77|66|55)\)?[ .-]")
_BIRTH = re.compile(
    r"(?i)\b(?:born(?: on)?|date of birth|birth ?date|birthday|dob|geboren(?: am)?|née? le|nacid[oa] el)\b[ :=]{1,3}"
    r"(?P<v>\d{4}-\d{2}-\d{2}|\d{1,2}[./]\d{1,2}[./]\d{4}|\d{1,2}(?:st|nd|rd|th)? [^\W\d]{3,9}\.? \d{4}"
    r"|[^\W\d]{3,9}\.? \d{1,2}, \d{4})"
)
_SSN = re.compile(r"(?<![\d-])(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\d-])")
_SSN_SAMPLES = frozenset({"078-05-1120", "219-09-9999", "123-45-6789"})
_CPF = re.compile(r"(?<!\d)\d{3}\.\d{3}\.\d{3}-\d{2}(?!\d)")
_DNI = re.compile(r"(?<![\w-])(?:\d{8}|[XYZ]\d{7})-?[A-HJ-NP-TV-Z](?![\w-])")
_RECORD = re.compile(
    r"(?i)\b(?:medical record(?: number| no\.?)?|mrn|patient (?:id|number|no\.?)|passport (?:number|no\.?)"
    r"|insurance (?:number|no\.?)|social security(?: number| no\.?)?)[ :=#]{1,3}(?P<v>[A-Z]{0,3}-?\d[\d -]{4,14}\d)"
)


def exposed(text: str) -> list[Exposed]:
    """Return the secrets and personal data in a text, in order; of very long or very full texts, some of them."""
    text = text[:_LONGEST]
    found: list[Exposed] = []
    for values in (_of_shapes, _drawn, _of_persons):
        for one in islice(values(text), _MOST):
            if not any(other.start < one.end and one.start < other.end for other in found):
                found.append(one)
    return sorted(found)


def _of_shapes(text: str) -> Iterator[Exposed]:
    for span in shapes_in(text):
        value = text[span.start : span.end]
        if span.kind in ("private-key", "key", "token", "password"):
            said = _secret(text, span, value)
        else:
            said = _person(text, span, value)
        if said is not None:
            yield said


def _secret(text: str, span: Span, value: str) -> Exposed | None:
    """Return a secret of a known shape, None where nothing speaks for a real one."""
    sample = _SAMPLE_WORDS.search(value) is not None
    if span.kind == "private-key":
        return Exposed(*span[:2], "a private key", True, len(value) < 200 or sample)
    if span.kind == "key":
        if value[:4] in ("AKIA", "ASIA", "ABIA", "ACCA") and not (_AWS.match(value) or sample):
            return None
        name = next((name for prefix, name in _KEY_NAMES if value.startswith(prefix)), "an access key")
        weak = sample or _TEST_KEY.match(value) is not None or not _is_mixed(value)
        return Exposed(*span[:2], name, True, weak)
    if span.kind == "token":
        return _token(span, value, sample)
    before = text[max(0, span.start - 3) : span.start]
    in_address = "://" in text[max(0, span.start - 80) : span.start] and text[span.end : span.end + 1] == "@"
    if before.endswith("${") or (not in_address and (" " in value or len(value) < 8 or not _is_mixed(value))):
        return None
    weak = sample or value.lower() in _WEAK or (in_address and bool(_LOCAL_HOST.match(text[span.end : span.end + 60])))
    return Exposed(*span[:2], "a password" if not in_address else "a password in an address", True, weak)


def _token(span: Span, value: str, sample: bool) -> Exposed | None:
    if value.startswith("eyJ"):
        parts = value.split(".")
        if len(parts) != 3 or not _is_json(parts[0]):
            return None
        is_sample = sample or "eyJzdWIiOiIxMjM0NTY3ODkwIi" in value  # the one that jwt.io shows
        return Exposed(*span[:2], "a signed web token", True, is_sample)
    if len(value) < 16 or not _is_mixed(value):
        return None
    return Exposed(*span[:2], "an access token", True, sample)


def _is_json(part: str) -> bool:
    try:
        return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))[:1] == b"{"
    except (ValueError, binascii.Error):
        return False


def _drawn(text: str) -> Iterator[Exposed]:
    """Yield what looks drawn at random and stands behind a word for secrets."""
    if not re.search(r"(?i)key|secret|token|passw|passphrase|credential|bearer", text):
        return
    for match in _RANDOM.finditer(text):
        value, before = match[0], text[max(0, match.start() - _BEFORE) : match.start()]
        if _UUID.search(value) or not _NEAR_SECRET.search(before) or _DIGEST.search(before):
            continue
        is_hex = _HEX.fullmatch(value) is not None
        if (len(value) >= 32) if is_hex else (_is_mixed(value) and _bits(value) >= 3.5 and _is_no_name(value)):
            sample = _SAMPLE_WORDS.search(value) is not None
            yield Exposed(match.start(), match.end(), "a random value beside a word for secrets", True, sample)


def _is_mixed(value: str) -> bool:
    """Say whether letters and digits are mixed, as in what a machine drew."""
    digits = sum(character.isdigit() for character in value)
    return digits >= 2 and len(value) - digits >= 3 and len(set(value)) >= min(8, len(value) - 2)


def _is_no_name(value: str) -> bool:
    """Reject words joined by underscores, hyphens or slashes, with a number at most."""
    return not re.fullmatch(r"(?:[A-Za-z]+|\d+)(?:[/_=-]+(?:[A-Za-z]+\d?|\d+))*", value)


def _bits(value: str) -> float:
    """Return the entropy of a text in bits a character, by the characters it has."""
    size = len(value)
    return -sum(count / size * math.log2(count / size) for count in Counter(value).values())


def _person(text: str, span: Span, value: str) -> Exposed | None:
    """Return personal data of a known shape, None where it may be anybody's or nobody's."""
    around = text[max(0, span.start - _AROUND) : span.end + _AROUND]
    if span.kind == "email":
        return _email(span, value, _PERSON.search(around) is not None)
    if span.kind == "phone":
        office = _FICTION.search(value) is not None or not _PERSON.search(around)
        return Exposed(*span[:2], "a phone number", False, office)
    if span.kind == "card":
        digits = re.sub(r"\D", "", value)
        sample = _TEST_CARDS.match(digits) is not None and len(set(digits)) <= 6
        return Exposed(*span[:2], "a card number", False, sample)
    if span.kind == "iban":
        return Exposed(*span[:2], "a bank account", False, value.replace(" ", "") in _TEST_IBANS)
    return None


def _email(span: Span, value: str, near_person: bool) -> Exposed:
    local = re.split("@|%40", value, maxsplit=1)[0]
    office = _RESERVED.search(value) is not None or _OFFICES.match(local) is not None
    personal = near_person or _FREE_MAIL.search(value) is not None or re.fullmatch(r"[^\W\d]{2,}\.[^\W\d]{2,}", local)
    return Exposed(*span[:2], "an e-mail address", False, office or not personal)


def _of_persons(text: str) -> Iterator[Exposed]:
    for match in _BIRTH.finditer(text):
        yield Exposed(*match.span("v"), "a date of birth", False)
    for match in _RECORD.finditer(text):
        yield Exposed(
            *match.span("v"), "a number of a person's records", False, _SAMPLE_WORDS.search(match["v"]) is not None
        )
    for match in _SSN.finditer(text):
        if re.search(r"(?i)ssn|social security", text[max(0, match.start() - _AROUND) : match.end() + _BEFORE]):
            yield Exposed(*match.span(), "a social security number", False, match[0] in _SSN_SAMPLES)
    for match in _CPF.finditer(text):
        if _is_cpf(match[0]):
            yield Exposed(*match.span(), "a national id", False, match[0] == "123.456.789-09")
    for match in _DNI.finditer(text):
        if _is_dni(match[0]):
            yield Exposed(*match.span(), "a national id", False, match[0].startswith(("12345678", "00000000")))


def _is_cpf(number: str) -> bool:
    """Check the two digits at the end of a Brazilian number, each a weighted sum modulo 11."""
    digits = [int(character) for character in number if character.isdigit()]
    if len(set(digits)) == 1:
        return False
    for size in (9, 10):
        total = sum(digit * weight for digit, weight in zip(digits, range(size + 1, 1, -1), strict=False))
        if (total * 10 % 11) % 10 != digits[size]:
            return False
    return True


def _is_dni(number: str) -> bool:
    """Check the letter at the end of a Spanish number: the number modulo 23."""
    bare = number.replace("-", "")
    value = int(bare[:-1].translate(str.maketrans("XYZ", "012")))
    return "TRWAGMYFPDXBNJZSQVHLCKE"[value % 23] == bare[-1]
