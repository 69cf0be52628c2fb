"""Where two prompts part, and what of the first one's cache the second one keeps."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from prefixwise.core.request import Request
from prefixwise.corpus.rendering import Rendered, Stretch, render, tokenizer_of
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
        char_offset: Code points that the two values share from their start; None where a value is no text.
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


def difference(first: Request, second: Request) -> Difference:
    """Compare two requests on their rendered tokens, both in the first one's tokenizer.

    Raises:
        ValueError: An item of a request is not what its API says.
    """
    tokenizer = tokenizer_of(first)
    if (first.sections[0].kind == "tokens") != (second.sections[0].kind == "tokens"):
        raise ValueError("one prompt is text and the other is token ids: they cannot be compared")
    a, b = render(first, tokenizer), render(second, tokenizer)
    kept = common_ids(a.ids, 0, b.ids, 0, min(a.tokens, b.tokens))
    left, right = _first_difference(a, b)
    texts = left.text if left else "", right.text if right else ""
    offset = None
    if left and right and not left.framing and not right.framing and all(texts):
        offset = common_characters(*texts)
    shown = right or left
    return Difference(
        verdict=_verdict(a, b),
        kept_tokens=kept,
        first_tokens=a.tokens,
        second_tokens=b.tokens,
        first_field=left.pointer if left else None,
        second_field=right.pointer if right else None,
        kind=shown.kind if shown else "",
        role=shown.role if shown else "",
        char_offset=offset,
        first_text=texts[0],
        second_text=texts[1],
        parameters=_parameters(first, second),
        same_model=first.model == second.model,
        same_namespace=first.namespace == second.namespace,
        tokenizer=tokenizer.name,
    )


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


def common_characters(first: str, second: str) -> int:
    """Return how many code points two strings share from their start; bisects over slices."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def kept_units(difference: Difference, unit: int) -> int:
    """Return how many whole units of the second prompt a cache of the first serves; never its last token."""
    return max(0, min(difference.kept_tokens, difference.second_tokens - 1)) // unit
