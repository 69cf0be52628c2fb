"""Logs that tests write, through the whole of lint."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from prefixwise.analyzers.lint.run import Linted, lint_log
from prefixwise.analyzers.rule import RULES
from prefixwise.core.finding import Finding, Level
from prefixwise.corpus.again import requests_again
from prefixwise.corpus.corpus import read_corpus
from prefixwise.corpus.index import CorpusIndex
from prefixwise.corpus.outlines import Outlines
from prefixwise.corpus.reader import ReadOptions


def lint_records(folder: Path, records: Iterable[Mapping[str, Any]], name: str = "log.jsonl") -> Linted:
    """Write records as JSON Lines and lint them."""
    text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    return lint_text(folder, text, name)


def lint_text(folder: Path, text: str, name: str = "log.jsonl") -> Linted:
    """Write a file and lint it."""
    path = folder / name
    path.write_text(text, encoding="utf-8", newline="")
    return lint_files([str(path)])


def lint_files(paths: Sequence[str], options: ReadOptions = ReadOptions()) -> Linted:  # noqa: B008 - frozen
    """Lint files."""
    corpus = read_corpus(paths, options, index=CorpusIndex(outlines=Outlines()))
    files = [file.path for file in corpus.inputs]
    return lint_log(corpus, partial(requests_again, files, corpus.rows, options), RULES.names())


def found(linted: Linted) -> list[str]:
    """Return the rules of the findings above info, in order, each once."""
    above = (finding.rule for finding in linted.values.findings if finding.level is not Level.INFO)
    return list(dict.fromkeys(above))


def finding(linted: Linted, rule: str) -> Finding:
    """Return the first finding of a rule."""
    return next(finding for finding in linted.values.findings if finding.rule == rule)


def pairs_of(finding: Finding) -> list[tuple[int, int]]:
    """Return the record numbers of the pairs in which a finding shows."""
    pairs = (occurrence.pair for occurrence in finding.occurrences)
    return [(pair.before.record, pair.after.record) for pair in pairs if pair is not None]
