"""Where two prompts part, and what of the first one's cache the second one keeps."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, NamedTuple

import msgspec

from prefixwise.analyzers.values.hunks import common_prefix
from prefixwise.core.pointer import format_pointer
from prefixwise.core.request import Request
from prefixwise.corpus.rendering import Rendered, Stretch, render, tokenizer_of
from prefixwise.corpus.tokenizer import ChooseTokenizer
from prefixwise.corpus.tokenizers.openai import choose
from prefixwise.corpus.tree import common_ids


class Verdict(StrEnum):
    """How the second prompt stands to the first."""

    IDENTICAL = "identical"
    EXTENDS = "extends"
    PREFIX = "prefix of the first"
    BREAKS = "breaks"


class Difference(msgspec.Struct, frozen=True):
    """Where and how two prompts part.

    Attributes:
        verdict: How the second stands to the first; the opening of the reply is left out of account.
        kept_tokens: Leading tokens that both have: what a cache of the first can serve to the second.
        first_tokens, second_tokens: Lengths of the prompts.
        first_field, second_field: Pointer of the value that differs first (None at the end of a prompt).
        kind, role: Section and role of that value.
        char_offset: Code points that the two values share from their start; None where a value is no string.
        first_text, second_text: The two values.
        parameters: Names of key parameters that differ.
        same_model, same_namespace: Whether the two can share a cache at all.
    """

    verdict: Verdict
    kept_tokens: int
    first_tokens: int
    second_tokens: int
    first_field: str | None
    second_field: str | None
    kind: str
    role: str
    char_offset: int | None
    first_text: str
    second_text: str
    parameters: tuple[str, ...]
    same_model: bool
    same_namespace: bool
    tokenizer: str


def difference(first: Request, second: Request, choose_tokenizer: ChooseTokenizer = choose) -> Difference:
    """Compare two requests on their rendered tokens, both in the first one's tokenizer.

    Raises:
        ValueError: An item of a request is not what its API says, or its chat template refuses it.
        UserError: A chat template cannot take bodies of its API.
    """
    tokenizer = tokenizer_of(first, choose_tokenizer)
    if (first.sections[0].kind == "tokens") != (second.sections[0].kind == "tokens"):
        raise ValueError("one prompt is text and the other is token ids: they cannot be compared")
    a, b = render(first, tokenizer), render(second, tokenizer)
    kept = common_ids(a.ids, 0, b.ids, 0, min(a.tokens, b.tokens))
    left, right = _first_difference(a, b)
    place = _place(left, right)
    shown = right or left
    return Difference(
        verdict=_verdict(a, b),
        kept_tokens=kept,
        first_tokens=a.tokens,
        second_tokens=b.tokens,
        first_field=place.first_field,
        second_field=place.second_field,
        kind=shown.kind if shown else "",
        role=shown.role if shown else "",
        char_offset=place.char_offset,
        first_text=place.first_text,
        second_text=place.second_text,
        parameters=_parameters(first, second),
        same_model=first.model == second.model,
        same_namespace=first.namespace == second.namespace,
        tokenizer=tokenizer.name,
    )


class _Place(NamedTuple):
    first_field: str | None
    second_field: str | None
    first_text: str
    second_text: str
    char_offset: int | None


def _place(left: Stretch | None, right: Stretch | None) -> _Place:
    """Return the values in which two stretches differ first; inside JSON, the innermost."""
    fields = (left.pointer if left else None, right.pointer if right else None)
    texts = (left.text if left else "", right.text if right else "")
    if not (left and right and left.is_json and right.is_json):
        comparable = left and right and not left.framing and not right.framing and all(texts)
        in_strings = comparable and not left.is_json and not right.is_json  # type: ignore[union-attr]
        return _Place(*fields, *texts, common_prefix(*texts) if in_strings else None)
    inner, first, second = inside_json(msgspec.json.decode(left.text), msgspec.json.decode(right.text))
    one, other = (v if isinstance(v, str) else msgspec.json.encode(v).decode() for v in (first, second))
    strings = isinstance(first, str) and isinstance(second, str)
    offset = common_prefix(one, other) if strings else None
    return _Place(left.pointer + inner, right.pointer + inner, one, other, offset)


def inside_json(first: Any, second: Any) -> tuple[str, Any, Any]:
    """Return (pointer, first value, second value) of the innermost place where two JSON values differ first.

    Objects whose keys differ, or stand in another order, differ as a whole.
    """
    if isinstance(first, dict) and isinstance(second, dict) and list(first) == list(second):
        pairs: list[tuple[str | int, Any, Any]] = [(key, first[key], second[key]) for key in first]
    elif isinstance(first, list) and isinstance(second, list):
        pairs = [(index, one, other) for index, (one, other) in enumerate(zip(first, second, strict=False))]
    else:
        return "", first, second
    for key, one, other in pairs:
        if one != other or msgspec.json.encode(one) != msgspec.json.encode(other):
            inner, *values = inside_json(one, other)
            return format_pointer(key) + inner, *values
    return "", first, second


def _body(rendered: Rendered) -> list[Stretch]:
    """Return the stretches without the opening of the reply."""
    return [stretch for stretch in rendered.stretches if stretch.kind != "reply"]


def _verdict(a: Rendered, b: Rendered) -> Verdict:
    first = b"".join(stretch.ids for stretch in _body(a))
    second = b"".join(stretch.ids for stretch in _body(b))
    if first == second:
        return Verdict.IDENTICAL
    if second.startswith(first):
        return Verdict.EXTENDS
    return Verdict.PREFIX if first.startswith(second) else Verdict.BREAKS


def _first_difference(a: Rendered, b: Rendered) -> tuple[Stretch | None, Stretch | None]:
    """Return the first stretches that differ; None for a side that has ended."""
    left, right = _body(a), _body(b)
    for one, other in zip(left, right, strict=False):
        if one.ids != other.ids or one.text != other.text:
            return one, other
    at = min(len(left), len(right))
    return (left[at] if at < len(left) else None), (right[at] if at < len(right) else None)


def _parameters(first: Request, second: Request) -> tuple[str, ...]:
    one, other = dict(first.params), dict(second.params)
    return tuple(sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name)))


def kept_units(difference: Difference, unit: int) -> int:
    """Return how many whole units of the second prompt a cache of the first serves; never its last token."""
    return max(0, min(difference.kept_tokens, difference.second_tokens - 1)) // unit
