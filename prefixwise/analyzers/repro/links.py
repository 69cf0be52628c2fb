"""Whether a shrunk request body would still be taken: calls of tools and their results go together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from prefixwise.core.request import Request
from prefixwise.corpus.items import HEAD_ROLES, turn_of

_ANSWERS = {"tool_call_id", "tool_use_id"}
"""Keys by which a result names its call, wherever they stand."""


def loose_ends(body: Any) -> frozenset[str]:
    """Return the ids of calls without a result, and of results without a call."""
    calls: set[str] = set()
    results: set[str] = set()
    for is_result, name in _ids(body):
        (results if is_result else calls).add(name)
    return frozenset(calls ^ results)


def first_role(request: Request) -> str | None:
    """Return who speaks first after the system text; None where nobody does."""
    for section in request.sections:
        if section.kind != "messages":
            continue
        for raw in section.raw_items():
            role = turn_of(request.api, section.kind, raw).role
            if role not in HEAD_ROLES:
                return role or ""
    return None


def _ids(value: Any) -> Iterator[tuple[bool, str]]:
    """Yield (whether it is a result's, id) of every call and result in a body."""
    if isinstance(value, list):
        for item in value:
            yield from _ids(item)
    if not isinstance(value, dict):
        return
    kind = str(value.get("type", ""))
    for key, inner in value.items():
        if isinstance(inner, str):
            if key in _ANSWERS:
                yield True, inner
            elif key in ("call_id", "toolCallId"):
                yield kind.endswith(("_output", "-result")), inner
            elif key == "id" and (kind == "tool_use" or "function" in value):
                yield False, inner
        elif key in ("toolUse", "toolResult") and isinstance(inner, dict):
            yield key == "toolResult", str(inner.get("toolUseId", ""))
        else:
            yield from _ids(inner)
