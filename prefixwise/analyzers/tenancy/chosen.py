"""Which threats are looked for, by names and codes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from prefixwise.analyzers.tenancy.threat import THREATS, threats
from prefixwise.core.errors import UserError


def chosen_threats(select: Iterable[str] = (), ignore: Iterable[str] = ()) -> frozenset[str]:
    """Return the names of the threats that are wanted.

    Args:
        select: Names, codes, beginnings of codes, or T1 to T22, with commas between; all where there are none.
        ignore: The same; wins.

    Raises:
        UserError: One of them matches no threat.
    """
    return (_matching(select) or frozenset(THREATS.names())) - _matching(ignore)


def _matching(wanted: Iterable[str]) -> frozenset[str]:
    return frozenset(name for one in wanted for part in one.split(",") for name in _named(part.strip()))


def _named(wanted: str) -> Iterator[str]:
    by_id = [one.name for one in threats() if wanted.lower() == one.id.lower()]
    by_code = [one.name for one in threats() if wanted and one.code.lower().startswith(wanted.lower())]
    if by_id or by_code:
        yield from by_id or by_code
        return
    try:
        yield THREATS.get(wanted).name
    except UserError as error:
        raise UserError(f"{error.what}, nor a code that begins so", "--select, --ignore", error.help) from None
