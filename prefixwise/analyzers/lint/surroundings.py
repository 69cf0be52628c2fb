"""What a record says around the body that bears on caching: request headers, and who served the call.

Records are decoded for it only where somebody asks: in conversations of which some turn was not served from the cache
though its text goes on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Raw

from prefixwise.analyzers.lint.compared import Compared, Served
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.lint.observed import Observed
from prefixwise.core.finding import Verdict
from prefixwise.core.pointer import format_pointer
from prefixwise.core.request import Request

KEY_HEADERS = frozenset(
    ("x-grok-conv-id", "x-session-affinity", "x-session-id", "session_id", "session-id", "x-conversation-id")
)
"""Headers by which providers keep the requests of a conversation together."""
ISOLATION_HEADERS = frozenset({"x-prompt-cache-isolation-key"})
BETA_HEADERS = frozenset({"anthropic-beta", "openai-beta"})
SCOPE_HEADERS = frozenset(
    ("anthropic-version", "openai-organization", "openai-project", "x-goog-user-project", "anthropic-workspace-id")
)
_REQUEST_HEADERS = KEY_HEADERS | ISOLATION_HEADERS | BETA_HEADERS | SCOPE_HEADERS

# What says who served a call, the most telling first.
_ROUTES = (
    *("model_id", "deployment_id", "deployment", "deployment_name", "replica", "replica_id", "backend", "pod"),
    *("upstream", "worker", "worker_id", "instance", "instance_id", "api_base", "base_url", "host", "endpoint"),
    *("target_url", "provider", "provider_name", "custom_llm_provider", "region", "location", "zone", "account"),
    *("account_id", "workspace", "workspace_id"),
)
_ROUTE_HEADERS = re.compile(
    r"x-(?:litellm-(?:model-id|model-api-base)|ms-region|served-by|(?:[\w-]+-)?(?:backend|upstream|replica|worker|pod"
    r"|deployment|instance)(?:-id|-name|-host)?)|(?:anthropic|openai)-organization(?:-id)?"
)
_HEADERS = ("headers", "request_headers", "requestHeaders", "response_headers", "responseHeaders", "req_headers")
_CONTAINERS = ("request", "response", "metadata", "hidden_params", "_hidden_params", "routing", "gateway", "http")
_ANSWERS = ("response", "response_body", "completion", "output")
_TELLING_KEYS = frozenset({*_ROUTES, *_HEADERS, *_CONTAINERS, "model", "modelVersion"})
_LONGEST = 300
_FIRST_RECORDS = 100
_members = msgspec.json.Decoder(dict[str, Raw]).decode


class Surroundings:
    """Finds what stands around the bodies of requests for which it may explain something.

    Args:
        log: All requests.
        pairs: Every pair that was compared.
    """

    def __init__(self, log: Log, pairs: Sequence[Compared]) -> None:
        self._conversation = log.conversations.conversation
        self._asked = _doubtful(log, pairs)
        self._bare: dict[str, int] = {}
        """By path: how many records were looked at in vain; -1 where one held something."""

    def asks(self, row: int, path: str, record: bytes) -> bool:
        """Say whether a row's surroundings are of interest.

        Without a miss, or in a file whose records hold nothing of the kind, only those that seem to have headers are.
        """
        missed = self._asked.get(self._conversation[row])
        if missed is None or not record:
            return False
        return (missed and self._bare.get(path, 0) < _FIRST_RECORDS) or b'eaders"' in record

    def add(self, seen: Observed | None, request: Request) -> Observed | None:
        """Return what was observed of a record, `seen`, together with what stands around its body."""
        vain = self._bare.get(request.path, 0)
        found = list(dict.fromkeys(_around(request.raw, "record:", 0)))
        headers = tuple((at, value) for at, value in found if not value or last_name(at) in _REQUEST_HEADERS)
        route = tuple(sorted((place for place in found if place not in headers), key=_telling))
        if not headers and not route:
            self._bare[request.path] = vain + 1 if vain >= 0 else vain
            return seen
        self._bare[request.path] = -1
        return msgspec.structs.replace(seen or Observed(), headers=headers, route=route)


def _doubtful(log: Log, pairs: Sequence[Compared]) -> dict[int, bool]:
    """Return the conversations in which what stands around the bodies may explain something: number, for certain.

    Certain is a miss, or a change of replica where nothing is reported; elsewhere only headers are of interest.
    """
    rows = log.rows
    found: dict[int, bool] = {}
    for pair in pairs:
        if not pair.turn or pair.verdict is Verdict.BREAKS or pair.served is Served.HIT:
            continue
        number = log.conversations.conversation[pair.after]
        moved = log.cached(pair.after) is None and rows.replica[pair.before] != rows.replica[pair.after]
        found[number] = found.get(number, False) or pair.served is Served.MISS or moved
    if any(found.values()):  # whether a change of route costs anything shows in the turns that were served, too
        return {log.conversations.conversation[pair.after]: True for pair in pairs if pair.turn}
    return found


def last_name(pointer: str) -> str:
    """Return the last key of a pointer in lower case: the name of a header."""
    return pointer.rpartition("/")[2].lower()


def _telling(place: tuple[str, str]) -> tuple[int, str]:
    name = last_name(place[0])
    return (_ROUTES.index(name) if name in _ROUTES else len(_ROUTES), place[0])


def _around(raw: bytes, pointer: str, depth: int) -> Iterator[tuple[str, str]]:
    """Yield (pointer, value) of what a record, or an object in it, says of headers, routes and the answering model."""
    try:
        members = _members(raw)
    except (msgspec.MsgspecError, RecursionError):
        return
    for key, value in members.items():
        if key not in _TELLING_KEYS:
            continue
        at = pointer + format_pointer(key)
        first = bytes(memoryview(value)[:1])
        if key in _HEADERS:
            yield from _of_headers(at, value)
        elif key in _CONTAINERS and first == b"{" and depth < 2:
            yield from _around(bytes(value), at, depth + 1)
        elif _is_route(key, pointer) and first not in (b"{", b"[") and len(bytes(value)) <= _LONGEST:
            text = _scalar(msgspec.json.decode(value))
            if text:
                yield at, text


def _is_route(key: str, pointer: str) -> bool:
    if pointer != "record:" and last_name(pointer) in _ANSWERS and key in ("model", "modelVersion"):
        return True
    return key in _ROUTES


def _of_headers(pointer: str, raw: Raw) -> Iterator[tuple[str, str]]:
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.MsgspecError, RecursionError):
        return
    if isinstance(value, dict) and "resp" not in pointer:
        yield pointer, ""  # so that a header that is missing can be told from headers that are
    for name, said in value.items() if isinstance(value, dict) else ():
        said = ",".join(map(str, said)) if isinstance(said, list) else _scalar(said)
        lower = name.lower()
        if said and (lower in _REQUEST_HEADERS or _ROUTE_HEADERS.fullmatch(lower)):
            yield pointer + format_pointer(name), said


def _scalar(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return ""
    return str(value)
