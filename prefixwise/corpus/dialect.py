"""What the reader of one API's request bodies provides; implementations stand in `apis/`, one file each."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import msgspec

from prefixwise.core.namespace import SHARED, Namespace
from prefixwise.core.registry import Registry
from prefixwise.core.request import Part, Section, Turn
from prefixwise.corpus.raw_json import answer_in


class Draft(msgspec.Struct, gc=False):
    """What a body alone says of a request; the reader adds what stands around the body.

    `tenant` and `session` are those the body itself names (`user`, `metadata.session_id`, …); `automatic` is the TTL
    in seconds where the provider is asked to place a marker at the end by itself; `controls` are wishes to the cache
    that do not enter its key.
    """

    model: str
    sections: tuple[Section, ...]
    namespace: Namespace = SHARED
    params: tuple[tuple[str, bytes], ...] = ()
    tenant: str = ""
    session: str = ""
    opens_reply: bool = True
    automatic: float | None = None
    controls: tuple[tuple[str, bytes], ...] = ()


class Dialect(msgspec.Struct, frozen=True):
    """One API's request body.

    Attributes:
        name: As in `--input-format`.
        provider: Whose cache it is when the model's name does not tell.
        body: Struct into which a body is decoded; keys it does not name are skipped.
        score: Says how sure it is that a decoded body is of this API; 0 is "not at all".
        draft: Reads a decoded body. Raises ValueError with a reason where it cannot.
        turn: Reads one decoded item of a section of the given kind.
        reply: Reads the logged answer (decoded JSON) as the assistant's turn, None where it holds none.
        telltale: Returns what of a decoded body may mean that it is of another API; a value that was not met before
            makes the reader look at the whole record again.
    """

    name: str
    provider: str
    body: type[msgspec.Struct]
    score: Callable[[dict[str, Any]], int]
    draft: Callable[[Any], Draft]
    turn: Callable[[str, Any], Turn]
    reply: Callable[[Any], Turn | None]
    telltale: Callable[[Any], Hashable] = lambda _body: None


DIALECTS: Registry[Dialect] = Registry("API", "prefixwise.corpus.apis", "apis")

SHAPE_ERRORS = (
    msgspec.MsgspecError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    RecursionError,
)
"""What reading a record of the wrong shape may raise: the record is broken, not the program."""


def what_is_wrong(problem: Exception, of: str) -> str:
    """Say in a clause why a record could not be read.

    Args:
        problem: One of `SHAPE_ERRORS`.
        of: Whose shape it should have had: `API` or `format`.
    """
    if isinstance(problem, RecursionError):
        return "nested too deeply"
    text = str(problem)[:200]
    if isinstance(problem, (msgspec.MsgspecError, ValueError)) and text:
        return text
    return f"not of the shape of its {of} ({type(problem).__name__}: {text})"


def reply_turn(api: str, answer: Any, opens_reply: bool) -> Turn | None:
    """Read a logged answer: as its API writes it, as another one does (gateways translate), or as a bare message.

    Args:
        api: Whose request body it answers.
        answer: Decoded JSON of the answer.
        opens_reply: Whether the prompt opened the assistant's turn.
    """
    if isinstance(answer, str):
        said = answer_in(answer)
        if said is None:
            return Turn("assistant" if opens_reply else None, (Part("", answer),)) if answer else None
        answer = said
    if isinstance(answer, list) and answer and all(type(token) is int for token in answer):
        return Turn(None, (Part("", ids=tuple(answer)),))
    dialect = DIALECTS.get(api)
    if (turn := dialect.reply(answer)) is not None or not isinstance(answer, dict):
        return turn
    if "content" in answer or "role" in answer:
        message = {**answer, "role": "assistant"}
        if api == "completions":  # a text was answered by a message: gateways translate
            return DIALECTS.get("openai-chat").turn("messages", message)
        return dialect.turn("messages", message)
    return next((turn for other in DIALECTS if (turn := other.reply(answer)) is not None), None)


def answer_ids(answer: Any) -> tuple[int, ...]:
    """Return the token ids of a logged answer that holds them beside its text, as engines write them."""
    choices = answer.get("choices") if isinstance(answer, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else answer
    for key in ("token_ids", "output_token_ids", "output_ids"):
        ids = first.get(key) if isinstance(first, dict) else None
        if isinstance(ids, list) and ids and all(type(token) is int and 0 <= token < 2**31 for token in ids):
            return tuple(ids)
    return ()


MARKER_KEYS = frozenset({"cache_control", "prompt_cache_breakpoint", "cachePoint"})
_TTL_SECONDS = {"5m": 300.0, "30m": 1800.0, "1h": 3600.0, "12h": 43200.0}


def marker_of(item: Any) -> float | None:
    """Return the TTL in seconds of the cache marker that `item` carries, or None."""
    if not isinstance(item, dict):
        return None
    for key in MARKER_KEYS:
        marker = item.get(key)
        if isinstance(marker, dict):
            return _TTL_SECONDS.get(str(marker.get("ttl")), 300.0)
    return None


def compact_json(value: Any) -> str:
    """Return `value` as compact JSON in its own key order."""
    return msgspec.json.encode(value).decode()


def text_part(pointer: str, value: Any, marker: float | None = None) -> Part:
    """Return `value` as text: a string as it is, anything else as compact JSON."""
    if isinstance(value, str):
        return Part(pointer, value, marker=marker)
    return Part(pointer, compact_json(value), marker=marker, is_json=True)


def block_part(pointer: str, block: Any) -> Part:
    """Return a tool or a content block as compact JSON; its cache marker marks its end and is not part of it."""
    marker = marker_of(block)
    if isinstance(block, dict):
        block = {key: item for key, item in block.items() if key not in MARKER_KEYS}
    return text_part(pointer, block, marker)


def tool_turn(item: Any) -> Turn:
    """Return a tool definition as a turn without a role."""
    return Turn(None, (block_part("", item),))


def name_in(value: Any, *keys: str) -> str:
    """Return the first of `keys` that the mapping `value` holds as a non-empty scalar, else ''."""
    if isinstance(value, dict):
        for key in keys:
            found = value.get(key)
            if isinstance(found, (str, int)) and found != "":
                return str(found)
    return ""
