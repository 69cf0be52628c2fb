"""The report of a live audit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from prefixwise.bench.audit.plan import LivePlan
from prefixwise.bench.audit.recording import Recording
from prefixwise.bench.audit.report import blocks, notes_of, outcome_of
from prefixwise.bench.audit.result import AuditResult
from prefixwise.core.envelope import DocumentKind
from prefixwise.core.report import Block, Matrix, Report, Text, Unit


class LiveResult(msgspec.Struct, frozen=True, kw_only=True):
    """A live audit.

    Attributes:
        plan: What was run.
        audit: What it came to.
        reported: Whether the server counts cached tokens; `counted`: whether it counts prompt tokens.
        wait_s: How long after a prompt it was looked for.
        requests: Probes that were sent, all arms.
        stopped: Why sending ended early, '' where it did not.
    """

    plan: LivePlan
    audit: AuditResult
    reported: bool
    counted: bool
    wait_s: float
    requests: int
    stopped: str


AUDIT_LIVE = DocumentKind(
    "prefixwise/audit-live", 1, "a live audit of tenants on an endpoint, with verdicts", LiveResult
)


def live_report(found: LiveResult, recordings: Sequence[Recording], place: str) -> Report:
    """Return the report of a run.

    Args:
        found: What the rows come to.
        recordings: The probes, for their spread.
        place: What findings point at.
    """
    return Report(
        schema=AUDIT_LIVE.schema,
        schema_version=AUDIT_LIVE.version,
        command="audit live",
        title=f"{found.audit.verdict}: {found.plan.model} at {found.plan.target}",
        blocks=(*_matrix(found), *blocks(found.audit, recordings, place), _run(found)),
        values=found,
        notes=(*notes_of(found.audit), *_notes(found)),
        seed=found.plan.seed,
        outcome=outcome_of(found.audit),
    )


def _matrix(found: LiveResult) -> Iterator[Block]:
    """Yield who found whose prompts, for each set of circumstances."""
    names = tuple(dict.fromkeys(name for one in found.plan.comparisons for name in (one.victim, one.prober)))
    verdicts = {
        (plan.condition, plan.victim, plan.prober): one.judged.verdict.value
        for plan, one in zip(found.plan.comparisons, found.audit.comparisons, strict=True)
    }
    for number, condition in enumerate(dict.fromkeys(one.condition for one in found.plan.comparisons), 1):
        cells = tuple(tuple(verdicts.get((condition, victim, prober)) for prober in names) for victim in names)
        title = f"Who finds whose prompts{f', {condition}' if condition else ''}"
        note = "Rows: who sent a prompt. Columns: who looked for it."
        yield Matrix(f"tenants-{number}", title, Unit.TEXT, names, names, cells, note)


def _run(found: LiveResult) -> Text:
    plan = found.plan
    often = "once" if plan.victims == 1 else f"{plan.victims} times"
    said = (
        f"{found.requests:,} probes of {plan.tokens:,} tokens, {plan.prefix:,} of them sent before by somebody else, "
        f"by their own sender or by nobody; each prompt was sent {often} and looked for "
        f"{1000 * found.wait_s:,.0f} ms later. At most {plan.blocks} blocks of three probes a comparison; fewer where "
        "fewer decide."
    )
    return Text("run", (said,), "What was sent")


def _notes(found: LiveResult) -> Iterator[str]:
    if found.stopped:
        yield found.stopped
    if not found.reported:
        yield "the server does not count cached tokens, so times are all there is"
    if not found.counted:
        yield "the server does not count prompt tokens: lengths are words"
    left: dict[str, int] = {}
    for one in found.audit.comparisons:
        used = one.timing.probes + one.timing.controls if one.timing is not None else 0
        total = one.sent["miss"] + one.sent["cross"]
        if total > used:
            left[one.name] = total - used
    if left:
        yield f"times of {sum(left.values())} probes are not used: no answer, a new connection, or the client was late"
