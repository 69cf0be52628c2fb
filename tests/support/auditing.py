"""Logs that tests write, through the whole of an audit."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from prefixwise.analyzers.tenancy.asked import AuditAsked
from prefixwise.analyzers.tenancy.deployment import Deployment, config_of
from prefixwise.analyzers.tenancy.records import PLACES
from prefixwise.analyzers.tenancy.threat import THREATS
from prefixwise.caches.rulebook import Rulebook
from prefixwise.core.finding import Finding, Level
from prefixwise.core.report import Report
from prefixwise.corpus.again import requests_again
from prefixwise.corpus.corpus import read_corpus
from prefixwise.corpus.index import CorpusIndex
from prefixwise.corpus.outlines import Outlines
from prefixwise.corpus.reader import ReadOptions
from prefixwise.workflows.auditing_logs import AuditOutput, audit_logs

SALTS = ("9f2c4e7a1b8d3f6059c1e2a47b80d6f3", "3b7e91d04c6fa8e25d10f7c98ab46e21", "d41e07bb52f86c3990ab17e5c4f2683d")
SYSTEM = (
    "You are the desk of a ferry line. Answer from the timetable below, name the pier, and say when the next ship "
    "leaves after that one. "
)
KEY = b"a key of tests"


def call(
    tenant: str,
    salt: str | None,
    at: float,
    user: str = "When is the first ferry?",
    system: str = SYSTEM,
    cached: tuple[int, int] | None = None,
    **body: Any,
) -> dict[str, Any]:
    """Return a record; `cached` is (prompt tokens, cached tokens) as usage reports them."""
    request = {"model": "Qwen3-8B", **({} if salt is None else {"cache_salt": salt}), **body}
    request["messages"] = [{"role": "system", "content": system}, {"role": "user", "content": user}]
    record: dict[str, Any] = {"tenant": tenant, "ts": 1_770_000_000 + at, "request": request}
    if cached is not None:
        usage = {"prompt_tokens": cached[0], "completion_tokens": 5, "total_tokens": cached[0] + 5}
        record["response"] = {"usage": usage | {"prompt_tokens_details": {"cached_tokens": cached[1]}}}
    return record


def audit_text(
    folder: Path,
    text: str,
    configs: Iterable[tuple[str, str]] = (),
    options: ReadOptions = ReadOptions(),  # noqa: B008 - frozen
    saved: dict[str, str] | None = None,
    output: Mapping[str, Any] = {},
    **asked: Any,
) -> Report:
    """Write a log and audit it with these configurations; what is saved goes to `saved` by name."""
    path = folder / "log.jsonl"
    path.write_text(text, encoding="utf-8", newline="")
    corpus = read_corpus([str(path)], options, index=CorpusIndex(outlines=Outlines()))
    again = partial(requests_again, [file.path for file in corpus.inputs], corpus.rows, options)
    asked = {"key": KEY, "places": {name: (name.replace("-", "_"),) for name in PLACES}} | asked
    deployment = Deployment(tuple(config_of(name, text) for name, text in configs))
    kept: dict[str, str] = {} if saved is None else saved
    return audit_logs(
        corpus,
        again,
        AuditAsked(deployment=deployment, **asked),
        AuditOutput(threats=frozenset(THREATS.names()), **output),
        Rulebook(),
        lambda path, text: kept.__setitem__(path.name, text),
    )


def audit_records(folder: Path, records: Sequence[Mapping[str, Any]], **more: Any) -> Report:
    """Write records as JSON Lines and audit them."""
    return audit_text(folder, "".join(json.dumps(record) + "\n" for record in records), **more)


def found(report: Report) -> list[str]:
    """Return the threats above info, in the order of the report, each once."""
    return list(dict.fromkeys(one.rule for one in report.findings if one.level is not Level.INFO))


def finding(report: Report, rule: str) -> Finding:
    """Return the first finding of a threat."""
    return next(one for one in report.findings if one.rule == rule)
