"""What rules for moving values share: they differ in the kinds of value that they know, and in what they say."""

from __future__ import annotations

from typing import ClassVar

from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.slots import Slot
from prefixwise.analyzers.rule import SpanRule
from prefixwise.analyzers.values.kinds import Candidate, SpanKind
from prefixwise.core.finding import Confidence, Severity, Where

_AREAS = {
    Where.SYSTEM: "the system prompt",
    Where.MESSAGES: "an earlier message",
    Where.TOOLS: "the tools",
    Where.PARAMS: "the response format",
}


class MovingValue(SpanRule):
    """Claims every change of a place whose values are of one of its kinds.

    Attributes:
        kinds: What it knows.
        noun: What it calls the value: "A clock".
        consequence: Ends the message.
        of_answers: Whether it also looks at answers that are sent again otherwise than they were generated.
    """

    kinds: ClassVar[frozenset[SpanKind]]
    noun: ClassVar[str]
    consequence: ClassVar[str] = "everything behind it is computed again"
    of_answers: ClassVar[bool] = False
    deployable = False

    def detect(self, slot: Slot) -> Claim | None:
        """Return a claim on a place whose values are most likely of one of the kinds."""
        reading = slot.reading
        if reading is None or reading.kind not in self.kinds or not self.accepts(slot, reading):
            return None
        if slot.first.answer:
            return self._of_answer(slot, reading) if self.of_answers else None
        return self.claim(slot, reading.confidence, reading.evidence, self.severity_of(slot, reading))

    def _of_answer(self, slot: Slot, reading: Candidate) -> Claim:
        found = self.claim(slot, reading.confidence, reading.evidence, Severity.LOW)
        found.message = (
            f"{self.noun} of the model's answer is not the same when it is sent again; an engine that keeps the tokens "
            "of its answers computes it anew."
        )
        return found

    def accepts(self, slot: Slot, reading: Candidate) -> bool:  # noqa: ARG002 - for those that look closer
        """Say whether the kind alone is enough; by default, unless only one sign speaks for it."""
        return reading.confidence is not Confidence.POSSIBLE

    def severity_of(self, slot: Slot, reading: Candidate) -> Severity | None:  # noqa: ARG002 - for those that know
        """Return the severity where it is not what frequency and size make of the rule's own."""
        return None

    def claim(
        self,
        slot: Slot,
        confidence: Confidence,
        evidence: tuple[str, ...] = (),
        severity: Severity | None = None,
        noun: str = "",
    ) -> Claim:
        """Return the claim on the first change of a place; it is spread over the others."""
        first = slot.first
        return Claim(
            rule=self.name,
            where=slot.where,
            after=first.after,
            before=first.before,
            confidence=confidence,
            evidence=evidence,
            message=f"{noun or self.noun} in {place_of(slot)} {how_often(slot)}; {self.consequence}.",
            severity=severity,
            cause=(slot.field, first.quote.label),
        )


def place_of(slot: Slot) -> str:
    """Return in words where a value stands."""
    if slot.where is Where.MESSAGES and slot.first.first_text:
        area = "the first message"
    else:
        area = _AREAS.get(slot.where, "the prompt")
    return f"{area} ({slot.first.quote.label})" if slot.first.quote.label else area


def how_often(slot: Slot) -> str:
    """Return in words between which requests a value changes."""
    times = len(slot.changes)
    if not slot.in_turns:
        return "differs from conversation to conversation" if times > 1 else "differs between two conversations"
    if times == 1:
        return "changes once inside a conversation"
    inside = "inside conversations" if slot.in_turns == times else "inside and between conversations"
    return f"changes {times:,} times {inside}"
