"""Logs whose requests are what a rule's repair makes of them, and logs written the same way with nothing mended."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.lint.run import Linted
from prefixwise.analyzers.repro.samples import sample
from prefixwise.analyzers.rule import RULES
from prefixwise.core.pointer import parse_pointer
from prefixwise.core.request import Request
from prefixwise.corpus.again import requests_again
from prefixwise.corpus.reader import ReadOptions
from support.linting import lint_records

Repair = Callable[[Request], Request]


@dataclass
class Mended:
    """A log before and after a repair, both written as records of our own without usage."""

    before: Linted
    after: Linted
    originals: list[Request]
    requests: list[Request]


def requests_of(paths: Sequence[str], log: Log) -> list[tuple[int, Request]]:
    """Return the requests of a linted log."""
    return list(requests_again(paths, log.rows, ReadOptions()))


def claims_by_application(linted: Linted, rule: str) -> dict[int, list[Claim]]:
    """Return the claims of a rule by application."""
    found: dict[int, list[Claim]] = {}
    for claim in linted.claims:
        if claim.rule == rule:
            found.setdefault(linted.log.applications[claim.after], []).append(claim)
    return found


def mended(folder: Path, linted: Linted, rule: str, paths: Sequence[str]) -> Mended | None:
    """Repair every request of a log for one rule; None where the rule cannot mend what it claims."""
    read = requests_of(paths, linted.log)
    claims = claims_by_application(linted, rule)
    repaired = []
    for row, request in read:
        ours = claims.get(linted.log.applications[row])
        new = RULES.get(rule).repair(request, ours) if ours else request
        if new is None:
            return None
        repaired.append(new)
    originals = [request for _, request in read]
    before = lint_records(folder, records(originals, originals), "before.jsonl")
    after = lint_records(folder, records(originals, repaired), "after.jsonl")
    return Mended(before, after, originals, repaired)


def records(originals: Sequence[Request], requests: Sequence[Request]) -> list[dict[str, Any]]:
    """Return requests as records of our own, without usage: it tells of what was sent, not of what would have been."""
    since = min((request.start for request in originals if request.start == request.start), default=float("nan"))
    written = []
    for original, request in zip(originals, requests, strict=True):
        taken = sample(original, since)
        body = dict(taken.body)
        _write(body, original, request)
        record = taken.with_body(taken.record, body).record
        record.pop("usage", None)
        if request.response != original.response:
            record["response"] = json.loads(request.response)
        if request.tenant:
            record["tenant"] = request.tenant
        written.append(record)
    return written


def _write(body: dict[str, Any], original: Request, request: Request) -> None:
    if request.model != original.model:
        body["modelId" if request.api == "bedrock-converse" else "model"] = request.model
    if request.params != original.params:
        for name, _ in original.params:
            _put(body, name.split("/"), None)
        for name, value in request.params:
            _put(body, name.split("/"), json.loads(value))
    names = {"salt": "cache_salt", "cache_key": "prompt_cache_key", "adapter": "lora_path", "extra": "extra_key"}
    if request.namespace != original.namespace:
        body.pop("prompt_cache_isolation_key", None)
        for part, name in names.items():
            _put(body, [name], getattr(request.namespace, part))
    if request.sections != original.sections:
        for section in original.sections:
            if section.pointer not in [other.pointer for other in request.sections]:
                _put(body, list(parse_pointer(section.pointer)), None)
        for section in request.sections:
            items = [msgspec.json.decode(raw) for raw in section.raw_items()]
            _put(body, list(parse_pointer(section.pointer)), items if section.listed else items[0])


def _put(holder: dict[str, Any], keys: list[str], value: Any) -> None:
    for key in keys[:-1]:
        holder[key] = dict(holder.get(key) or {})
        holder = holder[key]
    if value is None:
        holder.pop(keys[-1], None)
    else:
        holder[keys[-1]] = value


def shared_tokens(linted: Linted) -> int:
    """Return how many tokens of a log's prompts an earlier one of the model began with."""
    return sum(linted.log.sharing.shared)
