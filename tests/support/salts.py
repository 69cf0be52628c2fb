"""Makers of cache salts, sound and weak: given a seed, a salt for each tenant."""

from __future__ import annotations

import base64
import hashlib
import hmac
import random
import string
import uuid
from collections.abc import Callable

Maker = Callable[[random.Random, list[str]], list[str]]


def _hmac(draw: random.Random, tenants: list[str]) -> list[bytes]:
    key = draw.randbytes(32)
    return [hmac.digest(key, b"%d:%s" % (len(name), name.encode()), "sha256") for name in tenants]


def _uuid4(draw: random.Random) -> uuid.UUID:
    return uuid.UUID(int=draw.getrandbits(128), version=4)


def _uuid7(draw: random.Random, at: int) -> str:
    value = (1_770_000_000_000 + at) << 80 | draw.getrandbits(80)
    value = value & ~(0xF << 76) | 7 << 76
    return str(uuid.UUID(int=value & ~(0x3 << 62) | 2 << 62))


SOUND: dict[str, Maker] = {
    "hmac-hex": lambda draw, names: [value.hex() for value in _hmac(draw, names)],
    "hmac-base64": lambda draw, names: [base64.urlsafe_b64encode(value).decode() for value in _hmac(draw, names)],
    "random-128": lambda draw, names: [draw.randbytes(16).hex() for _ in names],
    "uuid4": lambda draw, names: [str(_uuid4(draw)) for _ in names],
    "base62": lambda draw, names: ["".join(draw.choices(string.ascii_letters + string.digits, k=24)) for _ in names],
}
WEAK: dict[str, Maker] = {
    "plain": lambda draw, names: names,
    "framed": lambda draw, names: [f"tenant-{name.upper()}" for name in names],
    "with-constant": lambda draw, names: [f"{name}::{'q' * 40}" for name in names],
    "md5": lambda draw, names: [hashlib.md5(name.encode()).hexdigest() for name in names],
    "sha256": lambda draw, names: [hashlib.sha256(name.encode()).hexdigest() for name in names],
    "sha256-cut": lambda draw, names: [hashlib.sha256(f"org_{name}".encode()).hexdigest()[:32] for name in names],
    "base64": lambda draw, names: [base64.b64encode(name.encode()).decode() for name in names],
    "uuid5": lambda draw, names: [str(uuid.uuid5(uuid.NAMESPACE_DNS, name)) for name in names],
    "counted": lambda draw, names: [f"salt-{at:032d}" for at, _ in enumerate(names, draw.randrange(10**6))],
    "uuid7": lambda draw, names: [_uuid7(draw, at * draw.randrange(10**6)) for at in range(len(names))],
    "epoch": lambda draw, names: [f"salt.{draw.randrange(1_700_000_000, 1_790_000_000)}.{'x' * 40}" for _ in names],
    "short": lambda draw, names: [f"salt_{draw.randbytes(4).hex()}_{'z' * 40}" for _ in names],
}


def tenant_names(draw: random.Random, many: int) -> list[str]:
    """Return names of tenants: words, numbers, and ids of a few letters."""
    kinds: list[Callable[[], str]] = [
        lambda: "".join(draw.choices(string.ascii_lowercase, k=draw.randint(3, 9))),
        lambda: str(draw.randrange(1, 10**6)),
        lambda: "org-" + "".join(draw.choices(string.ascii_letters + string.digits, k=8)),
    ]
    kind = draw.choice(kinds)
    names: dict[str, None] = {}
    while len(names) < many:
        names[kind()] = None
    return list(names)
