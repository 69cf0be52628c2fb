"""`salt-constant`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from prefixwise.analyzers.tenancy.audit import Audit
from prefixwise.analyzers.tenancy.known_salts import SHIPPED
from prefixwise.analyzers.tenancy.threat import THREATS, Sighting, Threat
from prefixwise.analyzers.tenancy.wording import GATEWAY_SALT, counted, is_default
from prefixwise.core.finding import Confidence, Severity, Where

_MOST = 0.9
_SETTINGS = ("cache_salt", "default_cache_salt", "cache_salt_secret", "prompt_cache_key_secret", "prompt_cache_salt")
_KNOWN = {text for word in SHIPPED for text in (word, hashlib.sha256(word.encode()).hexdigest())}


def is_constant(audit: Audit, salt: str) -> bool:
    """Say whether a salt is that of nearly all traffic and of several tenants, or a default that is shipped."""
    rows = audit.by_salt.get(salt, ())
    return salt in _KNOWN or (len(audit.tenants_of(rows)) > 1 and len(rows) > _MOST * len(audit.known))


class SaltConstant(Threat):
    """# One salt for everybody

    A salt that all tenants share, or nearly all, separates nobody. It comes from a constant in a gateway's configuration, from
    a hash of something all requests have, or from a default that a gateway ships: whoever reads its source knows it.

    Reported are a salt of several tenants that covers more than nine requests in ten, salts that are known defaults, and
    constants in configurations.

    ```jsonl bad
    {"tenant": "ash", "ts": 1770000000, "request": {"model": "Qwen3-8B", "cache_salt": "9f2c4e7a1b8d3f6059c1e2a47b80d6f3", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    {"tenant": "birch", "ts": 1770000060, "request": {"model": "Qwen3-8B", "cache_salt": "9f2c4e7a1b8d3f6059c1e2a47b80d6f3", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "Do dogs pay?"}]}}
    ```

    ```jsonl good
    {"tenant": "ash", "ts": 1770000000, "request": {"model": "Qwen3-8B", "cache_salt": "9f2c4e7a1b8d3f6059c1e2a47b80d6f3", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    {"tenant": "birch", "ts": 1770000060, "request": {"model": "Qwen3-8B", "cache_salt": "3b7e91d04c6fa8e25d10f7c98ab46e21", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "Do dogs pay?"}]}}
    ```

    ```yaml bad
    gateway:
      cache_salt: 5e1c07
    ```

    ```yaml good
    gateway:
      cache_salt: "{{ hmac(tenant) }}"
    ```
    """  # noqa: E501

    name = "salt-constant"
    code = "PT002"
    id = "T2"
    summary = "All tenants have the same salt, or one that is shipped as a default"
    severity = Severity.HIGH
    fix = "Derive the salt of each tenant from its id with a secret key."
    moves = True
    where = (Where.PARAMS, Where.ENGINE)

    def detect(self, audit: Audit) -> Iterable[Sighting]:
        """Yield salts that separate nobody, in the log and in the configuration."""
        for salt, rows in audit.by_salt.items():
            if is_constant(audit, salt) and not is_default(salt):
                shipped = salt in _KNOWN
                yield Sighting(
                    message=f"One salt is sent with {counted(len(rows), 'request')} of "
                    f"{counted(len(audit.tenants_of(rows)), 'tenant')}: it separates nobody.",
                    rows=rows,
                    confidence=Confidence.CERTAIN,
                    evidence=(
                        f"salt {audit.names.of('salt', salt)} (keyed hash)",
                        *(("it is a default that a gateway ships",) if shipped else ()),
                    ),
                    change=GATEWAY_SALT,
                    cause="shipped" if shipped else "constant",
                )
        for setting in audit.asked.deployment.find(*_SETTINGS):
            shipped = setting.value in _KNOWN
            if shipped or (setting.is_constant and not setting.last.endswith("secret")):
                yield Sighting(
                    message="The configuration sets one salt for all requests."
                    if not shipped
                    else "The configuration holds a secret that is shipped as a default.",
                    confidence=Confidence.CERTAIN,
                    setting=setting,
                    change=GATEWAY_SALT,
                    where=Where.ENGINE,
                    cause=setting.name,
                )


THREATS.add(SaltConstant.name, SaltConstant())
