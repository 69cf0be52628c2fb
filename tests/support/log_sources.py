"""A log in which one value moves, and the sources that it may come from."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from prefixwise.core.finding import Finding
from prefixwise.corpus.again import requests_again
from prefixwise.corpus.reader import ReadOptions
from prefixwise.workflows.locating import with_sources
from support.linting import lint_records
from support.silenced import inside, write

TAIL = "\nName the quay, the time and the fare in every answer. " * 30


def located(folder: Path, prompt: str, sources: Mapping[str, str], values: tuple[str, ...] = ()) -> Finding:
    """Lint a log of prompts in which `@` is another value in each, and return the finding with its source."""
    values = values or tuple(f"10:{minute}:07" for minute in range(41, 47))
    (folder / "sources").mkdir()
    write(folder / "sources", dict(sources))
    records = [
        {
            "model": "gpt-4o",
            "messages": [{"role": "system", "content": prompt.replace("@", value)}, {"role": "user", "content": "Hi"}],
        }
        for value in values
    ]
    linted = lint_records(folder, records)

    again = partial(requests_again, [str(folder / "log.jsonl")], linted.log.rows, ReadOptions())
    with inside(folder):
        findings = with_sources(linted, again, ["sources"]).values.findings
    return next(one for one in findings if one.pair is not None)


def named(folder: Path, finding: Finding) -> list[tuple[str, str]]:
    """Return the sources that a finding names: file, and what stands at the place."""
    return [
        (
            step.path.removeprefix("sources/"),
            (folder / step.path).read_bytes().decode()[step.span.start : step.span.end],
        )
        for step in finding.flow
    ]
