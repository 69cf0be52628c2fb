"""An endpoint as a user names it: address, protocol, model and key; and requests to it, encoded beforehand."""

from __future__ import annotations

import functools
import ssl
from typing import Any
from urllib.parse import urlsplit

import msgspec

from prefixwise import __version__
from prefixwise.clients.protocol import Ask, Protocol
from prefixwise.core.errors import UserError


class Endpoint(msgspec.Struct, frozen=True):
    """Where requests go.

    Attributes:
        address: `http://HOST:PORT/BASE`, without the protocol's own path; a path that ends in `/v1` is taken for it.
        protocol: How it is spoken to.
        model: As it calls the model.
        key: API key, '' for none; it is in no representation.
        headers: Further header fields (name, value), such as a tenant's.
    """

    address: str
    protocol: Protocol
    model: str
    key: str = ""
    headers: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        """Refuse an address that is none. Raises UserError."""
        parts = urlsplit(self.address)
        try:
            port = parts.port
        except ValueError:
            port = -1
        if parts.scheme not in ("http", "https") or not parts.hostname or port == -1 or parts.query or parts.fragment:
            raise UserError(
                "this is no address of an endpoint", self.address, "for example http://localhost:8000 or https://…"
            )
        for name, value in self.headers:
            if not _is_token(name) or any(ord(one) < 32 or ord(one) == 127 for one in value):
                raise UserError("this is no header field", name, "write it as 'Name: value', on one line")

    def __repr__(self) -> str:
        return f"Endpoint({self.address!r}, {self.protocol.name!r}, {self.model!r})"

    @property
    def host(self) -> str:
        """Name or address of the host."""
        return urlsplit(self.address).hostname or ""

    @property
    def port(self) -> int:
        """Port of the host."""
        parts = urlsplit(self.address)
        return parts.port or (443 if parts.scheme == "https" else 80)

    @property
    def tls(self) -> ssl.SSLContext | None:
        """Settings of TLS, with the system's certificates; None for plain HTTP."""
        return _trusting() if self.address.startswith("https:") else None

    @property
    def is_local(self) -> bool:
        """Whether it runs on this machine, where nobody is paid for it."""
        return self.host in ("localhost", "::1") or self.host.startswith("127.")

    def url(self, path: str) -> str:
        """Return the whole address of a path of the endpoint."""
        return f"{urlsplit(self.address).scheme}://{self._authority}{self._path(path)}"

    @property
    def _authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{parts.port}" if (parts := urlsplit(self.address)).port else host

    def _path(self, path: str) -> str:
        base = urlsplit(self.address).path.rstrip("/")
        version = path.split("/")[1] if path.startswith("/v") else ""
        return f"{base.removesuffix(f'/{version}') if version else base}{path}"

    def ask(self, ask: Ask) -> bytes:
        """Return a request as it goes over the wire."""
        return self.encoded(self.protocol.body(ask), stream=ask.stream)

    def encoded(self, body: dict[str, Any], *, stream: bool) -> bytes:
        """Return a request with this body as it goes over the wire: what costs time is done before the clock runs."""
        return self.framed(msgspec.json.encode(body), stream=stream)

    def framed(self, content: bytes, *, stream: bool) -> bytes:
        """Return a request with a body that is JSON already as it goes over the wire."""
        fields = {
            "host": self._authority,
            "content-type": "application/json",
            "content-length": str(len(content)),
            "accept": "text/event-stream" if stream else "application/json",
            "accept-encoding": "identity",
            "user-agent": f"prefixwise/{__version__}",
            **self.protocol.headers(self.key),
            **{name.lower(): value for name, value in self.headers},
        }
        path = self._path(self.protocol.path(self.model, stream=stream))
        lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items()), "", ""]
        return "\r\n".join(lines).encode("utf-8") + content


@functools.cache
def _trusting() -> ssl.SSLContext:
    """Return settings that trust whom the system trusts: one for all connections, since reading them takes so long
    that a request which is due meanwhile would be late.
    """  # noqa: D205 - one sentence
    return ssl.create_default_context()


def _is_token(name: str) -> bool:
    return bool(name) and all(one.isascii() and (one.isalnum() or one in "!#$%&'*+-.^_`|~") for one in name)
