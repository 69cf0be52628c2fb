"""Records that hold a request twice: as the client sent it to a gateway, and as the gateway sent it on."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import Raw

from prefixwise.analyzers.lint.marker_places import MARKER_KEYS
from prefixwise.core.pointer import format_pointer

_CLIENT = ("client", "inbound", "incoming", "original", "received", "proxy_server_request", "downstream")
_UPSTREAM = ("upstream", "provider", "forward", "outbound", "outgoing", "sent", "backend", "raw_request")
_DEEPEST = 4
_WORDS = tuple(b'"%s"' % key.encode() for key in MARKER_KEYS)
_keys = msgspec.json.Decoder(dict[str, Raw]).decode


class _Body(msgspec.Struct, frozen=True):
    pointer: str
    raw: bytes

    @property
    def markers(self) -> int:
        """How many markers it has, as far as counting names tells."""
        return sum(self.raw.count(word) for word in _WORDS)

    def is_called(self, words: tuple[str, ...]) -> bool:
        name = self.pointer.lower()
        return any(word in name for word in words)


class LostMarkers(msgspec.Struct, frozen=True):
    """A client's body with markers beside the body that was sent on without.

    Attributes:
        client, upstream: Pointers of the two in the record.
        sent, kept: Markers in each.
    """

    client: str
    upstream: str
    sent: int
    kept: int


def has_two_bodies(record: bytes) -> bool:
    """Say whether a record may hold a request twice."""
    return record.count(b'"messages') > 1


def lost_markers_in(record: bytes) -> LostMarkers | None:
    """Return what a record shows of markers that were lost on the way, None where it shows nothing of the kind."""
    try:
        bodies = list(_bodies(record, "", 0))
    except (msgspec.MsgspecError, RecursionError):
        return None
    clients = [body for body in bodies if body.is_called(_CLIENT)]
    upstreams = [body for body in bodies if body.is_called(_UPSTREAM) and body not in clients]
    others = [body for body in bodies if body not in clients and body not in upstreams]
    if len(bodies) != 2 or len(others) == 2:
        return None
    client, upstream = (clients or others)[0], (upstreams or others)[-1]
    if client is upstream or not client.markers > upstream.markers == 0:
        return None
    return LostMarkers(client.pointer, upstream.pointer, client.markers, upstream.markers)


def _bodies(raw: bytes, pointer: str, depth: int) -> Iterator[_Body]:
    if raw[:1] == b'"':
        raw = msgspec.json.decode(raw, type=str).encode()
    if raw[:1] != b"{" or depth > _DEEPEST or b"messages" not in raw:
        return
    keys = _keys(raw)
    if "messages" in keys and bytes(keys["messages"])[:1] == b"[":
        yield _Body(pointer, raw)
        return
    for key, inner in keys.items():
        yield from _bodies(bytes(inner), pointer + format_pointer(key), depth + 1)
