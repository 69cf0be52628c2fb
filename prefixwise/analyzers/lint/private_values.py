"""What the two rules on private values in shared texts have in common."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.leaks import Leak
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.rule import LogRule
from prefixwise.core.finding import Confidence, Severity, Where


class PrivateValues(LogRule):
    """Claims private values of its kind, each place once.

    Attributes:
        of_secrets: Whether its kind is secrets, else personal data.
        without_tenants: Severity where no tenants are known and the text may be one user's own.
    """

    of_secrets: ClassVar[bool]
    without_tenants: ClassVar[Severity]
    where = (Where.SYSTEM, Where.TOOLS, Where.MESSAGES)
    rank = 95
    deployable = False

    def detect(self, log: Log) -> Iterable[Claim]:
        """Yield a claim on each private value; examples and addresses of offices are information."""
        for leak in log.leaks:
            if leak.value.is_secret is self.of_secrets:
                yield self._claim(leak)

    def _claim(self, leak: Leak) -> Claim:
        value = leak.value
        who = f"{leak.sharers}{'' if leak.of_tenants else ' or more' * (leak.sharers >= 64)}"
        sharers = f"{who} {'tenants' if leak.of_tenants else 'conversations'}"
        severity = self.severity if leak.of_tenants else self.without_tenants
        what = f"{value.kind}, as published in examples or of an office," if value.is_example else value.kind
        return Claim(
            rule=self.name,
            where=leak.where,
            after=leak.row,
            field=leak.field,
            char_offset=leak.char_offset,
            confidence=Confidence.LIKELY if leak.of_tenants else Confidence.POSSIBLE,
            severity=Severity.INFO if value.is_example else severity,
            evidence=(f"{sharers} share the text", f"the value has {value.end - value.start} characters"),
            lost=0,
            message=f"Text that {sharers} share holds {what}.",
            cause=(leak.field, value.kind, value.is_example),
        )
