"""Values that the user's own pointers lead to (`--tenant-field` and its kin)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from prefixwise.core.namespace import SHARED
from prefixwise.core.pointer import resolve
from prefixwise.core.request import Request
from prefixwise.core.times import epoch_seconds


def apply_fields(request: Request, record: bytes, fields: Mapping[str, tuple[str, ...]]) -> None:
    """Put the values that `fields` lead to in `record` in place of what was found."""
    value = msgspec.json.decode(record)
    for field, keys in fields.items():
        found = next(resolve(value, keys), None)
        if found is None:
            continue
        if field in ("start", "end"):
            setattr(request, field, epoch_seconds(found))
        elif field == "salt":
            base = request.namespace or SHARED
            request.namespace = msgspec.structs.replace(base, salt=_scalar(found))
        else:
            setattr(request, field, _scalar(found))


def _scalar(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
