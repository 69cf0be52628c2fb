"""`salt-guessable`."""

from __future__ import annotations

from collections.abc import Iterable

from prefixwise.analyzers.tenancy.audit import Audit
from prefixwise.analyzers.tenancy.salts import Weak
from prefixwise.analyzers.tenancy.threat import THREATS, Sighting, Threat
from prefixwise.analyzers.tenancy.threats.salt_constant import is_constant
from prefixwise.analyzers.tenancy.wording import GATEWAY_SALT, agreeing, counted, is_default
from prefixwise.core.finding import Confidence, Severity


class SaltGuessable(Threat):
    """# Salts that can be guessed

    A salt keeps others out only as long as they do not know it. A hash of the tenant's name is no secret: whoever knows the name
    computes it. Numbers in a row, times and short values are found by trying.

    Every salt is compared with what can be derived from the known ids without a key: the id itself, in the usual frames, its
    MD5, SHA-1 and SHA-2 in hexadecimal digits and base64, whole and cut, UUIDs of version 3 and 5. Salts that differ in a
    counter, UUIDs of the versions that hold the time, dates, and salts whose varying part has fewer than 64 bits are reported
    too; with fewer than 112 bits it is a warning. A long salt may still be weak: what is said is an upper bound.

    ```jsonl bad
    {"tenant": "ash", "ts": 1770000000, "request": {"model": "Qwen3-8B", "cache_salt": "tenant-ash", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    {"tenant": "birch", "ts": 1770000060, "request": {"model": "Qwen3-8B", "cache_salt": "tenant-birch", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "Do dogs pay?"}]}}
    ```

    ```jsonl good
    {"tenant": "ash", "ts": 1770000000, "request": {"model": "Qwen3-8B", "cache_salt": "9f2c4e7a1b8d3f6059c1e2a47b80d6f3", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    {"tenant": "birch", "ts": 1770000060, "request": {"model": "Qwen3-8B", "cache_salt": "3b7e91d04c6fa8e25d10f7c98ab46e21", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "Do dogs pay?"}]}}
    ```
    """  # noqa: E501

    name = "salt-guessable"
    code = "PT003"
    id = "T3"
    summary = "Salts can be guessed: derived without a key, counted, made from the time, or short"
    severity = Severity.HIGH
    fix = "Use HMAC-SHA256 with a secret key over the length-framed tenant id; keep the key out of logs."

    def detect(self, audit: Audit) -> Iterable[Sighting]:
        """Yield each way in which salts can be guessed; defaults and constants are told of by other threats."""
        for weak in audit.weak:
            salts = [salt for salt in weak.salts if not is_default(salt) and not is_constant(audit, salt)]
            if salts:
                yield self._sighting(audit, weak, salts)

    def _sighting(self, audit: Audit, weak: Weak, salts: list[str]) -> Sighting:
        rows = [row for salt in salts for row in audit.by_salt[salt]]
        return Sighting(
            message=f"{counted(len(salts), 'salt')} can be guessed: {weak.weakness}."
            if weak.certain
            else f"{counted(len(salts), 'salt')} {agreeing(len(salts), 'hold')} fewer bits than 112.",
            rows=rows,
            severity=None if weak.certain else Severity.MEDIUM,
            confidence=Confidence.LIKELY if weak.certain else Confidence.POSSIBLE,
            evidence=(weak.how, f"for example {audit.names.of('salt', salts[0])} (keyed hash)"),
            change=GATEWAY_SALT,
            cause=f"{weak.weakness.name} {weak.how}",
        )


THREATS.add(SaltGuessable.name, SaltGuessable())
