"""Requests with one model, one set of parameters and one namespace where they flipped between several."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from prefixwise.analyzers.lint.claimed import once
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.core.request import Request


def in_time(claims: Iterable[Claim]) -> list[Claim]:
    """Return claims in the order of their requests."""
    return sorted(claims, key=lambda claim: (claim.before if claim.before is not None else claim.after, claim.after))


@once
def first_and_others(claims: Sequence[Claim]) -> tuple[str | None, set[str | None]]:
    """Return the first value that claims on one place tell of, and all that it flipped between.

    Raises:
        ValueError: There are no claims.
    """
    ordered = in_time(claims)
    if not ordered:
        raise ValueError("no claims")
    return ordered[0].from_text, {text for claim in ordered for text in (claim.from_text, claim.to_text)}


@once
def _flips(claims: Sequence[Claim]) -> dict[str, tuple[bytes, frozenset[bytes]]]:
    """Return by name of a parameter its first value, and all between which it flipped."""
    changes = [change for claim in in_time(claims) for change in claim.settings]
    found = {}
    for name in dict.fromkeys(change.name for change in changes):
        ours = [change for change in changes if change.name == name]
        found[name] = ours[0].before, frozenset(value for one in ours for value in (one.before, one.after))
    return found


@once
def _in_bodies(claims: Sequence[Claim]) -> list[Claim]:
    return [claim for claim in claims if not (claim.field or "").startswith("record:")]


def with_first_settings(request: Request, claims: Sequence[Claim]) -> Request:
    """Return a request whose parameters are the first of those between which they flipped; others stay."""
    params = dict(request.params)
    for name, (wanted, flipped) in _flips(claims).items():
        if params.get(name, b"") in flipped:
            params[name] = wanted
    given = tuple((name, value) for name, value in params.items() if value)
    return request if given == request.params else msgspec.structs.replace(request, params=given)


def with_first_model(request: Request, claims: Sequence[Claim]) -> Request:
    """Return a request to the first of the models between which a conversation flipped; others stay."""
    ours = _in_bodies(claims)
    if not ours:
        return request
    wanted, flipped = first_and_others(ours)
    if wanted is None or request.model == wanted or request.model not in flipped:
        return request
    return msgspec.structs.replace(request, model=wanted)


def without_format(request: Request) -> Request:
    """Return a request without the format of its answer that is printed in front of its messages."""
    sections = tuple(section for section in request.sections if section.kind != "format")
    if len(sections) == len(request.sections):
        return request
    return msgspec.structs.replace(request, sections=sections, params=tuple(_without_formats(request.params)))


def _without_formats(params: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    for name, value in params:
        settings = msgspec.json.decode(value) if name == "text" else None
        if isinstance(settings, dict) and "format" in settings:
            left = {key: inner for key, inner in settings.items() if key != "format"}
            if left:
                yield name, msgspec.json.encode(left, order="sorted")
        else:
            yield name, value


def with_namespace(request: Request, **parts: str | None) -> Request:
    """Return a request in whose namespace some parts are others."""
    space = msgspec.structs.replace(request.namespace, **parts)
    return request if space == request.namespace else msgspec.structs.replace(request, namespace=space)


def with_first_adapter(request: Request, claims: Sequence[Claim]) -> Request:
    """Return a request with the first of the adapters between which a conversation flipped; others stay."""
    if not claims:
        return request
    wanted, flipped = first_and_others(claims)
    return with_namespace(request, adapter=wanted) if request.namespace.adapter in flipped else request
