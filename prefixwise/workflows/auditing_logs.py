"""An audit of logs, from what is asked to its report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from prefixwise.analyzers.tenancy.asked import AuditAsked
from prefixwise.analyzers.tenancy.audit import Audit
from prefixwise.analyzers.tenancy.findings import find_threats
from prefixwise.analyzers.tenancy.pseudonyms import Pseudonyms
from prefixwise.analyzers.tenancy.records import read_records
from prefixwise.analyzers.tenancy.report import audit_report
from prefixwise.analyzers.tenancy.suggested import suggested_prompts
from prefixwise.caches.rulebook import Rulebook
from prefixwise.core.errors import UserError
from prefixwise.core.excerpt import Excerpts
from prefixwise.core.finding import Level
from prefixwise.core.report import Report
from prefixwise.corpus.again import Again
from prefixwise.corpus.corpus import Corpus


class AuditOutput(msgspec.Struct, frozen=True, kw_only=True):
    """What is to come out of an audit.

    Attributes:
        threats: Names of the threats that are looked for.
        fail_on: Mildest level of a finding that makes the command fail; None for never.
        excerpts: How much of the prompts' text is shown.
        write_approved: Where to write the allow-list that the log suggests; None for nowhere.
    """

    threats: frozenset[str]
    fail_on: Level | None = Level.ERROR
    excerpts: Excerpts = Excerpts.MASKED
    write_approved: Path | None = None


def audit_logs(
    corpus: Corpus,
    again: Again,
    asked: AuditAsked,
    output: AuditOutput,
    book: Rulebook,
    save: Callable[[Path, str], None],
) -> Report:
    """Return the report of an audit.

    Args:
        corpus: What was read.
        again: Reads the same input once more.
        asked: What is known beside the log.
        output: What is wanted.
        book: Facts and prices.
        save: Writes a file, whole or not at all.

    Raises:
        UserError: No record names a tenant, or something is asked of a trace that only text can tell.
    """
    if not any(corpus.rows.tenants.names):
        what = ", ".join(file.path for file in corpus.inputs)
        raise UserError("no record names a tenant", what, "--tenant-field POINTER says where tenants stand in a record")
    is_text = corpus.index is not None and corpus.index.outlines is not None
    if not is_text and (output.write_approved is not None or asked.approved):
        raise UserError("a trace holds no prompts to approve", "--approved, --write-approved", "audit the log itself")
    if not is_text and asked.places:
        raise UserError("a trace holds no records to look into", "--place", "audit the log itself")
    sign = Pseudonyms(asked.key)
    records = None
    if is_text:
        records = read_records(corpus, again, book, asked.approved, asked.places, lambda value: sign.of("value", value))
    audit = Audit(corpus, records, asked, book)
    found = find_threats(audit, output.threats)
    if output.write_approved is not None:
        save(output.write_approved, asked.approved.same_variables(suggested_prompts(audit)))
    return audit_report(audit, found, output.fail_on, output.excerpts)
