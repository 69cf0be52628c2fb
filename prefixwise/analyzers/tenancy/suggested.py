"""The allow-list that a log suggests: heads of prompts that several tenants share and that hold nothing private."""

from __future__ import annotations

from prefixwise.analyzers.tenancy.approved import ApprovedPrompt
from prefixwise.analyzers.tenancy.audit import Audit
from prefixwise.analyzers.tenancy.shared_nodes import NodeClass
from prefixwise.core.finding import Where

_SEVERAL = 2


def suggested_prompts(audit: Audit) -> tuple[ApprovedPrompt, ...]:
    """Return the heads that several tenants share, those of most tenants first.

    Heads like a template are approved; those that few tenants share are there to be decided on. What was approved
    stays so. A head that names a tenant is never approved; one that holds a secret or a person's data is never written.
    """
    if audit.records is None:
        return ()
    tainted = {
        audit.records.head[leak.row]
        for leak in audit.records.leaks
        if leak.where is not Where.MESSAGES and not leak.value.is_example
    }
    by_head: dict[str, list[int]] = {}
    for row in audit.known:
        number = audit.records.head[row]
        if number >= 0 and number not in tainted:
            by_head.setdefault(audit.records.heads[number].digest, []).append(row)
    known = {prompt.sha256: prompt for prompt in audit.asked.approved.file.prompts}
    made = dict(known)
    for digest, rows in by_head.items():
        tenants = audit.tenants_of(rows)
        if digest and digest not in known and len(tenants) >= _SEVERAL:
            made[digest] = _prompt(audit, digest, rows, len(tenants))
    return tuple(sorted(made.values(), key=lambda one: (not one.approved, -one.tenants, one.sha256)))


def _prompt(audit: Audit, digest: str, rows: list[int], tenants: int) -> ApprovedPrompt:
    end = audit.rows.system_end[rows[0]]
    node = audit.at_depth(rows[0], end)
    kind = NodeClass(audit.nodes.kind[node])
    head = audit.head(rows[0])
    return ApprovedPrompt(
        sha256=digest,
        approved=kind is NodeClass.TEMPLATE and head is not None and not head.names,
        note=head.opening if head is not None else "",
        kind=kind.label,
        tenants=tenants,
        requests=len(rows),
        tokens=end,
    )
