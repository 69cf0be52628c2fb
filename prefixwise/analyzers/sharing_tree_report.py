"""The sharing tree for people: how wide each stretch is, what it says, and which findings part requests behind it."""

from __future__ import annotations

from collections.abc import Sequence

from prefixwise.analyzers.sharing_tree import Branch
from prefixwise.core.report import Cell, Column, Details, Tree, Unit

_COLUMNS = (
    Column("tokens", "tokens", Unit.TOKENS),
    Column("requests", "requests", Unit.COUNT),
    Column("own_tokens", "tokens × requests", Unit.TOKENS),
    Column("prompt_tokens", "with all below", Unit.TOKENS),
    Column("share", "of all", Unit.RATE),
    Column("broken_by", "broken by"),
)
_NOTE = (
    "Bars: tokens × requests of a stretch with all ways on from it. What only one request has, and ways that hold less "
    "than 1 % of all tokens, have no row."
)


def sharing_tree_block(branches: Sequence[Branch], all_tokens: int) -> Tree:
    """Return the tree; `all_tokens` is what shares are of."""
    rows = [_row(branch, all_tokens) for branch in branches]
    broken = any(branch.broken for branch in branches)
    columns = _COLUMNS if broken else _COLUMNS[:-1]
    return Tree(
        "sharing_tree",
        "Where requests go together, and where they part",
        columns,
        tuple(row if broken else row[:-1] for row in rows),
        _NOTE,
        drawn=("prompt_tokens", "own_tokens"),
        marked="broken_by" if broken else "",
        details=tuple(map(_details, branches)),
        brief=True,
    )


def _row(branch: Branch, all_tokens: int) -> tuple[Cell, ...]:
    label = branch.head or f"tokens {branch.start:,} to {branch.end:,}"
    if branch.level == 0:
        label = f"all of {branch.model}" if branch.model else "all requests"
    share = branch.weight / all_tokens if all_tokens else None
    broken = ", ".join(f"{rule} ({count:,})" for rule, count in branch.broken) or None
    return (
        branch.level,
        label,
        branch.end - branch.start,
        branch.requests,
        branch.own_tokens,
        branch.weight,
        share,
        broken,
    )


def _details(branch: Branch) -> Details:
    if branch.level == 0:
        return ()
    told = [("stands at", f"tokens {branch.start:,} to {branch.end:,} of its prompts")]
    told += [("begins", branch.head)] if branch.head else []
    told += [("ends", branch.tail)] if branch.tail not in ("", branch.head) else []
    told += [("broken by", f"{rule}: {count:,} requests part here") for rule, count in branch.broken]
    return tuple(told)
