"""`cache-salt-unstable`."""

from __future__ import annotations

from collections.abc import Sequence

from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.compared import Compared
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.lint.mended_settings import with_namespace
from prefixwise.analyzers.lint.single_use import fresh_every_time
from prefixwise.analyzers.lint.stakes import below_minimum, usage_says
from prefixwise.analyzers.rule import RULES, PairRule, Stage
from prefixwise.analyzers.values.hunks import common_prefix
from prefixwise.core.finding import Confidence, Severity, Where
from prefixwise.core.request import Request


class CacheSaltUnstable(PairRule):
    """# The cache salt is another one on each call

    A cache salt, an isolation key or an extra key keeps the cache entries of tenants apart: it is mixed into the first
    block, and nothing that was computed under one value is found under another. A salt made anew for each request, or
    changed inside a conversation, switches prefix caching off without a word.

    Reported is a salt that changes from turn to turn, and one that no two requests of an application share though they
    are of one tenant.

    Not reported: a salt for each tenant, or for each conversation, that stays what it is.

    Derive the salt from what is to be kept apart, a tenant or a group of users who may see each other's text, and keep it
    for as long as that is the same. It is no nonce: it has to be secret from other tenants, not new.

    ```jsonl bad
    {"model": "llama-3-8b", "cache_salt": "f3a9c1", "messages": [{"role": "user", "content": "What does clause 4 of the lease say about repairs in the stairwell, and who pays for them?"}]}
    {"model": "llama-3-8b", "cache_salt": "07be52", "messages": [{"role": "user", "content": "What does clause 4 of the lease say about repairs in the stairwell, and who pays for them?"}, {"role": "assistant", "content": "The landlord does."}, {"role": "user", "content": "Sum it up."}]}
    ```

    ```jsonl good
    {"model": "llama-3-8b", "cache_salt": "tenant-1", "messages": [{"role": "user", "content": "What does clause 4 of the lease say about repairs in the stairwell, and who pays for them?"}]}
    {"model": "llama-3-8b", "cache_salt": "tenant-1", "messages": [{"role": "user", "content": "What does clause 4 of the lease say about repairs in the stairwell, and who pays for them?"}, {"role": "assistant", "content": "The landlord does."}, {"role": "user", "content": "Sum it up."}]}
    ```
    """  # noqa: E501

    name = "cache-salt-unstable"
    code = "PW406"
    summary = "The cache salt or isolation key changes where the tenant does not"
    severity = Severity.HIGH
    fix = "Derive the salt from the tenant, or from the group that may share, and keep it."
    where = (Where.PARAMS,)
    stage = Stage.FRONT
    rank = 14
    deployable = False

    def detect(self, pair: Compared) -> Claim | None:
        log = pair.log
        found = _difference(log, pair.before, pair.after)
        if found is None or log.rows.tenant[pair.before] != log.rows.tenant[pair.after]:
            return None
        field, before, after = found
        if not pair.turn and not fresh_every_time(log, pair.after, "salt"):
            return None
        where = "inside a conversation" if pair.turn else "with every request of an application"
        return Claim(
            rule=self.name,
            where=Where.PARAMS,
            after=pair.after,
            before=pair.before,
            field=field,
            char_offset=common_prefix(before, after) if before is not None and after is not None else None,
            from_text=before,
            to_text=after,
            confidence=Confidence.CERTAIN if pair.turn else Confidence.LIKELY,
            severity=Severity.INFO if below_minimum(pair) else None,
            evidence=usage_says(log, pair.after),
            message=f"The cache salt changes {where}: nothing that was computed under one salt is found under another.",
            cause=("salt", pair.turn),
        )

    def repair(self, request: Request, claims: Sequence[Claim]) -> Request | None:  # noqa: ARG002 - all alike
        return with_namespace(request, salt=request.tenant or None, extra=None)


def _difference(log: Log, before: int, after: int) -> tuple[str, str | None, str | None] | None:
    """Return (pointer, before, after) of what keeps two requests apart, None where nothing does."""
    rows = log.rows
    one, other = rows.namespaces[rows.namespace[before]], rows.namespaces[rows.namespace[after]]
    if one.salt != other.salt:
        hosted = not log.is_engine(after) and log.system(after) is not None
        return ("/prompt_cache_isolation_key" if hosted else "/cache_salt"), one.salt, other.salt
    if one.extra != other.extra:
        return "/extra_key", one.extra, other.extra
    return None


RULES.add(CacheSaltUnstable.name, CacheSaltUnstable())
