"""What a threat to the separation of tenants is: a rule as lint has them, asked of an audited log."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

import msgspec

from prefixwise.analyzers.rule import Rule
from prefixwise.analyzers.tenancy.deployment import Setting
from prefixwise.core.finding import Confidence, Mode, Severity, Where
from prefixwise.core.registry import Registry

if TYPE_CHECKING:
    from prefixwise.analyzers.tenancy.audit import Audit


class Sighting(msgspec.Struct, frozen=True, kw_only=True):
    """One place where a threat shows; the counterpart of lint's claim.

    Attributes:
        message: What happens, one sentence.
        rows: The requests that it is about, in any order; `mended`: those that the remedy moves into a namespace of
            their tenant's own, where these are others.
        tenants: How many tenants are concerned, None for those of `rows`.
        tokens: Tokens exposed, None for the exposure of `rows`.
        severity: Where the threat knows better than its default; `confidence`: how sure.
        evidence: What supports it, a clause each.
        setting: The setting that is to be changed, where a configuration was given.
        change: The line to write, in the configuration or the gateway.
        where: Which part of requests or of the deployment it is about.
        field: Pointer into a request body, `record:` in front of values outside it.
        char_offset: Of a value in the text at `field`.
        cause: Tells the sightings of one threat apart, the same from run to run.
    """

    message: str
    rows: Sequence[int] = ()
    mended: Sequence[int] = ()
    tenants: int | None = None
    tokens: int | None = None
    severity: Severity | None = None
    confidence: Confidence = Confidence.LIKELY
    evidence: tuple[str, ...] = ()
    setting: Setting | None = None
    change: str = ""
    where: Where | None = None
    field: str | None = None
    char_offset: int | None = None
    cause: str = ""


class Threat(Rule):
    """One way in which tenants may meet in a cache. The docstring is the explanation page.

    Fenced blocks of the page that are marked `bad` or `good` are an example each: logs (`jsonl`), and configuration
    (any other kind); the bad ones must yield the threat and the good ones must not.

    Attributes:
        id: T1 to T22, as threat lists of the field number them.
        moves: Whether its remedy gives requests a namespace of their tenant's own; what that costs in hit rate is said
            with it.
    """

    id: ClassVar[str]
    moves: ClassVar[bool] = False
    modes: ClassVar[tuple[Mode, ...]] = (Mode.LOG,)
    where: ClassVar[tuple[Where, ...]] = (Where.PARAMS,)

    @abstractmethod
    def detect(self, audit: Audit) -> Iterable[Sighting]:
        """Yield where it shows."""


THREATS: Registry[Threat] = Registry("threat", "prefixwise.analyzers.tenancy.threats", "threats")


def threats() -> tuple[Threat, ...]:
    """Return all threats by code."""
    return tuple(sorted(THREATS, key=lambda threat: threat.code))
