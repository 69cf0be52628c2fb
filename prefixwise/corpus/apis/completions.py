"""Bare prompts: `{"prompt": text}` (OpenAI Completions, engines) and lists of token ids."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from prefixwise.core.request import Part, Section, Turn
from prefixwise.corpus.bodies import CommonBody, namespace_of, text_of
from prefixwise.corpus.dialect import DIALECTS, Dialect, Draft

_ID_KEYS = ("prompt_token_ids", "token_ids", "input_ids")


class Body(CommonBody):
    """The fields of a completion body that matter to a cache."""

    prompt: str | list[int] | None = None
    prompt_token_ids: list[int] | None = None
    token_ids: list[int] | None = None
    input_ids: list[int] | None = None


def score(body: dict[str, Any]) -> int:
    """Say how sure it is that `body` is a bare prompt."""
    prompt = body.get("prompt")
    if isinstance(prompt, str) or is_ids(prompt) or any(is_ids(body.get(key)) for key in _ID_KEYS):
        return 2
    return 0


def is_ids(value: Any) -> bool:
    """Say whether `value` is a list of token ids."""
    return isinstance(value, list) and bool(value) and all(type(item) is int for item in value)


def draft(body: Body) -> Draft:
    """Read a decoded body; ids win over text, since they are what the engine sees."""
    for key in (*_ID_KEYS, "prompt"):
        value = getattr(body, key)
        if value is None or value == []:
            continue
        kind = "prompt" if isinstance(value, str) else "tokens"
        raw = Raw(msgspec.json.encode(value))
        section = Section(kind, f"/{key}", [raw], listed=False)
        return Draft(
            text_of(body.model) or "",
            (section,),
            namespace_of(body),
            tenant=text_of(body.user) or "",
            opens_reply=False,
        )
    raise ValueError("no `prompt` and no token ids")


def turn(kind: str, item: Any) -> Turn:
    """Read the prompt or the ids."""
    if kind == "tokens":
        if item and not (min(item) >= 0 and max(item) < 2**31):
            raise ValueError("a token id is negative or does not fit 31 bits")
        return Turn(None, (Part("", ids=tuple(item)),))
    if not isinstance(item, str):
        raise ValueError(f"a prompt is {type(item).__name__}, not a text")
    return Turn(None, (Part("", item),))


def reply(response: Any) -> Turn | None:
    """Read the first choice of a logged answer."""
    choices = response.get("choices") if isinstance(response, dict) else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return None
    text = choices[0].get("text")
    return Turn(None, (Part("/choices/0/text", text),)) if isinstance(text, str) else None


DIALECTS.add("completions", Dialect("completions", "", Body, score, draft, turn, reply))
