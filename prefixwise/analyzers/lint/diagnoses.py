"""Our answers held against the vendor's own, where the log carries them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

import msgspec

from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.log import Log
from prefixwise.core.finding import Where
from prefixwise.core.request import Ref

_AREAS = frozenset({Where.PARAMS, Where.TOOLS, Where.SYSTEM, Where.MESSAGES})


class Disagreement(msgspec.Struct, frozen=True):
    """A call of which the vendor says something else than we do.

    Attributes:
        record: Where it stands.
        said: The vendor's word; `area`: the area it names.
        missed_tokens: What the vendor says was missed, None where it does not say.
        ours: (rule, area) of each of our answers; () where we have none.
    """

    record: Ref
    said: str
    area: Where
    missed_tokens: int | None
    ours: tuple[tuple[str, Where], ...]


class Diagnoses(msgspec.Struct, frozen=True):
    """How often our answers and the vendor's agree.

    Attributes:
        words: (the vendor's word, how many calls), most frequent first.
        compared: Calls of which the vendor names the area that changed; `agreed`: those of which we name it too.
        others: The rest of them, by start.
    """

    words: tuple[tuple[str, int], ...]
    compared: int
    agreed: int
    others: tuple[Disagreement, ...]

    @property
    def share(self) -> float | None:
        """Share of the compared calls on which both agree; None where there are none."""
        return self.agreed / self.compared if self.compared else None


def diagnoses(log: Log, claims: Iterable[Claim]) -> Diagnoses | None:
    """Hold every answer of the vendor against ours; None where the log has none of the vendor's.

    The vendor names an area (model and parameters, tools, system, messages), never a text; so areas are compared. What
    it says of calls that it could not compare is counted among the words only.
    """
    said = {row: seen.diagnosis for row, seen in log.observed.items() if seen.diagnosis is not None}
    if not said:
        return None
    ours: dict[int, list[Claim]] = defaultdict(list)
    for claim in claims:
        if claim.after in said:
            ours[claim.after].append(claim)
    compared = agreed = 0
    others = []
    for row in sorted(said, key=lambda row: (log.times[row], row)):
        diagnosis = said[row]
        if diagnosis.where is None:
            continue
        compared += 1
        answers = tuple(dict.fromkeys((claim.rule, claim.where) for claim in ours[row] if claim.where in _AREAS))
        if any(where is diagnosis.where for _, where in answers):
            agreed += 1
            continue
        record = log.rows.ref(row)
        others.append(Disagreement(record, diagnosis.reason, diagnosis.where, diagnosis.missed_tokens, answers))
    words = Counter(diagnosis.reason for diagnosis in said.values())
    ordered = tuple(sorted(words.items(), key=lambda pair: (-pair[1], pair[0])))
    return Diagnoses(ordered, compared, agreed, tuple(others))
