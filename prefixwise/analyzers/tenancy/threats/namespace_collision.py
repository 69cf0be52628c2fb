"""`namespace-collision`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from prefixwise.analyzers.tenancy.audit import Audit
from prefixwise.analyzers.tenancy.threat import THREATS, Sighting, Threat
from prefixwise.analyzers.tenancy.wording import counted
from prefixwise.core.finding import Confidence, Severity, Where

_ALGORITHMS = ("prefix_caching_hash_algo", "pre_caching_hash_algorithm")
_WEAK = frozenset({"builtin", "xxhash", "xxhash_cbor"})
_LONGEST = 128
_FORBIDDEN = frozenset("@/\\\0")


class NamespaceCollision(Threat):
    """# Namespaces that run into each other

    Engines put salt, extra key and adapter into one key. Where they are joined as strings, the pairs ("a", "bc") and ("ab", "c")
    are one, and an adapter that is called like somebody's salt is that somebody. A salt that is too long or holds forbidden
    characters is cut, refused, or takes the engine down. Block hashes that are not cryptographic can be made to collide.

    ```jsonl bad
    {"tenant": "ash", "ts": 1770000000, "request": {"model": "Qwen3-8B", "cache_salt": "9f2c4e7a1b8d3f6059c1e2a47b80d6f3", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    {"tenant": "birch", "ts": 1770000060, "request": {"model": "Qwen3-8B", "lora_path": "9f2c4e7a1b8d3f6059c1e2a47b80d6f3", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "Do dogs pay?"}]}}
    ```

    ```jsonl good
    {"tenant": "ash", "ts": 1770000000, "request": {"model": "Qwen3-8B", "cache_salt": "9f2c4e7a1b8d3f6059c1e2a47b80d6f3", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    {"tenant": "birch", "ts": 1770000060, "request": {"model": "Qwen3-8B", "cache_salt": "3b7e91d04c6fa8e25d10f7c98ab46e21", "lora_path": "ferries-v2", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "Do dogs pay?"}]}}
    ```

    ```text bad
    vllm serve Qwen/Qwen3-8B --prefix-caching-hash-algo xxhash
    ```

    ```text good
    vllm serve Qwen/Qwen3-8B --prefix-caching-hash-algo sha256
    ```
    """  # noqa: E501

    name = "namespace-collision"
    code = "PT006"
    id = "T6"
    summary = "Two different namespaces become one where their parts are joined"
    severity = Severity.HIGH
    fix = "Keep the parts of a namespace typed and framed by their lengths, and hash with sha256."
    where = (Where.PARAMS, Where.ENGINE)

    def detect(self, audit: Audit) -> Iterable[Sighting]:
        """Yield tuples that are one when joined, salts that engines may cut or refuse, and hashes that can collide."""
        yield from self._joined(audit)
        yield from self._unfit(audit)
        for setting in audit.asked.deployment.find(*_ALGORITHMS):
            if setting.value.lower() in _WEAK:
                yield Sighting(
                    message=f"Blocks are named by {setting.value}, whose collisions can be made.",
                    setting=setting,
                    confidence=Confidence.CERTAIN,
                    change=f"{setting.last.replace('_', '-')}: sha256",
                    where=Where.ENGINE,
                    cause=setting.last,
                )

    def _joined(self, audit: Audit) -> Iterator[Sighting]:
        """Find namespaces of different parts that are the same string when these are put one behind the other."""
        by_string: dict[str, dict[tuple[str | None, ...], list[int]]] = {}
        for row in audit.known:
            space = audit.space(row)
            parts = (space.salt or None, space.extra or None, space.adapter or None)
            if any(parts):
                joined = "".join(part for part in parts if part)
                by_string.setdefault(joined, {}).setdefault(parts, []).append(row)
        found = {joined: its for joined, its in by_string.items() if len(its) > 1}
        if found:
            rows = sorted(row for its in found.values() for rows in its.values() for row in rows)
            lora = any(not salt and adapter for its in found.values() for salt, _, adapter in its)
            yield Sighting(
                message=f"{counted(len(found), 'string')} can be made of the salt, extra key and adapter of "
                "different namespaces.",
                rows=rows,
                evidence=("an adapter is called like a salt",) if lora else (),
                change="a release that frames salt, extra key and adapter apart, or salts that no adapter is called by",
                cause="joined",
            )

    def _unfit(self, audit: Audit) -> Iterator[Sighting]:
        salts = [salt for salt in audit.by_salt if len(salt) > _LONGEST or _FORBIDDEN & set(salt)]
        if salts:
            heads = [salt[:_LONGEST] for salt in salts]
            same = len(set(heads)) < len(heads)
            yield Sighting(
                message=f"{counted(len(salts), 'salt')} cannot be used by every engine as "
                f"{'it is' if len(salts) == 1 else 'they are'}: too long, or with characters that are not allowed.",
                rows=[row for salt in salts for row in audit.by_salt[salt]],
                severity=None if same else Severity.MEDIUM,
                evidence=(f"allowed are {_LONGEST} characters without @ / \\\\ and NUL",)
                + (("some are equal in what is left when they are cut",) if same else ()),
                change='"cache_salt": 64 hexadecimal digits',
                cause="unfit",
            )


THREATS.add(NamespaceCollision.name, NamespaceCollision())
