"""Who may ask, and what of the cache they see."""

from __future__ import annotations

import hashlib
import tomllib
from pathlib import Path

from prefixwise.core.errors import UserError
from prefixwise.core.namespace import Namespace

_EXAMPLE = 'for example [tenants] and acme = ["a-long-random-key"]'


class Tenants:
    """API keys by tenant; without any, everybody is one tenant.

    Args:
        keys: Tenant by key.
    """

    def __init__(self, keys: dict[str, str]) -> None:
        # By hash, so that how long a look-up takes says nothing about a key.
        self._by_digest = {_digest(key): tenant for key, tenant in keys.items()}

    @property
    def needed(self) -> bool:
        """Whether a key is needed."""
        return bool(self._by_digest)

    def tenant(self, authorization: str) -> str | None:
        """Return the tenant of an `Authorization` header, None for a key that is none's."""
        if not self._by_digest:
            return ""
        scheme, _, key = authorization.partition(" ")
        return self._by_digest.get(_digest(key.strip())) if scheme.lower() == "bearer" else None


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()


def read_tenants(path: Path) -> Tenants:
    """Return the tenants of a TOML file whose table `tenants` has a list of keys by name.

    Raises:
        UserError: The file cannot be read, names no tenant, or gives two tenants one key.
    """
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8")).get("tenants")
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise UserError(f"cannot be read as TOML: {problem}", str(path)) from None
    if not isinstance(found, dict) or not found:
        raise UserError("the file names no tenants", str(path), _EXAMPLE)
    keys: dict[str, str] = {}
    for tenant, own in found.items():
        if not isinstance(own, list) or not own or not all(isinstance(key, str) and key for key in own):
            raise UserError(f"the tenant {tenant[:60]!r} has no list of keys", str(path), _EXAMPLE)
        for key in own:
            if keys.setdefault(key, tenant) != tenant:
                raise UserError(f"{keys[key][:60]!r} and {tenant[:60]!r} have a key in common", str(path))
    return Tenants(keys)


def namespace_of(tenant: str, salt: str | None) -> bytes:
    """Return the namespace of a tenant's request: tenants are apart, and so are the salts of one tenant."""
    return Namespace(salt=salt, extra=tenant or None).id(("extra", "salt"))
