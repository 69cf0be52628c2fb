"""Takes the words out of request bodies and leaves their shape.

Names that APIs give to things stay (keys, roles, types); what a tenant wrote does not: texts, names of tools, keys of
schemas and arguments. Equal words stay equal throughout, so whatever two requests have in common they still have.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Iterator
from enum import Enum
from typing import Any

import msgspec

from prefixwise.analyzers.repro import structure
from prefixwise.analyzers.repro.pseudonyms import Pseudonyms
from prefixwise.core.secret_shapes import secret_spans
from prefixwise.core.times import epoch_seconds

_LITERALS = frozenset({"true", "false", "null"})
_BLOB = re.compile(r"(data:[\w.+/-]{1,80};base64,)?([A-Za-z0-9+/_-]{120,}={0,2})")
_WORDS = re.compile(r"[^\W\d_]+|\d+")
# In JSON that is written as a text, escapes are no words.
_JSON_WORDS = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|[^\W\d_]+|\d+')
_KEY_HEADS = re.compile(
    r"sk-(?:ant-|proj-|or-)?|(?:sk|rk|pk)_(?:live_|test_)?|whsec_|A[KS]IA|AB[IC]A|ACCA|gh[pousr]_|github_pat_|glpat-"
    r"|xox[a-z]-|xapp-|AIza|ya29\.|hf_|(?:gsk|npm|r8|fw)_|xai-|pplx-|nvapi-|pypi-AgE|SG\.|eyJ"
    r"|-----BEGIN [A-Z ]{1,60}-----"
)
_TOKENS = 50_000


class _Whose(Enum):
    """Whose a part of a record is."""

    API = "api"
    """A body: keys that the API does not know are a tenant's."""
    EXPORTER = "exporter"
    """What stands around a body: keys and times stay."""
    TENANT = "tenant"
    """Every key and every value goes."""


class Redactor:
    """Takes texts and JSON values and returns them without their words.

    Args:
        names: What words and numbers are called.
    """

    def __init__(self, names: Pseudonyms) -> None:
        self._names = names
        self._tokens: dict[int, int] = {}

    def body(self, body: Any) -> Any:
        """Return a request body, or a part of one."""
        return self._value(body, _Whose.API)

    def answer(self, answer: Any) -> Any:
        """Return a logged answer: its outermost keys are the API's, whatever they are."""
        if not isinstance(answer, dict):
            return self.body(answer)
        return {key: self._member(answer, key, _Whose.API) for key in answer}

    def around(self, value: Any) -> Any:
        """Return what an exporter wrote around a body."""
        return self._value(value, _Whose.EXPORTER)

    def text(self, text: str) -> str:
        """Return a text: as long as it was, unless it is a blob, for which a short one stands."""
        blob = _BLOB.fullmatch(text)
        if blob:
            return (blob[1] or "") + base64.b64encode(self._names.digest(text)).decode()
        pattern = _JSON_WORDS if is_json_text(text) else _WORDS
        pieces: list[str] = []
        at = 0
        for span in secret_spans(text):
            pieces += (*self._words(text[at : span.start], pattern), self._secret(text[span.start : span.end]))
            at = span.end
        return "".join([*pieces, *self._words(text[at:], pattern)])

    def part(self, one: str, other: str, at: int) -> None:
        """Let two texts part where they parted, at character `at`, though that lies inside a word.

        Call it before either has been redacted.
        """
        runs = [_run_at(text, at) for text in (one, other)]
        if all(runs):
            self._names.part(*runs)

    def _value(self, value: Any, whose: _Whose) -> Any:
        if isinstance(value, dict):
            return {self._key(key, whose): self._member(value, key, whose) for key in value}
        if isinstance(value, list):
            if value and all(type(item) is int for item in value):
                return [self._token(item) for item in value]
            return [self._value(item, whose) for item in value]
        if isinstance(value, str):
            return self._string(value, whose)
        if whose is _Whose.TENANT and type(value) in (int, float):
            return self._figure(value)
        return value

    def _member(self, holder: dict[str, Any], key: str, whose: _Whose) -> Any:
        value = holder[key]
        if whose is _Whose.TENANT:
            return self._value(value, whose)
        if key in structure.WHOLE or (key == "id" and "lc" in holder) or (key in structure.NAMED and _is_name(value)):
            return value
        if key in ("model", "modelId") and isinstance(value, str):
            return self._model(value)
        if key == "$ref" and isinstance(value, str):
            head, mark, name = value.rpartition("/")
            return head + mark + self.text(name)
        if structure.is_properties(key, value):
            return {self.text(name): self._value(schema, _Whose.API) for name, schema in value.items()}
        if whose is _Whose.API and structure.is_free(key, value):
            return self._value(value, _Whose.TENANT)
        return self._value(value, whose)

    def _key(self, key: str, whose: _Whose) -> str:
        if whose is _Whose.EXPORTER or (whose is _Whose.API and key in structure.KEYS):
            return key
        return self.text(key)

    def _string(self, text: str, whose: _Whose) -> str:
        if whose is _Whose.TENANT:
            return self.text(text)
        if text in structure.SETTINGS:
            return text
        if whose is _Whose.EXPORTER:
            if text[:4].isdecimal() and not math.isnan(epoch_seconds(text)):
                return text
            if text[:1] in ("{", "[") and is_json_text(text):  # a body that is written as a text
                return msgspec.json.encode(self._value(msgspec.json.decode(text), whose)).decode()
        head = structure.ID_HEADS.match(text)
        start = head.end() if head else 0
        return text[:start] + self.text(text[start:])

    def _model(self, name: str) -> str:
        """Return a model's name without the part that its owner gave it."""
        if name.startswith("ft:"):
            parts = name.split(":")
            return ":".join([*parts[:2], *map(self.text, parts[2:])])
        return name

    def _words(self, text: str, pattern: re.Pattern[str]) -> Iterator[str]:
        at = 0
        for match in pattern.finditer(text):
            yield text[at : match.start()]
            yield self._run(match[0], text[match.end() : match.end() + 3])
            at = match.end()
        yield text[at:]

    def _run(self, run: str, behind: str) -> str:
        if run[0] == "\\" or run in _LITERALS or (behind == "://" and run in ("http", "https")):
            return run
        return self._names.number(run) if run.isdecimal() else self._names.word(run)

    def _secret(self, secret: str) -> str:
        head = _KEY_HEADS.match(secret)
        start = head.end() if head else 0
        return secret[:start] + self._names.secret(secret[start:])

    def _token(self, token: int) -> int:
        """Return a token id in place of another, for the ids of a text are the text."""
        found = self._tokens.get(token)
        if found is None:
            found = int.from_bytes(self._names.digest(str(token))[:4], "little") % _TOKENS
            taken = set(self._tokens.values())
            while found in taken:
                found += 1
            self._tokens[token] = found
        return found

    def _figure(self, value: float) -> Any:
        shown = msgspec.json.encode(value).decode()
        return value if "e" in shown else msgspec.json.decode("".join(self._words(shown, _WORDS)))


def words_of(text: str) -> list[str]:
    """Return the words and numbers of a text that could be replaced, in order, each once."""
    return list(dict.fromkeys(_WORDS.findall(text)))


def _run_at(text: str, at: int) -> str:
    """Return the word or number that a character lies in; at an end, the one that ends or else begins there."""
    touching = [match for match in _WORDS.finditer(text) if match.start() <= at <= match.end()]
    return touching[0][0] if touching else ""


def _is_name(value: Any) -> bool:
    return isinstance(value, (str, int)) or (isinstance(value, list) and all(isinstance(item, str) for item in value))


def is_json_text(text: str) -> bool:
    """Say whether a text is a JSON object or list."""
    if text[:1] not in ("{", "["):
        return False
    try:
        msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError):
        return False
    return True
