"""`default-namespace-fallback`."""

from __future__ import annotations

from collections.abc import Iterable

from prefixwise.analyzers.tenancy.audit import Audit
from prefixwise.analyzers.tenancy.threat import THREATS, Sighting, Threat
from prefixwise.analyzers.tenancy.wording import GATEWAY_SALT, agreeing, counted, is_default, listed
from prefixwise.core.excerpt import excerpt
from prefixwise.core.finding import Confidence, Severity, Where


class DefaultNamespace(Threat):
    """# Falling back to everybody's namespace

    A gateway that sets salts and does not always know the tenant sends nothing, an empty value or a word such as `default`. All
    such requests meet in one namespace: health checks, an endpoint that was forgotten, a retry after an error, anonymous users.
    The rest of the traffic looks as it should, so nobody notices.

    Reported are values that stand for nobody, and requests without a salt of tenants that otherwise send one.

    ```jsonl bad
    {"tenant": "ash", "ts": 1770000000, "request": {"model": "Qwen3-8B", "cache_salt": "9f2c4e7a1b8d3f6059c1e2a47b80d6f3", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    {"tenant": "ash", "ts": 1770000060, "request": {"model": "Qwen3-8B", "cache_salt": "default", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    {"tenant": "birch", "ts": 1770000120, "request": {"model": "Qwen3-8B", "cache_salt": "3b7e91d04c6fa8e25d10f7c98ab46e21", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    {"tenant": "birch", "ts": 1770000180, "request": {"model": "Qwen3-8B", "cache_salt": "default", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    ```

    ```jsonl good
    {"tenant": "ash", "ts": 1770000000, "request": {"model": "Qwen3-8B", "cache_salt": "9f2c4e7a1b8d3f6059c1e2a47b80d6f3", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    {"tenant": "birch", "ts": 1770000060, "request": {"model": "Qwen3-8B", "cache_salt": "3b7e91d04c6fa8e25d10f7c98ab46e21", "messages": [{"role": "system", "content": "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship leaves after that one."}, {"role": "user", "content": "When is the first ferry?"}]}}
    ```
    """  # noqa: E501

    name = "default-namespace-fallback"
    code = "PT008"
    id = "T8"
    summary = "Some requests fall back to an empty, default or absent salt"
    severity = Severity.HIGH
    fix = "Answer requests that cannot be given a salt with 400, on every endpoint."
    moves = True

    def detect(self, audit: Audit) -> Iterable[Sighting]:
        """Yield values that stand for nobody, and tenants that send a salt only sometimes."""
        if not audit.several:
            return
        yield from self._unauthenticated(audit)
        salts = {} if audit.corpus.index is None else audit.by_salt  # a trace holds hashes or numbers of them
        named = [(salt, rows) for salt, rows in salts.items() if is_default(salt)]
        if named:
            rows = [row for _, its in named for row in its]
            words = sorted({excerpt(salt) or "(empty)" for salt, _ in named})
            yield Sighting(
                message=f"{counted(len(rows), 'request')} of {counted(len(audit.tenants_of(rows)), 'tenant')} "
                f"{agreeing(len(rows), 'carry')} a salt that stands for nobody.",
                rows=rows,
                confidence=Confidence.CERTAIN,
                evidence=(f"values: {listed(words)}", *audit.around(rows)),
                change=GATEWAY_SALT + "; 400 where the tenant is not known",
                cause="default",
            )
        engines = [row for row in audit.known if not audit.is_hosted(row)]
        salted = audit.tenants_of(row for row in engines if audit.is_salted(row))
        bare = [row for row in engines if not audit.is_salted(row) and audit.rows.tenant[row] in salted]
        bare = [row for row in bare if audit.salt(row) is None]
        if bare:
            yield Sighting(
                message=f"{counted(len(bare), 'request')} of {counted(len(audit.tenants_of(bare)), 'tenant')} "
                f"that otherwise send a salt {agreeing(len(bare), 'carry')} none.",
                rows=bare,
                confidence=Confidence.CERTAIN,
                evidence=audit.around(bare),
                change=GATEWAY_SALT + "; 400 without one",
                cause="absent",
            )

    def _unauthenticated(self, audit: Audit) -> Iterable[Sighting]:
        """Look for gateways that do not ask who is there: all callers are one to them."""
        for file in audit.asked.deployment.files:
            models = file.find("model_name")
            if "litellm" in file.systems and models and not file.find("master_key"):
                yield Sighting(
                    message="The gateway has no master key: callers are not authenticated, and all are one tenant.",
                    setting=models[0],
                    confidence=Confidence.POSSIBLE,
                    change="general_settings.master_key, and a key a tenant",
                    where=Where.ENGINE,
                    cause="unauthenticated",
                )


THREATS.add(DefaultNamespace.name, DefaultNamespace())
