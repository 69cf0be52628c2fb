"""What rules for tools share: each knows one way in which two lists of tools can differ."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import msgspec

from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.compared import Compared
from prefixwise.analyzers.lint.stakes import below_minimum, is_new_start, usage_says
from prefixwise.analyzers.lint.toolset import Difference, Tool, ToolChange
from prefixwise.analyzers.rule import PairRule
from prefixwise.core.finding import Confidence, Severity, Where

_LONGEST = 200
_LONGEST_NAME = 60
_FEW_NAMES = 4


class ChangedTools(PairRule):
    """Claims pairs whose tools differ first in its way.

    Attributes:
        difference: Its way.
    """

    difference: ClassVar[Difference]
    where: ClassVar[tuple[Where, ...]] = (Where.TOOLS,)
    rank = 10

    def detect(self, pair: Compared) -> Claim | None:
        """Return the claim on tools that differ first in its way."""
        change = pair.change
        if change is None or change.tools is None or change.tools.difference is not self.difference:
            return None
        if is_new_start(pair):
            return None
        claim = self.describe(pair, change.tools)
        if claim is not None:
            claim.evidence = (*claim.evidence, *usage_says(pair.log, pair.after))
            claim.severity = Severity.INFO if below_minimum(pair) else claim.severity
        return claim

    @abstractmethod
    def describe(self, pair: Compared, change: ToolChange) -> Claim | None:
        """Return the claim on a difference of its kind, None where it is another rule's after all."""

    def claim(self, pair: Compared, field: str, message: str, **more: Any) -> Claim:
        """Return a claim on a pair."""
        return Claim(
            rule=self.name,
            where=Where.TOOLS,
            after=pair.after,
            before=pair.before,
            field=field,
            confidence=more.pop("confidence", Confidence.CERTAIN),
            message=message,
            **more,
        )


def shown(value: Any) -> str:
    """Return a value of a tool as text, cut."""
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text[:_LONGEST]


def called(*names: str) -> str:
    """Return names of tools for a message: the first few."""
    quoted = [f"`{name[:_LONGEST_NAME]}`" for name in names[:_FEW_NAMES]]
    more = len(names) - len(quoted)
    return ", ".join(quoted) + (f" and {more} more" if more else "")


def name_place(change: ToolChange) -> str:
    """Return the pointer of the first name that differs: in the later body, else in the earlier one."""
    tool: Tool | None = change.right or change.left
    return "" if tool is None else tool.name_field
