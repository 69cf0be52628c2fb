"""The second half of a change that does not last: what had gone comes back.

Of tools that drop out for a turn, the way back is served from an entry that was left before, as long as that lives. It
costs nothing then and explains no miss; but it belongs to the same cause.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.compared import Compared, Served
from prefixwise.analyzers.lint.log import Log
from prefixwise.core.finding import Severity, Verdict, Where

_AREAS = frozenset({Where.TOOLS, Where.PARAMS})


def ways_back(log: Log, pairs: Iterable[Compared], claims: Iterable[Claim]) -> Iterator[Claim]:
    """Yield a claim that costs nothing on each turn that takes back a change of tools or answer format.

    Args:
        log: All requests.
        pairs: All that were compared.
        claims: What was found.
    """
    heads, conversation = log.outlines.head, log.conversations.conversation
    changes: dict[tuple[int, tuple[int, ...], tuple[int, ...]], Claim] = {}
    for claim in claims:
        if claim.where in _AREAS and claim.before is not None and claim.severity is not Severity.INFO:
            key = (conversation[claim.after], heads[claim.after], heads[claim.before])
            if key[1] != key[2]:
                changes.setdefault(key, claim)
    for pair in pairs if changes else ():
        if not pair.turn or pair.verdict is not Verdict.BREAKS or pair.served is not Served.HIT:
            continue
        change = changes.get((conversation[pair.after], heads[pair.before], heads[pair.after]))
        if change is not None and log.times[pair.after] >= log.times[change.after]:
            yield msgspec.structs.replace(
                change,
                before=pair.before,
                after=pair.after,
                from_text=change.to_text,
                to_text=change.from_text,
                lost=0,
                evidence=("what had changed comes back, and an entry from before was read",),
            )
