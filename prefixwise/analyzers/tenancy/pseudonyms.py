"""Names that say nothing without a key: keyed hashes of records, tenants, salts and values."""

from __future__ import annotations

import hashlib

from prefixwise.core.excerpt import LIMIT, excerpt

_BYTES = 8


class Pseudonyms:
    """Makes keyed hashes.

    Args:
        key: The secret.
        hide_tenants: Whether tenants are called by hashes, too, and not by the names in the log.
    """

    def __init__(self, key: bytes, *, hide_tenants: bool = False) -> None:
        self._key = key
        self._hide = hide_tenants

    def of(self, kind: str, value: str) -> str:
        """Return the keyed hash of a value of some kind."""
        person = kind.encode()[: hashlib.blake2b.PERSON_SIZE]
        data = value.encode("utf-8", "surrogatepass")
        return hashlib.blake2b(data, key=self._key, digest_size=_BYTES, person=person).hexdigest()

    def tenant(self, name: str) -> str:
        """Return what a tenant is called in reports."""
        return f"tenant-{self.of('tenant', name)[:8]}" if self._hide else excerpt(name, limit=LIMIT)
