"""How a group of requests is called in reports."""

from __future__ import annotations

from prefixwise.core.excerpt import Excerpts, excerpt
from prefixwise.corpus.rows import Rows

_FIELDS = ("model", "tenant", "family")
_MOST_VALUES = 200


def group_name(field: str, number: int, name: str, excerpts: Excerpts) -> str:
    """Return a group's name; that of a family quotes its prompt and is cut and masked like any excerpt.

    Args:
        field: What the requests are grouped by.
        number: Tells families of one name apart; negative for requests without text.
        name: The value that they share.
        excerpts: How much prompt text may be shown.
    """
    if field != "family" or number < 0:
        return name
    quoted = excerpt(name, excerpts)
    return f"{number}: {quoted}" if quoted else str(number)


def telling_fields(rows: Rows) -> tuple[str, ...]:
    """Return the fields by which a page groups requests unasked: those with several values, but not with too many."""
    return tuple(field for field in _FIELDS if 1 < len(set(rows.group(field)[0])) <= _MOST_VALUES)
