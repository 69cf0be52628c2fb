"""The rule of one cache: given the rows, how many tokens of each prompt it serves, and why not more."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import TYPE_CHECKING, Protocol

import msgspec

from prefixwise.caches.relaxation import Relaxation
from prefixwise.core.errors import UserError
from prefixwise.core.registry import Registry
from prefixwise.corpus.rows import Rows

if TYPE_CHECKING:
    from prefixwise.caches.rulebook import Rulebook


class Reason(IntEnum):
    """What accounts for most of the tokens that a request did not get from the cache."""

    FIRST_SEEN = 0
    """No earlier request of the model had them."""
    GRANULARITY = 1
    """An earlier one had them, below the rule's block, page or last-token limit."""
    ISOLATED = 2
    """An earlier one in another namespace had them."""
    EVICTED = 3
    """They had been pushed out."""
    EXPIRED = 4
    """They had outlived their time."""
    IN_FLIGHT = 5
    """They were being computed and could not be read yet."""


class Replay(msgspec.Struct, frozen=True):
    """What a policy did, by row.

    Attributes:
        matched: Cached prompt tokens.
        reason: `Reason` of the rest.
        written: Tokens that were written and are charged as such, None where writing is not; `written_long`: of them
            those for longer than the provider's usual time.
        stored: Token seconds for which storage is charged, None where none is.
    """

    matched: array[int]
    reason: bytearray
    written: array[int] | None = None
    written_long: array[int] | None = None
    stored: array[float] | None = None


class Tariff(msgspec.Struct, frozen=True):
    """Whose prices a rule is charged by.

    Attributes:
        model: In place of the logged one; empty for that.
        provider: Whose price list; empty for that of the log.
        tiers: (service tier, factor on all prices); `tier`: the one that all requests use, empty for the logged one.
    """

    model: str = ""
    provider: str = ""
    tiers: tuple[tuple[str, float], ...] = ()
    tier: str = ""


class Policy(Protocol):
    """A cache rule with its parameters.

    Attributes:
        label: The rule in the form that `--under` takes, all parameters shown.
        unit: Tokens that are reused as a whole; None where reuse has no fixed unit.
        needs_layouts: Whether rows should have `Rows.layouts`; without them, it counts what it can.
        tariff: Whose prices it is charged by.
    """

    label: str
    unit: int | None
    needs_layouts: bool
    tariff: Tariff

    def check(self, rows: Rows) -> None:
        """Raise UserError where these rows cannot be counted under this rule."""
        ...

    def replay(self, rows: Rows) -> Replay:
        """Replay all rows in start order."""
        ...

    def without_outputs(self) -> Policy | None:
        """Return the same rule with a cache that answers do not enter, None where they do not enter it anyway."""
        ...

    def ends(self) -> tuple[Policy, Policy] | None:
        """Return the rule at the two ends of what is not known for certain, fewer hits first; None without doubt."""
        ...

    def relaxed(self, off: Relaxation) -> Policy:
        """Return the same rule let off what `off` says, as far as it has it."""
        ...

    def notes(self, rows: Rows) -> tuple[str, ...]:
        """Return what a reader of its figures for these rows should know, a sentence each."""
        ...


class Settled:
    """What rules have in common of which everything is known, and that charge nothing of their own."""

    needs_layouts = False
    tariff = Tariff()

    def ends(self) -> None:
        """Return None: there is no doubt."""
        return

    def notes(self, _rows: Rows) -> tuple[str, ...]:
        """Return nothing."""
        return ()


Factory = Callable[[Mapping[str, str]], Policy]
POLICIES: Registry[Factory] = Registry("cache rule", "prefixwise.caches.policies", "policies")


def parse_policy(text: str, book: Rulebook | None = None) -> Policy:
    """Return the policy for `NAME` or `NAME:key=value,…`.

    Args:
        text: Name of a rule, else of a hosted system, a provider or a model.
        book: Where hosted systems are; by default the packaged facts.

    Raises:
        UserError: Unknown rule or parameter, or a value that does not fit.
    """
    where = f"--under {text[:100]}"
    name, colon, rest = _split(text)
    parameters: dict[str, str] = {}
    for item in rest.split(",") if colon else ():
        key, equals, value = (part.strip() for part in item.partition("="))
        if not equals:
            raise UserError(f"{item[:100]!r} is not key=value", where, "for example vllm:block=16")
        if key in parameters:
            raise UserError(f"{key[:100]!r} is given twice", where)
        parameters[key] = value
    try:
        if name.lower() in POLICIES.names():
            return POLICIES.get(name.lower())(parameters)
        from prefixwise.caches.hosted import hosted_policy

        return hosted_policy(name, parameters, book)
    except UserError as problem:
        raise UserError(problem.what, where, problem.help) from None


def _split(text: str) -> tuple[str, str, str]:
    """Return name, colon and parameters; names of models may hold colons too (`claude-opus-5-v1:0`)."""
    name, colon, rest = text.partition(":")
    while colon and "=" not in rest.partition(":")[0] and name.lower() not in POLICIES.names():
        more, colon, rest = rest.partition(":")
        name = f"{name}:{more}"
    return name, colon, rest


def positive(parameters: Mapping[str, str], name: str, default: int) -> int:
    """Return a positive whole parameter. Raises UserError otherwise."""
    text = parameters.get(name)
    if text is None:
        return default
    if not text.isascii() or not text.isdecimal() or len(text) > 10 or not 0 < int(text) < 2**31:
        raise UserError(f"{name}={text[:100]} is not a whole number from 1 to {2**31 - 1:,}")
    return int(text)


def yes_or_no(parameters: Mapping[str, str], name: str, default: bool) -> bool:
    """Return a yes-or-no parameter. Raises UserError otherwise."""
    text = parameters.get(name, "yes" if default else "no")
    if text not in ("yes", "no"):
        raise UserError(f"{name}={text} is neither yes nor no")
    return text == "yes"


def only(parameters: Mapping[str, str], *names: str) -> None:
    """Raise UserError for a parameter that the rule does not have."""
    for name in parameters:
        if name not in names:
            raise UserError(f"the rule has no parameter {name!r}", help=f"it has: {', '.join(names)}")
