"""The shapes of secrets and personal data, found in linear time.

Every pattern either starts at the beginning of a run of its characters, or cannot fail any more once it
has read past a fixed number of them; so no text makes the search slow. Shapes are known ones: an own
short table instead of a detector, because a report masks what it shows, it does not hunt.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple


class Span(NamedTuple):
    """Where a secret lies (offsets, end-exclusive) and what it is."""

    start: int
    end: int
    kind: str


class _Shape(NamedTuple):
    """A pattern, whose group `v` (or the whole match) is the secret, and what is asked before and after it.

    `hint` looks at the lower-case text: most texts have nothing of the kind, and a search for a few words
    costs a hundredth of the pattern. `check` says how many characters of a match are the secret; 0 for a
    false alarm.
    """

    kind: str
    hint: Callable[[str], object]
    pattern: re.Pattern[str]
    check: Callable[[str], int] = len


def _words(*words: str) -> Callable[[str], bool]:
    return lambda text: any(word in text for word in words)


# Prefixes as their issuers document them; the number is the least length of what follows.
_KEYS = (
    r"sk-[A-Za-z0-9_-]{16,}",  # OpenAI, Anthropic (sk-ant-), OpenRouter, DeepSeek
    r"(?:sk|rk|pk|whsec)_(?:live_|test_)?[A-Za-z0-9]{16,}",  # Stripe
    r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{12,}",  # AWS
    r"gh[pousr]_[A-Za-z0-9]{16,}",  # GitHub
    r"github_pat_[A-Za-z0-9_]{16,}",
    r"glpat-[A-Za-z0-9_-]{16,}",  # GitLab
    r"xox[a-z]-[A-Za-z0-9-]{10,}",  # Slack
    r"xapp-[A-Za-z0-9-]{10,}",
    r"AIza[A-Za-z0-9_-]{24,}",  # Google
    r"ya29\.[A-Za-z0-9_-]{16,}",
    r"hf_[A-Za-z0-9]{16,}",  # Hugging Face
    r"(?:gsk|npm|r8|fw)_[A-Za-z0-9]{20,}",  # Groq, npm, Replicate, Fireworks
    r"(?:xai|pplx)-[A-Za-z0-9]{20,}",  # xAI, Perplexity
    r"nvapi-[A-Za-z0-9_-]{20,}",  # NVIDIA
    r"pypi-AgE[A-Za-z0-9_-]{16,}",
    r"SG\.[A-Za-z0-9_.-]{16,}",  # SendGrid
)
_KEY_WORDS = (
    *("sk-", "sk_", "rk_", "pk_", "whsec_", "akia", "asia", "abia", "acca", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    *("github_pat_", "glpat-", "xox", "xapp-", "aiza", "ya29.", "hf_", "gsk_", "npm_", "r8_", "fw_", "xai-", "pplx-"),
    *("nvapi-", "pypi-", "sg."),
)
# A key starts where a word starts, or after an escaped line break or an encoded character.
_START = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))"

_NAME = (
    r"(?:pass(?:word|wd|phrase)|pwd|secret|credentials?"
    r"|(?:api|access|private|secret|signing|encryption|account|master)[_-]?key"
    r"|(?:api|access|auth|refresh|session|bot|id)[_-]?token)"
)
_NAME_WORDS = ("pass", "pwd", "secret", "credential", "key", "token")
_QUOTED = r"[\"'\\]{0,3}\s{0,4}(?:=>?|:=?)\s{0,4}(?P<quote>\\?[\"'])(?P<v>(?:(?!(?P=quote))[^\n]){4,})"
_BARE = r"[\"'\\]{0,3}\s{0,4}(?:=>?\s{0,4}|:=?\s{0,4}(?=\S{0,64}\d))(?P<v>[^\s\"'\\,;&<>]{6,})"


def _real_value(value: str) -> int:
    """Reject what names or stands for a secret: a variable, a call, a template field, a masked value."""
    if value.startswith(("$", "{", "<", "%", "[masked:", "os.", "process.", "env.", "settings.", "config.")):
        return 0
    if value.lower() in {"required", "optional", "undefined", "string", "masked", "redacted"} or "(" in value:
        return 0
    return len(value)


def _luhn(number: str) -> int:
    """Accept a card number by its check digit (ISO/IEC 7812-1)."""
    digits = [int(character) for character in reversed(number) if character.isdigit()]
    doubled = [digit * 2 - 9 * (digit > 4) for digit in digits[1::2]]
    return len(number) if (sum(digits[::2]) + sum(doubled)) % 10 == 0 else 0


def _iban(candidate: str) -> int:
    """Return the length of the longest prefix that is an IBAN (ISO 13616: modulo 97 is 1), by whole groups."""
    for end in range(len(candidate), 14, -1):
        if candidate[end : end + 1].strip() or not candidate[end - 1].strip():
            continue
        compact = candidate[:end].replace(" ", "")
        if len(compact) < 15:
            return 0
        if int("".join(str(int(c, 36)) for c in compact[4:] + compact[:4])) % 97 == 1:
            return end
    return 0


_SHAPES = (
    _Shape(
        "private-key",
        _words("private key"),
        re.compile(
            r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
            r"(?:.*?-----END (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----|.*)",
            re.DOTALL,
        ),
    ),
    _Shape("key", _words(*_KEY_WORDS), re.compile(_START + "(?:" + "|".join(_KEYS) + ")")),
    _Shape("token", _words("eyj"), re.compile(r"eyJ[A-Za-z0-9_-]{16,}(?:\.[A-Za-z0-9_-]+){0,4}")),
    _Shape(
        "token",
        _words("bearer"),
        re.compile(r"(?i)bearer\s{1,4}(?P<v>(?=\S{0,64}\d)[A-Za-z0-9._~+/=-]{8,})"),
    ),
    _Shape(
        "token",
        _words("authorization"),
        re.compile(
            r"(?i)authorization[\"'\\]{0,3}\s{0,4}[:=]\s{0,4}[\"'\\]{0,3}(?:(?:basic|token|apikey)\s{1,4})?"
            r"(?P<v>(?=\S{0,64}\d)[A-Za-z0-9._~+/=:-]{8,})"
        ),
    ),
    _Shape("password", _words(*_NAME_WORDS), re.compile("(?i)" + _NAME + _QUOTED), _real_value),
    _Shape("password", _words(*_NAME_WORDS), re.compile("(?i)" + _NAME + _BARE), _real_value),
    _Shape("password", _words("://"), re.compile(r"://[^\s/:@]{0,64}:(?P<v>[^\s/@]{1,128})@"), _real_value),
    _Shape(
        "email",
        _words("@", "%40"),
        re.compile(r"(?<![\w.+-])[\w.+-]++(?:@|%40)(?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,63}"),
    ),
    _Shape(
        "phone",
        _words("+"),
        re.compile(r"(?:(?<![\w+])|(?<=\\[nrt]))\+(?!\d\.\d{5})[1-9](?:[ .()/-]{0,2}\d){7,}"),
    ),
    _Shape(
        "phone",
        re.compile(r"\d{3}[ .-]\d{4}").search,
        re.compile(r"(?:(?<![\w.+-])|(?<=\\[nrt]))\(?[2-9]\d{2}(?:\) ?|[ .-])\d{3}[ .-]\d{4}(?![\w-])"),
    ),
    _Shape(
        "phone",
        _words("tel", "phone", "mobile", "cell", "fax"),
        re.compile(
            r"(?i)\b(?:tel|phone|telephone|mobile|cell|fax)(?: no\.?| number)?[.:= ]{1,3}"
            r"(?P<v>\(?\d(?:[ .()/-]{0,2}\d){6,})"
        ),
    ),
    _Shape(
        "card",
        re.compile(r"\d{4}[ -]?\d{4,6}[ -]?\d{4}").search,
        re.compile(
            r"(?<!\d)(?<!\d\.)(?:[2-6]\d{12,18}|[2-6]\d{3}([ -])\d{4}\1\d{4}\1\d{4}(?:\1\d{3})?"
            r"|3\d{3}([ -])\d{6}\2\d{5})(?!\d)"
        ),
        _luhn,
    ),
    _Shape(
        "iban",
        re.compile(r"\d\d ?[a-z0-9]{4} ?[a-z0-9]{4}").search,
        re.compile(_START + r"(?=(?P<v>[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,38}))"),
        _iban,
    ),
)


def secret_spans(text: str) -> list[Span]:
    """Return where secrets and personal data lie in `text`, in order and without overlap."""
    return joined(shapes_in(text))


def shapes_in(text: str) -> list[Span]:
    """Return every match of a known shape in `text`, secrets before personal data; they may overlap."""
    found = []
    lower = text.lower()
    for shape in _SHAPES:
        if not shape.hint(lower):
            continue
        group = "v" if "v" in shape.pattern.groupindex else 0
        for match in shape.pattern.finditer(text):
            length = shape.check(match[group])
            if length:
                found.append(Span(match.start(group), match.start(group) + length, shape.kind))
    return found


def joined(spans: list[Span]) -> list[Span]:
    """Return `spans` in order, those that overlap merged, so that no end of the shorter one shows."""
    apart: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if apart and span.start < apart[-1].end:
            last = apart[-1]
            apart[-1] = Span(last.start, max(last.end, span.end), last.kind)
        else:
            apart.append(span)
    return apart
